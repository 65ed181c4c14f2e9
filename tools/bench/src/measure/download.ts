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

const program = fileURLToPath(new URL('./bare-download.ts', import.meta.url));

const accept = {
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

/** Downloads a list like our programs, also in its own process. */
export async function download(
  { url, caFile }: TestCluster,
  { token }: TestAccount,
  { path, encoding }: { path: string; encoding: keyof typeof accept },
): Promise<Downloaded> {
  const what: Download = { url, caFile, token, path, accept: accept[encoding] };
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(what)]);
  return JSON.parse(stdout) as Downloaded;
}

/** The sum of parallel downloads. */
export function together(downloads: readonly Downloaded[]): Downloaded {
  const sum = (value: (download: Downloaded) => number) => downloads.reduce((total, each) => total + value(each), 0);
  return {
    seconds: Math.max(...downloads.map(({ seconds }) => seconds)),
    bytes: sum(({ bytes }) => bytes),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
  };
}

/** Downloads once to warm up, then three times. @returns the download of median time */
export async function bareDownload(once: () => Promise<Downloaded>): Promise<Downloaded> {
  await once();
  const downloads = [await once(), await once(), await once()];
  return downloads.toSorted((a, b) => a.seconds - b.seconds)[1]!;
}

/** A fact of the report. */
export function bareDownloadFact({ seconds, bytes, cpuSeconds }: Downloaded): string {
  return `a bare download of the same stream: ${seconds.toFixed(2)} s, ${(bytes / 1e6).toFixed(0)} MB, ${cpuSeconds.toFixed(2)} s of CPU`;
}
