import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { longLease, shortLease } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import type { PolicyFlags } from './support/command-line.ts';
import { it as itOnClusters } from './support/it.ts';

/** `start` for replicas, which share an account, with a short Lease. */
const it = itOnClusters
  .extend('candidate', { scope: 'file' }, ({ accounts }) => accounts.local)
  .extend(
    'startReplica',
    ({ candidate, start, task }) =>
      (kubeconfig = candidate.kubeconfig, times: PolicyFlags = {}) =>
        start({
          'local-kube-config': kubeconfig,
          ...shortLease(`semaphore-policy-${task.id}`),
          'lease-namespace': 'semaphore-policy',
          ...times,
        }),
  );

describe('two replicas', () => {
  it('have one writer, and the other takes over at once after SIGTERM', async ({
    candidate,
    pods,
    sets,
    startReplica,
  }) => {
    const first = await startReplica(candidate.kubeconfig, longLease);
    await first.logged('started leading');
    const second = await startReplica(candidate.kubeconfig, longLease);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    expect(second.log().filter(({ msg }) => msg.startsWith('set '))).toEqual([]);
    expect(await first.metric('semaphore_policy_leader')).toBe(1);
    expect(await second.metric('semaphore_policy_leader')).toBe(0);
    expect(await first.stop('SIGTERM')).toMatchObject({ code: 0 });
    await pods.add({ name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
  });

  it('agree on the label domain: the standby uses the sets of the leader, not Pods', async ({
    candidate,
    pods,
    sets,
    startReplica,
  }) => {
    const newer = { domain: 'policy.semaphore.uw.io', managedBy: 'semaphore-policy' };
    const first = await startReplica(candidate.kubeconfig, longLease);
    await first.logged('started leading');
    await pods.add({ name: 'a', app: 'app', domain: newer.domain, ips: ['10.4.0.1'] });
    await first.logged('local sets listed', { cluster: 'c2', ...newer });
    await pods.add({ name: 'b', app: 'other', ips: ['10.4.0.2'] });
    const second = await startReplica(candidate.kubeconfig, longLease);
    await second.logged('local sets listed', { cluster: 'c2', ...newer });
    expect(await first.stop('SIGTERM')).toMatchObject({ code: 0 });
    await pods.add({ name: 'c', app: 'app', domain: newer.domain, ips: ['10.4.0.3'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.3/32'] });
  });

  it('have one writer again when the Lease of a killed leader expires', async ({ pods, sets, startReplica }) => {
    const first = await startReplica();
    await first.logged('started leading');
    const second = await startReplica();
    await first.stop('SIGKILL');
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await second.logged('started leading');
  });

  it('have one writer when a leader sleeps past its Lease and wakes', async ({
    candidate,
    pods,
    sets,
    history,
    startReplica,
  }) => {
    const first = await startReplica();
    await first.logged('started leading');
    // So that the first one doesn't get the Lease back.
    const second = await startReplica(candidate.kubeconfig, longLease);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await first.logged('set created');
    first.signal('SIGSTOP');
    await pods.add({ name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await second.logged('started leading');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
    const writes = first.log().filter(({ msg }) => msg.startsWith('set ')).length;
    first.signal('SIGCONT');
    await first.logged('stopped leading');
    await pods.add({ name: 'c', app: 'app', ips: ['10.4.0.3'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', '10.4.0.3/32'] });
    expect(first.log().filter(({ msg }) => msg.startsWith('set '))).toHaveLength(writes);
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
    await eventually(async () => (await second.get('/healthz')).status, 200);
  });
});

describe('a replica that cannot renew its Lease', () => {
  it('stops leading, with one warning, and leads again when it can', async ({
    local,
    candidate,
    startReplica,
    onTestFinished,
  }) => {
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    const replica = await startReplica(await proxy.kubeconfig(candidate));
    await replica.logged('started leading');
    await proxy.set({ kind: 'answer', status: 500 }, { target: /\/leases\// });
    await replica.logged('stopped leading');
    await eventually(() => replica.metric('semaphore_policy_leader'), 0);
    const refused = () => proxy.requests().filter(({ faults }) => faults.length > 0).length;
    await eventually(() => refused() >= 6, true);
    await proxy.clear();
    await replica.logged('Lease requests recovered');
    await eventually(() => replica.metric('semaphore_policy_leader'), 1);
    expect(replica.log().filter(({ msg }) => msg === 'Lease request failed')).toHaveLength(1);
  });
});
