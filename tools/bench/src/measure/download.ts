import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';

/** The download, and its credentials. */
export type Download = {
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  readonly path: string;
  readonly accept: string;
};

/** The cost of a download. */
export type Downloaded = { readonly seconds: number; readonly bytes: number; readonly cpuSeconds: number };

/** A list, and who reads it. */
type Source = { readonly cluster: TestCluster; readonly account: TestAccount; readonly path: string };

const program = fileURLToPath(new URL('./bare-download.ts', import.meta.url));

const ACCEPT = {
  auto: 'application/vnd.kubernetes.protobuf;stream=watch, application/json',
  json: 'application/json',
} as const;

/** Our programs' request to list and watch the objects of a selector, without field selectors. */
export function watchListPath(collection: string, labelSelector: string): string {
  const query = {
    labelSelector,
    watch: 'true',
    allowWatchBookmarks: 'true',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  };
  return `${collection}?${new URLSearchParams(query).toString()}`;
}

/**
 * Downloads lists like our programs, in parallel, each in its own process: once to warm up, then three times.
 *
 * @returns the sum of the lists, of the download of median time
 */
export async function bareDownload(sources: readonly Source[], encoding: keyof typeof ACCEPT): Promise<Downloaded> {
  const downloads: Downloaded[] = [];
  while (downloads.length < 4) {
    const parts = await Promise.all(sources.map((source) => download(source, encoding)));
    downloads.push({
      seconds: Math.max(...parts.map(({ seconds }) => seconds)),
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      cpuSeconds: parts.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    });
  }
  return downloads.slice(1).toSorted((a, b) => a.seconds - b.seconds)[1]!;
}

async function download(
  { cluster: { url, caFile }, account: { token }, path }: Source,
  encoding: keyof typeof ACCEPT,
): Promise<Downloaded> {
  const what: Download = { url, caFile, token, path, accept: ACCEPT[encoding] };
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(what)]);
  return JSON.parse(stdout) as Downloaded;
}

/** A fact of the report. */
export function bareDownloadFact({ seconds, bytes, cpuSeconds }: Downloaded): string {
  return `a bare download of the same stream: ${seconds.toFixed(2)} s, ${(bytes / 1e6).toFixed(0)} MB, ${cpuSeconds.toFixed(2)} s of CPU`;
}
