import { readFile } from 'node:fs/promises';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itWithPolicy as it } from './support/it.ts';

const requests = (type: string, success = '1') =>
  ['semaphore_policy_calico_client_request_total', { type, success }] as const;

/** When a token is valid; null: without an end, as those of embedded clusters. */
function lifeOf(token: string): object | null {
  const [, payload = '', signature] = token.split('.');
  if (signature === undefined) return null;
  const { iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number; exp: number };
  return { from: new Date(iat * 1_000).toISOString(), until: new Date(exp * 1_000).toISOString() };
}

describe('after a set was made, changed and deleted', () => {
  it('/metrics counts that under the names of the Go program', async ({ policy, pods, sets }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await pods.add({ name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
    await pods.remove('a', 'b');
    await sets.become({});

    expect(await policy.metric(...requests('create'))).toBe(1);
    expect(await policy.metric(...requests('update'))).toBeGreaterThanOrEqual(1);
    await eventually(() => policy.metric(...requests('delete')), 1);
    expect(await policy.metric(...requests('create', '0'))).toBe(0);
    for (const type of ['list', 'watch']) {
      expect(await policy.metric('semaphore_policy_pod_watcher_failures_total', { type })).toBe(0);
    }
    expect(await policy.metric('semaphore_policy_sync_queue_full_failures_total')).toBe(0);
    expect(await policy.metric('semaphore_policy_sync_requeue_total')).toBe(0);
  });

  it('/metrics measures the time from each pod to its write', async ({ policy, pods, sets }) => {
    const remote = { remote: 'c2' };
    const count = () => policy.metric('semaphore_policy_propagation_seconds_count', remote);
    const [before, sumBefore] = [
      await count(),
      await policy.metric('semaphore_policy_propagation_seconds_sum', remote),
    ];
    const began = performance.now();
    await pods.add({ name: 'a', app: 'one', ips: ['10.4.0.1'] }, { name: 'b', app: 'two', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-one': ['10.4.0.1/32'], 'c2-default-two': ['10.4.0.2/32'] });
    await eventually(count, (before ?? 0) + 2);
    const tookSeconds = (performance.now() - began) / 1000;
    const sum = ((await policy.metric('semaphore_policy_propagation_seconds_sum', remote)) ?? 0) - (sumBefore ?? 0);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(2 * tookSeconds);

    // A repair isn't a propagation: no remote event caused it.
    await sets.patch('c2-default-one', { spec: { nets: [] } });
    await sets.become({ 'c2-default-one': ['10.4.0.1/32'], 'c2-default-two': ['10.4.0.2/32'] });
    expect(await count()).toBe((before ?? 0) + 2);
  });
});

describe('a policy at work', () => {
  it('is alive and ready', async ({ policy }) => {
    for (const path of ['/healthz', '/readyz'] as const)
      expect(await policy.get(path)).toEqual({ status: 200, body: 'ok\n' });
  });

  it('tells at /status what it knows of each cluster', async ({ policy, pods, sets, accounts }) => {
    await pods.add({ name: 'h', app: 'app', ips: ['10.9.0.1'], hostNetwork: true });
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    const reached = { up: true, synced: true, lastError: null };
    const c2 = {
      ...reached,
      name: 'c2',
      objects: { pods: 2, sets: 1 },
      credentials: lifeOf(await readFile(accounts.remote.tokenFile, 'utf8')),
      heldDeletions: 0,
      skipped: [{ kind: 'expected', reason: 'host-network', count: 1, example: expect.stringContaining('app') }],
      config: { clusterSetID: 'c2', allowedPodCIDRs: ['10.0.0.0/8', '192.168.0.0/16', 'fd00::/8'] },
    };
    expect(await policy.status()).toMatchObject({
      schemaVersion: '1',
      app: 'semaphore-policy',
      version: '0.1.0',
      leader: true,
      local: reached,
      remotes: [c2],
      config: {
        networkPolicies: false,
        networkPolicySink: 'networkpolicy',
        maxAddressesPerPolicy: 500,
        maxAddressesPerSource: 5_000,
        localCIDRs: [],
      },
    });
  });

  it('exports which API servers answer, and when they last did', async ({ policy, pods, sets }) => {
    const lastSync = async (remote: string) =>
      (await policy.metric('semaphore_policy_remote_last_sync_timestamp_seconds', { remote })) ?? Infinity;
    const before = new Map([
      ['local', await lastSync('local')],
      ['c2', await lastSync('c2')],
    ]);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    let count = 0;
    // The time has whole seconds.
    const isLater = async () => {
      await pods.relabel('a', `app-${(count += 1)}`);
      await sets.become({ [`c2-default-app-${count}`]: ['10.4.0.1/32'] });
      const now = await Promise.all([...before].map(async ([remote, time]) => (await lastSync(remote)) > time));
      return !now.includes(false);
    };
    await eventually(isLater, true);
    for (const remote of before.keys()) {
      expect(await lastSync(remote)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
      expect(await policy.metric('semaphore_policy_remote_up', { remote })).toBe(1);
      expect(
        await policy.metric('semaphore_policy_remote_watch_restarts_total', { remote, reason: 'unreachable' }),
      ).toBe(0);
    }
  });

  it('exports the metrics of every Node.js process', async ({ policy }) => {
    expect(await policy.metric('process_resident_memory_bytes')).toBeGreaterThan(30e6);
    expect(await policy.metric('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect((await policy.get('/metrics')).body).toContain('nodejs_eventloop_lag_p99_seconds');
  });
});
