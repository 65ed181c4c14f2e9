import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { labelDomains, nameLabel } from '@kube-semaphore/naming';
import type { TestAccount, TestCluster } from '@kube-semaphore/testkit';

/** What to download, and as whom. */
export type Download = {
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  readonly path: string;
  readonly accept: string;
};

/** What it took. */
export type Downloaded = { readonly seconds: number; readonly bytes: number; readonly cpuSeconds: number };

const program = fileURLToPath(new URL('./bare-download.ts', import.meta.url));

/** The request by which our program lists and watches pods, but for its field selector, which selects all of these. */
const path = `/api/v1/pods?${new URLSearchParams({
  labelSelector: nameLabel(labelDomains[0]),
  watch: 'true',
  allowWatchBookmarks: 'true',
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
}).toString()}`;

const accept = {
  auto: 'application/vnd.kubernetes.protobuf;stream=watch, application/json',
  json: 'application/json',
} as const;

/** Downloads all pods as our program does, in a process of its own, as that is one as well. */
export async function download(
  { url, caFile }: TestCluster,
  { token }: TestAccount,
  encoding: keyof typeof accept,
): Promise<Downloaded> {
  const what: Download = { url, caFile, token, path, accept: accept[encoding] };
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(what)]);
  return JSON.parse(stdout) as Downloaded;
}
