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

/** What a policy says when it doubts a list: it is told once, where the metric may be back at 0 before anybody looks. */
const doubted = (policy: PolicyProcess, count: number) =>
  policy.logged('list is missing too many objects; deletions held', { cluster: 'c2', held: count });

/** The remote forgets all its pods, and its history with them: the watch can't go on, and the list after it is empty. */
async function forgetEverything(proxy: FaultProxy, remote: TestCluster): Promise<void> {
  await proxy.set({ kind: 'empty' });
  await forgetHistory(proxy, remote);
}

/** A server that starts again can go on from the last version only: what nobody watches makes ours an older one. */
async function forgetHistory(proxy: FaultProxy, remote: TestCluster): Promise<void> {
  // A bookmark just before may have told the watch of what it wouldn't see, and then it could go on.
  await proxy.set(
    { kind: 'answer', status: 410, as: 'event' },
    { verb: 'watch', target: /[?&]resourceVersion=/, times: 1 },
  );
  await createPod(remote.admin, pod({ name: 'unlabelled' }));
  await deletePod(remote.admin, { name: 'unlabelled' });
  await remote.restart();
}

describe('a remote that lists empty', () => {
  it('for a moment costs nothing (Go emptied the sets)', async ({
    proxy,
    kubeconfig,
    remote,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(...many);
    const policy = await start({ 'target-kube-config': kubeconfig, 'deletion-guard-hold': '10s' });
    await sets.become(full);
    await forgetEverything(proxy, remote);
    await eventually(() => held(policy), 12);
    expect(await sets.nets()).toEqual(full);
    // Long before the list that is believed.
    await proxy.clear();
    await eventually(() => held(policy), 0);
    expect(await sets.nets()).toEqual(full);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    expect(history.lapses('app', full['c2-default-app'])).toEqual([]);
  });

  it('and goes on doing so is believed after the hold', async ({ proxy, kubeconfig, remote, pods, sets, start }) => {
    await pods.add(...many);
    const policy = await start({ 'target-kube-config': kubeconfig, 'deletion-guard-hold': '1s' });
    await sets.become(full);
    await forgetEverything(proxy, remote);
    await doubted(policy, 12);
    await sets.become({});
    expect(await held(policy)).toBe(0);
  });

  it('at the start is measured by what the sets hold', async ({
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
    const policy = await start({ 'target-kube-config': kubeconfig });
    await eventually(() => held(policy), 13);
    await proxy.clear();
    await forgetHistory(proxy, remote);
    await eventually(() => held(policy), 0);
    expect(await sets.nets()).toEqual(all);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
  });

  it('is believed at once where the guard is off', async ({ proxy, kubeconfig, remote, pods, sets, start }) => {
    await pods.add(...many);
    await start({ 'target-kube-config': kubeconfig, 'deletion-guard-percent': 100 });
    await sets.become(full);
    await forgetEverything(proxy, remote);
    await sets.become({});
  });
});
