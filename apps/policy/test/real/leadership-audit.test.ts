// Real: the audit log says who wrote what, and when.
import { startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import {
  globalNetworkSetCrd,
  type LeaseTimes,
  type RealCluster,
  type Roles,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { PolicyPair } from '../support/replica-pair.ts';

/**
 * A test with pairs of replicas that write to one real API server, whose audit log has every request. Their remotes are
 * embedded.
 */
const it = test
  .extend('localName', { scope: 'file' }, 'c1')
  .extend('local', { scope: 'file' }, async ({ localName }, { onCleanup }): Promise<RealCluster> => {
    const local = await startRealCluster({ name: localName, audit: true });
    onCleanup(() => local.stop());
    await local.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    return local;
  })
  .extend('startPair', ({ local, task }, { onCleanup }) => {
    const remotes: TestCluster[] = [];
    const pairs: PolicyPair[] = [];
    onCleanup(async () => {
      const printed = await Promise.all(pairs.map((pair) => pair.replicas.stop()));
      if (task.result?.state === 'fail') console.error(printed.flat().join('\n'));
      await Promise.all(remotes.map((remote) => remote.stop()));
    });
    return async (remoteName: string, options?: Parameters<typeof PolicyPair.start>[2]) => {
      const remote = await startEmbeddedCluster({ name: remoteName });
      remotes.push(remote);
      const pair = await PolicyPair.start(local, remote, options);
      pairs.push(pair);
      const { replicas } = pair;
      return { pair, replicas, roles: await replicas.roles() };
    };
  });

/** Shorter than the timeout of requests, so that a leader depends on their answers. */
const SHORT: LeaseTimes = { 'lease-duration': '9s', 'renew-deadline': '7s', 'retry-period': '1s' };

/** The flags of a release whose Lease is in the namespace of its Pod, and of the next release, as in deploy/policy. */
const BEFORE = { 'lease-namespace': 'kube-system' };
const MOVING = { 'lease-namespace': 'default', 'previous-lease-namespace': 'kube-system' };

/** One led, then the other; each wrote only while it led; nothing failed. */
const inPeace = ({ leader, standby }: Roles) => ({
  holders: [leader.account, standby.account],
  lease: { holder: standby.account, transitions: 1 },
  untimely: [],
  failed: [],
});

describe.concurrent('two replicas, in the audit log', () => {
  it.for([
    { name: 'SIGTERM', cluster: 'c2' },
    { name: 'SIGKILL', cluster: 'c3' },
  ] as const)('with the usual times, the other one writes after $name', async ({ name, cluster }, { startPair }) => {
    const { pair, replicas, roles } = await startPair(cluster);
    await pair.beBusy();
    expect(await replicas.handOver(roles, name)).toEqual(inPeace(roles));
  });

  it('a leader that wakes from a SIGSTOP no longer writes', async ({ startPair }) => {
    const { pair, replicas, roles } = await startPair('c4', { times: SHORT });
    const pods = Array.from({ length: 300 }, (_, n) => ({
      name: `p${n}`,
      app: `p${n}`,
      ips: [`10.5.${n >> 8}.${n & 255}`],
    }));
    await replicas.stopInTheThick(roles, { collection: 'globalnetworksets', work: () => pair.pods.add(...pods) });
    const made = new Set(await pair.setNames());
    const unmade = pods.filter(({ app }) => !made.has(pair.setName(app)));
    expect(unmade.length).toBeGreaterThan(0);

    // The other one creates the rest, which goes with its pods: to create it after that would be wrong.
    await pair.beBusy();
    await replicas.hasWritten(roles.standby);
    await pair.pods.remove(...unmade.map(({ name }) => name));
    const wanted = [...made, pair.setName('busy')].toSorted();
    await eventually(() => pair.setNames(), wanted);

    const wokenMs = Date.now();
    roles.leader.program.signal('SIGCONT');
    await roles.leader.program.logged('stopped leading');
    await replicas.hasReadLease(roles.leader, wokenMs);
    await replicas.hasWritten(roles.standby, Date.now());
    expect(await replicas.succession(roles)).toEqual(inPeace(roles));
    expect(await pair.setNames()).toEqual(wanted);
  });
});

describe('of two releases, one with its Lease in another namespace', () => {
  describe.concurrent('and both lead in turn', () => {
    it.for([
      { name: 'an update, by SIGTERM', cluster: 'c5', by: 'SIGTERM', flags: [BEFORE, MOVING] },
      { name: 'an update, by SIGKILL', cluster: 'c6', by: 'SIGKILL', flags: [BEFORE, MOVING] },
      { name: 'the way back, by SIGTERM', cluster: 'c7', by: 'SIGTERM', flags: [MOVING, BEFORE] },
      { name: 'the way back, by SIGKILL', cluster: 'c8', by: 'SIGKILL', flags: [MOVING, BEFORE] },
    ] as const)('honours that of the other: $name', async ({ cluster, by, flags }, { local, startPair }) => {
      // As in the manifests.
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: `semaphore-policy-${cluster}` },
      };
      await local.admin.create('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', lease);
      const { pair, replicas, roles } = await startPair(cluster, { flags });
      await pair.beBusy();
      // It had no holder before, so there are two transitions.
      const expected = { ...inPeace(roles), lease: { holder: roles.standby.account, transitions: 2 } };
      expect(await replicas.handOver(roles, by)).toEqual(expected);
    });
  });
});
