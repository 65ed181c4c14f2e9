import {
  eventually,
  globalNetworkSetCrd,
  type RealCluster,
  startEmbeddedCluster,
  startRealCluster,
  type TestCluster,
  waitFor,
} from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { type AuditedWrite, hasSucceeded, looksAtLease, tenuresOf } from '../support/audit-trail.ts';
import { type Replica, ReplicaPair, type Roles } from '../support/replica-pair.ts';

/** What is left of a Lease, and a while more on a busy machine. The audit log is long, and every time is in it. */
const TAKEOVER = { timeoutMs: 40_000, intervalMs: 250 };

/**
 * A test with pairs of replicas that write to one real API server, which records every request: it is asked what they
 * did. Their remotes merely feed them, and are embedded.
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
    const pairs: ReplicaPair[] = [];
    onCleanup(async () => {
      const printed = await Promise.all(pairs.map((pair) => pair.stop()));
      if (task.result?.state === 'fail') console.error(printed.flat().join('\n'));
      await Promise.all(remotes.map((remote) => remote.stop()));
    });
    return async (remoteName: string) => {
      const remote = await startEmbeddedCluster({ name: remoteName });
      remotes.push(remote);
      const pair = await ReplicaPair.start(local, remote);
      pairs.push(pair);
      return { pair, roles: await pair.roles() };
    };
  });

const by = ({ account }: Replica, writes: readonly AuditedWrite[]) => writes.filter((write) => write.account === account);

/** Waits until a replica has written a set after some time, in ms since the epoch. */
async function hasWritten(pair: ReplicaPair, replica: Replica, afterMs = 0): Promise<void> {
  const hasNow = async (): Promise<true | undefined> => {
    const writes = by(replica, await pair.writes('globalnetworksets')).filter(hasSucceeded);
    return writes.some(({ receivedMs }) => receivedMs > afterMs) || undefined;
  };
  await waitFor(`a set written by ${replica.account}`, hasNow, TAKEOVER);
}

/** One led, then the other, and each wrote only while it led. */
async function expectSuccession(pair: ReplicaPair, { leader, standby }: Roles): Promise<void> {
  const tenures = tenuresOf(await pair.writes('leases'));
  expect(tenures.map(({ account }) => account)).toEqual([leader.account, standby.account]);
  const { identity } = await standby.policy.logged('waiting for the Lease');
  expect(await pair.lease()).toEqual({ holderIdentity: identity, leaseTransitions: 1 });

  const takeoverMs = tenures[1]?.fromMs ?? 0;
  const writes = await pair.writes('globalnetworksets');
  const written = { leader: by(leader, writes).filter(hasSucceeded), standby: by(standby, writes).filter(hasSucceeded) };
  expect(written.leader.filter(({ endedMs }) => endedMs > takeoverMs)).toEqual([]);
  expect(written.standby.filter(({ receivedMs }) => receivedMs < takeoverMs)).toEqual([]);
  // Whoever decided by something older was told so, and nothing else went wrong.
  expect(writes.filter((write) => !hasSucceeded(write) && write.code !== 409)).toEqual([]);
}

describe.concurrent('two replicas with the usual times, in the audit log', () => {
  it.for([
    { name: 'SIGTERM', cluster: 'c2', withinMs: 3_000 },
    { name: 'SIGKILL', cluster: 'c3', withinMs: 20_000 },
  ] as const)('the other one writes within $withinMs ms of $name', async ({ name, cluster, withinMs }, { startPair }) => {
    const { pair, roles } = await startPair(cluster);
    await pair.beBusy();
    await hasWritten(pair, roles.leader);
    const endMs = Date.now();
    await roles.leader.policy.stop(name);
    await hasWritten(pair, roles.standby);
    const [first] = by(roles.standby, await pair.writes('globalnetworksets')).filter(hasSucceeded);
    expect((first?.endedMs ?? Infinity) - endMs).toBeLessThan(withinMs);
    await expectSuccession(pair, roles);
  });

  it('a leader that wakes from a SIGSTOP writes nothing any more', async ({ startPair }) => {
    const { pair, roles } = await startPair('c4');
    // The leader learns of many pods at once, and is stopped in the thick of it: it has answers when it wakes, which make
    // it go on, maybe before it looks at any clock.
    const letThrough = await pair.line.set({ kind: 'stall' });
    const pods = Array.from({ length: 300 }, (_, n) => ({ name: `p${n}`, app: `p${n}`, ips: [`10.5.${n >> 8}.${n & 255}`] }));
    await pair.pods.add(...pods);
    await letThrough();
    await waitFor('the first sets', async () => (await pair.setNames()).length > 0 || undefined, { intervalMs: 1 });
    roles.leader.policy.signal('SIGSTOP');
    const made = new Set(await pair.setNames());
    const unmade = pods.filter(({ app }) => !made.has(pair.setName(app)));
    expect(unmade.length).toBeGreaterThan(0);

    // What it was about to make is made by the other one, and goes with its pods: to make it after that would be wrong.
    await pair.beBusy();
    await hasWritten(pair, roles.standby);
    await pair.pods.remove(...unmade.map(({ name }) => name));
    const wanted = [...made, pair.setName('busy')].toSorted();
    await eventually(() => pair.setNames(), wanted);

    const wokenMs = Date.now();
    roles.leader.policy.signal('SIGCONT');
    await roles.leader.policy.logged('leading no more');
    const hasLooked = async () => looksAtLease(await pair.events(), roles.leader.account).some((ms) => ms > wokenMs) || undefined;
    await waitFor('the woken one to look at the Lease', hasLooked, TAKEOVER);
    await hasWritten(pair, roles.standby, Date.now());
    await expectSuccession(pair, roles);
    expect(await pair.setNames()).toEqual(wanted);
  });
});
