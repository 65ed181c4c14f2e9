import { eventually } from '@kube-semaphore/eventually';
import { deployAccount, startCluster } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { folders } from './support/accounts.ts';
import { it as base } from './support/it.ts';
import { Pods } from './support/pods.ts';

const it = base.extend('third', { scope: 'file' }, async ({ names: _names }, { onCleanup }) => {
  const third = await startCluster({ name: 'c3' });
  onCleanup(() => third.stop());
  return { account: await deployAccount(third, folders.remote), pods: new Pods(third) };
});

describe('a remote that causes writes without limit', () => {
  it('delays no other remote and no deletion, and is limited to the rate', async ({
    configFile,
    pods,
    sets,
    startWith,
    third,
  }) => {
    // More than the first 1,000 writes, which this rate doesn't limit; in batches, for the test's own API server.
    for (let first = 0; first < 1_010; first += 101)
      await third.pods.add(
        ...Array.from({ length: 101 }, (_, i) => ({
          name: `p${first + i}`,
          app: `app-${first + i}`,
          ips: ['10.4.0.1'],
        })),
      );
    await pods.add({ name: 'a', app: 'app', ips: ['10.5.0.1'] });
    const config = await configFile({ name: 'c2' }, { name: 'c3', kubeConfigPath: third.account.kubeconfig });
    const began = performance.now();
    const policy = await startWith(['-config', config, '-listen-address=127.0.0.1:0', '-max-remote-writes=1']);
    const over = { remote: 'c3', budget: 'writes' };
    // The first ones may take so long that the rate allows all of them. More at once than it allows until the next question.
    let more = 0;
    const overBudget = async () => {
      const round = (more += 1);
      await Promise.all(Array.from({ length: 50 }, (_, i) => third.pods.relabel(`p${200 + i}`, `more-${round}-${i}`)));
      return policy.metric('semaphore_policy_remote_over_budget', over);
    };
    await eventually(overBudget, 1, { timeoutMs: 180_000, intervalMs: 1_000 });
    for (let i = 0; i < 100; i++) await third.pods.relabel(`p${i}`, `new-${i}`);
    await pods.relabel('a', 'other');
    const ofC2 = async () =>
      Object.fromEntries(Object.entries(await sets.nets()).filter(([name]) => name.startsWith('c2-')));
    await eventually(ofC2, { 'c2-default-other': ['10.5.0.1/32'] });
    // What goes waits for no budget, neither its own nor another's.
    await pods.remove('a');
    await eventually(ofC2, {});
    const old = new Set(Array.from({ length: 100 }, (_, i) => `c3-default-app-${i}`));
    await eventually(async () => Object.keys(await sets.nets()).filter((name) => old.has(name)), []);
    const created = await policy.metric('semaphore_policy_calico_client_request_total', {
      type: 'create',
      success: '1',
    });
    // Two for c2; for c3 the first 1,000, and those that the rate allows. A count of what follows would have some of the first.
    expect(created).toBeLessThanOrEqual(2 + 1_000 + (performance.now() - began) / 1_000);
    expect(await policy.metric('semaphore_policy_remote_over_budget', over)).toBe(1);
    expect(policy.log().filter(({ msg }) => msg.startsWith('remote exceeds its budget of local writes'))).toHaveLength(
      1,
    );
  });

  it('gets sets up to the limit, and keeps them', async ({ pods, sets, start }) => {
    await pods.add({ name: 'a', app: 'a', ips: ['10.4.0.1'] }, { name: 'b', app: 'b', ips: ['10.4.0.2'] });
    const policy = await start({ 'max-remote-sets': 2 });
    await sets.become({ 'c2-default-a': ['10.4.0.1/32'], 'c2-default-b': ['10.4.0.2/32'] });
    await pods.add({ name: 'c', app: 'c', ips: ['10.4.0.3'] });
    const overBudget = { remote: 'c2', kind: 'problem', reason: 'over-budget' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', overBudget), 1);
    await eventually(() => policy.metric('semaphore_policy_remote_over_budget', { remote: 'c2', budget: 'sets' }), 1);
    await pods.add({ name: 'b2', app: 'b', ips: ['10.4.0.4'] });
    await sets.become({ 'c2-default-a': ['10.4.0.1/32'], 'c2-default-b': ['10.4.0.2/32', '10.4.0.4/32'] });
    await pods.remove('a');
    await sets.become({ 'c2-default-b': ['10.4.0.2/32', '10.4.0.4/32'], 'c2-default-c': ['10.4.0.3/32'] });
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', overBudget), 0);
    expect(await policy.metric('semaphore_policy_remote_over_budget', { remote: 'c2', budget: 'sets' })).toBe(0);
  });

  it('keeps its sets if the limit is lower now', async ({ pods, sets, start }) => {
    await pods.add({ name: 'a', app: 'a', ips: ['10.4.0.1'] }, { name: 'b', app: 'b', ips: ['10.4.0.2'] });
    const both = { 'c2-default-a': ['10.4.0.1/32'], 'c2-default-b': ['10.4.0.2/32'] };
    const unlimited = await start({});
    await sets.become(both);
    await unlimited.stop('SIGTERM');
    const policy = await start({ 'max-remote-sets': 1, 'deletion-guard-percent': 100 });
    await pods.add({ name: 'c', app: 'c', ips: ['10.4.0.3'] });
    const overBudget = { remote: 'c2', kind: 'problem', reason: 'over-budget' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', overBudget), 1);
    expect(await sets.nets()).toEqual(both);
  });
});
