import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, type TestAccount, type TestCluster } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { localRules, remoteRules } from '../support/accounts.ts';
import { isUp, restartsOf } from '../support/remote-state.ts';
import { it, sides } from '../support/under-faults.ts';

const flags = { remote: 'target-kube-config', local: 'local-kube-config' } as const;
const rules = { remote: remoteRules, local: localRules } as const;

/** kube-apiserver goes on believing a token for 10 s. */
const DISBELIEF_MS = 30_000;

/** Two tokens that may do the same, and a file that holds the first. */
async function tokensOf(cluster: TestCluster, side: 'remote' | 'local', name: string) {
  const first = await cluster.account(`${name}-first`, rules[side]);
  const next = await cluster.account(`${name}-next`, rules[side]);
  const file = join(cluster.dir, `${name}.token`);
  await replace(file, first);
  return { file, first, next };
}

/** Replaces a file in one step, as whoever renews tokens does. */
async function replace(file: string, { token }: TestAccount): Promise<void> {
  await writeFile(`${file}.new`, token, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Ends a token before its time. */
async function expire(cluster: TestCluster, name: string, { token }: TestAccount): Promise<void> {
  await cluster.admin.delete(`/api/v1/namespaces/kube-system/serviceaccounts/${name}-first`);
  const client = cluster.clientFor(token);
  const status = async () => (await client.request('GET', '/apis')).status;
  await eventually(status, 401, { timeoutMs: DISBELIEF_MS });
}

describe('a token in a file', () => {
  it.for(sides)(
    'that expires on the $side side is refused until the file is replaced',
    async ({ side, cluster }, { begin, clusters, viaProxies, proxies }) => {
      const { file, first, next } = await tokensOf(clusters[side], side, 'late');
      const kubeconfig = await proxies[side].kubeconfig({ tokenFile: file });
      const trial = await begin({ ...viaProxies, [flags[side]]: kubeconfig });
      await expire(clusters[side], 'late', first);
      // An API server lets a watch outlive its token.
      await proxies[side].set({ kind: 'reset', connections: 'open' });
      await trial.changePodsUntil(async () => (await restartsOf(trial.policy, 'denied', cluster)) >= 2);
      expect(await isUp(trial.policy, cluster)).toBe(0);
      await replace(file, next);
      await trial.survived();
    },
  );

  it.for(sides)(
    'that is replaced on the $side side before it expires is noticed by nobody',
    async ({ side, cluster }, { begin, clusters, viaProxies, proxies }) => {
      const { file, first, next } = await tokensOf(clusters[side], side, 'early');
      const kubeconfig = await proxies[side].kubeconfig({ tokenFile: file });
      const trial = await begin({ ...viaProxies, [flags[side]]: kubeconfig, 'watch-idle-timeout': '1s' });
      await replace(file, next);
      // With a request the file is looked at, once a second at most: by the second one that is for sure.
      const before = await restartsOf(trial.policy, 'idle', cluster);
      await eventually(async () => (await restartsOf(trial.policy, 'idle', cluster)) >= before + 2, true);
      await expire(clusters[side], 'early', first);
      await proxies[side].set({ kind: 'reset', connections: 'open' });
      await trial.survived();
      expect(await restartsOf(trial.policy, 'denied', cluster)).toBe(0);
      expect(trial.policy.stderr()).not.toContain('"status":401');
    },
  );
});
