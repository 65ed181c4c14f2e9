// Real: the audit log says who wrote what, and when.
import { startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type LeaseTimes, type RealCluster, type Roles, startRealCluster } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { MIRRORS } from '../support/mirror-process.ts';
import { MirrorPair } from '../support/replica-pair.ts';

/**
 * A test with pairs of replicas that write to one real API server, which records every request: it is asked what they
 * did. Their remotes merely feed them, and are embedded.
 */
const it = test
  .extend('localName', { scope: 'file' }, 'c1')
  .extend('local', { scope: 'file' }, async ({ localName }, { onCleanup }): Promise<RealCluster> => {
    const local = await startRealCluster({ name: localName, audit: true });
    onCleanup(() => local.stop());
    await local.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: MIRRORS },
    });
    return local;
  })
  .extend('startPair', ({ local, task }, { onCleanup }) => {
    const remotes: TestCluster[] = [];
    const pairs: MirrorPair[] = [];
    onCleanup(async () => {
      const printed = await Promise.all(pairs.map((pair) => pair.replicas.stop()));
      if (task.result?.state === 'fail') console.error(printed.flat().join('\n'));
      await Promise.all(remotes.map((remote) => remote.stop()));
    });
    return async (remoteName: string, times?: LeaseTimes) => {
      const remote = await startEmbeddedCluster({ name: remoteName });
      remotes.push(remote);
      const pair = await MirrorPair.start(local, remote, times);
      pairs.push(pair);
      const { replicas } = pair;
      return { pair, replicas, roles: await replicas.roles() };
    };
  });

/** Shorter than the timeout of requests sent before, so that a leader continues with their answers. */
const SHORT: LeaseTimes = { 'lease-duration': '9s', 'renew-deadline': '7s', 'retry-period': '1s' };

/** One led, then the other, each wrote only while it led, and nothing went wrong. */
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

  it('a leader that wakes from a SIGSTOP writes nothing', async ({ startPair }) => {
    const { pair, replicas, roles } = await startPair('c4', SHORT);
    const names = Array.from({ length: 200 }, (_, n) => `s${n}`);
    const work = async () => void (await Promise.all(names.map((name) => pair.sources.add({ name }))));
    await replicas.stopInTheThick(roles, { collection: 'services', work });
    const made = new Set(await pair.mirrorNames());
    const unmade = names.filter((name) => !made.has(pair.mirrorName(name)));
    expect(unmade.length).toBeGreaterThan(0);

    // The other one creates what it was about to create, and deletes it with its source: a late create would be wrong.
    await pair.beBusy();
    await replicas.hasWritten(roles.standby);
    await Promise.all(unmade.map((name) => pair.sources.remove('services', { name })));
    const wanted = [...made, pair.mirrorName('busy')].toSorted();
    await eventually(() => pair.mirrorNames(), wanted);

    const wokenMs = Date.now();
    roles.leader.program.signal('SIGCONT');
    await roles.leader.program.logged('stopped leading');
    await replicas.hasReadLease(roles.leader, wokenMs);
    await replicas.hasWritten(roles.standby, Date.now());
    expect(await replicas.succession(roles)).toEqual(inPeace(roles));
    expect(await pair.mirrorNames()).toEqual(wanted);
  });
});
