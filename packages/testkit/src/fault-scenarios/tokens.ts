import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import type { Lab } from './lab.ts';
import type { Side } from './sides.ts';

/** kube-apiserver goes on believing a token for 10 s. */
const DISBELIEF_MS = 30_000;

/** Two tokens that may do the same, and a file that holds the first. */
export async function tokensOf({ clusters, rules }: Pick<Lab, 'clusters' | 'rules'>, side: Side, name: string) {
  const first = await clusters[side].account(`${name}-first`, rules[side]);
  const next = await clusters[side].account(`${name}-next`, rules[side]);
  const file = join(clusters[side].dir, `${name}.token`);
  await replaceToken(file, first);
  return { file, first, next };
}

/** Replaces a file in one step, as programs that renew tokens do. */
export async function replaceToken(file: string, { token }: TestAccount): Promise<void> {
  await writeFile(`${file}.new`, token, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Ends a token before its time. */
export async function expireToken(cluster: TestCluster, name: string, { token }: TestAccount): Promise<void> {
  await cluster.admin.delete(`/api/v1/namespaces/kube-system/serviceaccounts/${name}-first`);
  const client = cluster.clientFor(token);
  const status = async () => (await client.request('GET', '/apis')).status;
  await eventually(status, 401, { timeoutMs: DISBELIEF_MS });
}
