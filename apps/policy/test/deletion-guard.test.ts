import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { createPod, deletePod, pod } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { it as itOnClusters } from './support/it.ts';
import type { PolicyProcess } from './support/policy-process.ts';

const it = itOnClusters
  .extend('proxy', async ({ remote }, { onCleanup }) => {
    const proxy = await startFaultProxy(remote);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('kubeconfig', ({ proxy, accounts }) => proxy.kubeconfig(accounts.remote));

const ips = Array.from({ length: 12 }, (_, i) => `10.4.0.${i + 1}`);
const many = ips.map((ip, i) => ({ name: `p${i}`, app: 'app', ips: [ip] }));
const full = { 'c2-default-app': ips.map((ip) => `${ip}/32`) };
const held = (policy: PolicyProcess) => policy.metric('semaphore_policy_held_deletions', { remote: 'c2' });

/** Waits for the log line about held deletions: the metric may be 0 again before a test reads it. */
const waitForHeld = (policy: PolicyProcess, count: number) =>
  policy.logged('list is missing too many objects; deletions held', { cluster: 'c2', held: count });

/** The remote loses all its pods, and its history: the watch can't continue, and the next list is empty. */
async function forgetEverything(proxy: FaultProxy, remote: TestCluster): Promise<void> {
  await proxy.set({ kind: 'empty' });
  await forgetHistory(proxy, remote);
}

/** A restarted server continues watches from its last version only: an unwatched change makes ours older. */
async function forgetHistory(proxy: FaultProxy, remote: TestCluster): Promise<void> {
  // After a bookmark for the unwatched change, the watch could continue.
  await proxy.set(
    { kind: 'answer', status: 410, as: 'event' },
    { verb: 'watch', target: /[?&]resourceVersion=/, times: 1 },
  );
  await createPod(remote.admin, pod({ name: 'unlabelled' }));
  await deletePod(remote.admin, { name: 'unlabelled' });
  await remote.restart();
}

describe('a remote that lists empty', () => {
  it('for a moment deletes nothing (Go emptied the sets)', async ({
    proxy,
    kubeconfig,
    remote,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(...many);
    const policy = await start({ 'target-kube-config': kubeconfig, 'deletion-guard-hold': '1h' });
    await sets.become(full);
    await forgetEverything(proxy, remote);
    await eventually(() => held(policy), 12);
    expect(await sets.nets()).toEqual(full);
    // Long before the list that would be believed.
    await proxy.clear();
    await forgetHistory(proxy, remote);
    await eventually(() => held(policy), 0);
    expect(await sets.nets()).toEqual(full);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    expect(history.gaps('app', full['c2-default-app'])).toEqual([]);
  });

  it('and stays empty is believed after the hold', async ({ proxy, kubeconfig, remote, pods, sets, start }) => {
    await pods.add(...many);
    const policy = await start({ 'target-kube-config': kubeconfig, 'deletion-guard-hold': '1s' });
    await sets.become(full);
    await forgetEverything(proxy, remote);
    await waitForHeld(policy, 12);
    await sets.become({});
    expect(await held(policy)).toBe(0);
  });

  it('at the start is compared with the addresses in the sets', async ({
    proxy,
    kubeconfig,
    remote,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(...many, { name: 'other', app: 'other', ips: ['10.4.1.1'] });
    const before = await start();
    const all = { ...full, 'c2-default-other': ['10.4.1.1/32'] };
    await sets.become(all);
    await before.stop();
    await proxy.set({ kind: 'empty' });
    const policy = await start({ 'target-kube-config': kubeconfig, 'deletion-guard-hold': '1h' });
    await eventually(() => held(policy), 13);
    await proxy.clear();
    await forgetHistory(proxy, remote);
    await eventually(() => held(policy), 0);
    expect(await sets.nets()).toEqual(all);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
  });

  it('is believed at once if the guard is off', async ({ proxy, kubeconfig, remote, pods, sets, start }) => {
    await pods.add(...many);
    await start({ 'target-kube-config': kubeconfig, 'deletion-guard-percent': 100 });
    await sets.become(full);
    await forgetEverything(proxy, remote);
    await sets.become({});
  });
});
