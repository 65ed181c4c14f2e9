import { doesNotMatch, strictEqual } from 'node:assert/strict';
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

/** Replaces a file in one step, as whoever renews tokens does. */
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

/** A token in a file that expires is refused until the file is replaced. */
export async function letTokenExpire(lab: Lab, side: Side): Promise<void> {
  const { clusters, proxies, begin } = lab;
  const { file, first, next } = await tokensOf(lab, side, 'late');
  const scenario = await begin({ kubeconfigs: { [side]: await proxies[side].kubeconfig({ tokenFile: file }) } });
  await expireToken(clusters[side], 'late', first);
  // An API server lets a watch outlive its token.
  await proxies[side].set({ kind: 'reset', connections: 'open' });
  await scenario.changeUntil(() => scenario.restarted(side, { reason: 'denied', times: 2 }));
  strictEqual(await scenario.isUp(side), 0);
  await replaceToken(file, next);
  await scenario.survived();
}

/** A token in a file that is replaced before it expires: nobody notices. */
export async function renewToken(lab: Lab, side: Side): Promise<void> {
  const { clusters, proxies, begin } = lab;
  const { file, first, next } = await tokensOf(lab, side, 'early');
  const kubeconfigs = { [side]: await proxies[side].kubeconfig({ tokenFile: file }) };
  const scenario = await begin({ kubeconfigs, flags: { 'watch-idle-timeout': '1s' } });
  await replaceToken(file, next);
  // With a request the file is looked at, once a second at most: by the second one that is for sure.
  const before = await scenario.restarts(side, 'idle');
  await eventually(() => scenario.restarted(side, { reason: 'idle', times: 2, before }), true);
  await expireToken(clusters[side], 'early', first);
  await proxies[side].set({ kind: 'reset', connections: 'open' });
  await scenario.survived();
  strictEqual(await scenario.restarts(side, 'denied'), 0);
  doesNotMatch(scenario.program.stderr(), /"status":401/);
}
