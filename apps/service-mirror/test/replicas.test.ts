import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { deployComponent, deployedCrds, longLease, shortLease } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { folders } from './support/accounts.ts';
import { it as itOnClusters } from './support/it.ts';
import { type MirrorFlags, type MirrorProcess, MIRRORS } from './support/mirror-process.ts';

/** `start` for replicas with one account and a short Lease in their own namespace. */
const it = itOnClusters
  .extend('candidate', { scope: 'file' }, ({ accounts }) => accounts.local)
  .extend(
    'startReplica',
    ({ candidate, start, task }) =>
      (kubeconfig = candidate.kubeconfig, times: MirrorFlags = {}) =>
        start({
          'kube-config': kubeconfig,
          ...shortLease(`semaphore-service-mirror-${task.id}`),
          'lease-namespace': MIRRORS,
          ...times,
        }),
  )
  /** The flags of a replica that also imports what c2 exports from `default`. */
  .extend('importing', { scope: 'file' }, async ({ local, remote, accounts }): Promise<MirrorFlags> => {
    for (const cluster of [local, remote])
      for (const crd of deployedCrds('service-mirror/mcs')) await cluster.defineResource(crd);
    await deployComponent(local, folders.local, folders.mcs);
    await deployComponent(remote, folders.remote, folders.remoteMcs);
    const config = join(local.dir, 'importing.json');
    const c2 = { name: 'c2', servicePrefix: 'c2', kubeConfigPath: accounts.remote.kubeconfig };
    await writeFile(
      config,
      JSON.stringify({
        global: { mirrorSvcLabelSelector: 'mirror=true', mirrorNamespace: MIRRORS },
        localCluster: { name: 'c1' },
        mcs: { namespaces: ['default'] },
        remoteClusters: [{ ...c2, allowedPodCIDRs: ['10.4.0.0/16'] }],
      }),
    );
    const inFile = ['svc-prefix', 'target-kube-config', 'label-selector', 'mirror-ns', 'allowed-pod-cidrs'];
    return { config, ...Object.fromEntries(inFile.map((flag) => [flag, undefined])) };
  })
  /** c2 exports `web`, until the end of the test. */
  .extend('exportWeb', ({ remote }, { onCleanup }) => async (annotations: Readonly<Record<string, string>> = {}) => {
    const [apiVersion, kind] = ['multicluster.x-k8s.io/v1beta1', 'ServiceExport'];
    const path = `/apis/${apiVersion}/namespaces/default/serviceexports`;
    await remote.admin.create(path, { apiVersion, kind, metadata: { name: 'web', annotations } });
    onCleanup(() => remote.admin.delete(`${path}/web`));
  })
  /** Before the local cluster: it records what a replica sends. */
  .extend('line', async ({ local }, { onCleanup }) => {
    const line = await startFaultProxy(local);
    onCleanup(() => line.stop());
    return line;
  });

const web = { name: 'web', namespace: 'default' };
const mirror = 'c2-default-73736d-web';
const leader = 'semaphore_service_mirror_leader';
const seenBy = (watcher: string, kind: string) =>
  ['semaphore_service_mirror_kube_watcher_objects', { watcher: `c2-${watcher}`, kind, runner: 'mirror-c2' }] as const;
/** How many slices of the remote a replica knows. */
const slicesSeen = seenBy('endpointsWatcher', 'endpoints');
/** How many Services and slices it knows of the remote, and how many of the mirrors. */
const allSeen = [
  seenBy('serviceWatcher', 'service'),
  slicesSeen,
  seenBy('mirrorServiceWatcher', 'service'),
  seenBy('mirrorEndpointsWatcher', 'endpoints'),
];
const slice = (name: string, ip: string) => ({ name, service: 'web', endpoints: [ip] });

/** The writes in the log of a replica. */
const events = (replica: MirrorProcess) => replica.log().filter(({ msg }) => /^(service|slice|endpoints) /.test(msg));

/** The addresses of all imports, sorted. */
async function imported({ admin }: TestCluster): Promise<readonly string[]> {
  const selector = encodeURIComponent('multicluster.kubernetes.io/source-cluster=c2');
  const path = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=${selector}`;
  const slices = (await admin.list(path)) as unknown as { endpoints: { addresses: string[] }[] }[];
  return slices.flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses)).toSorted();
}

/** The requests that would change anything except its Lease, whatever the answer. */
const writesBy = (line: FaultProxy) =>
  line
    .requests()
    .filter(
      ({ verb, target }) => ['create', 'update', 'patch', 'delete'].includes(verb) && !target.includes('/leases'),
    );

describe('two replicas', () => {
  it('have one writer, and the other takes over at once when the first is stopped', async ({
    sources,
    mirrors,
    history,
    local,
    candidate,
    importing,
    exportWeb,
    line,
    startReplica,
  }) => {
    const first = await startReplica(candidate.kubeconfig, { ...longLease, ...importing });
    await first.logged('started leading');
    const second = await startReplica(await line.kubeconfig(candidate), { ...longLease, ...importing });
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await exportWeb();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await eventually(() => imported(local), ['10.4.0.1']);
    await eventually(() => second.metric('semaphore_service_mirror_mcs_imports', {}), 1);
    await eventually(() => Promise.all(allSeen.map((seen) => second.metric(...seen))), [1, 1, 1, 1]);
    expect(writesBy(line)).toEqual([]);
    expect(events(second)).toEqual([]);
    expect(await first.metric(leader)).toBe(1);
    expect(await second.metric(leader)).toBe(0);

    expect(await first.stop('SIGTERM')).toMatchObject({ code: 0 });
    await sources.addSlice(slice('web-b', '10.4.0.2'));
    await eventually(async () => (await mirrors.endpoints())[mirror], ['10.4.0.1', '10.4.0.2']);
    await eventually(() => imported(local), ['10.4.0.1', '10.4.0.2']);
    await history.caughtUp();
    expect(history.deletions).toEqual([]);
    expect(history.gaps).toEqual([]);
    // Existing objects stayed as they were: the only writes are those of the new slice, for the mirror and the import.
    expect(writesBy(line).map(({ verb, target }) => `${verb} ${target.split('/').at(-1)}`)).toEqual([
      'create endpointslices',
      'create endpointslices',
    ]);
  });

  it('have one writer after the leader is killed and its Lease expires', async ({ sources, mirrors, startReplica }) => {
    const first = await startReplica();
    await first.logged('started leading');
    const second = await startReplica();
    await first.stop('SIGKILL');
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await second.logged('started leading');
  });

  it('have one writer when a leader sleeps past its Lease and wakes', async ({
    sources,
    mirrors,
    history,
    candidate,
    line,
    startReplica,
  }) => {
    const first = await startReplica(await line.kubeconfig(candidate));
    await first.logged('started leading');
    // No other replica takes the Lease from it.
    const second = await startReplica(candidate.kubeconfig, longLease);
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await eventually(() => Promise.all(allSeen.map((seen) => second.metric(...seen))), [1, 1, 1, 1]);
    first.signal('SIGSTOP');
    // It sees these when it wakes, after the other one has followed them.
    await sources.addSlice(slice('web-b', '10.4.0.2'));
    await sources.add({ name: 'gone' });
    await second.logged('started leading');
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'], 'c2-default-73736d-gone': [] });
    await sources.remove('services', { name: 'gone' });
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'] });
    const writes = writesBy(line).length;

    first.signal('SIGCONT');
    await first.logged('stopped leading');
    await eventually(() => first.metric(leader), 0);
    await sources.addSlice(slice('web-c', '10.4.0.3'));
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2', '10.4.0.3'] });
    // As a standby it has seen that, too, and has nothing left to do.
    await eventually(() => first.metric(...slicesSeen), 3);
    expect(writesBy(line)).toHaveLength(writes);
    await history.caughtUp();
    expect(history.deletions).toEqual(['c2-default-73736d-gone']);
    expect(history.gaps).toEqual([]);
    await eventually(async () => (await second.get('/healthz')).status, 200);
  });
});

describe('a replica that cannot renew its Lease', () => {
  it('says nothing of who answers any more', async ({
    sources,
    candidate,
    importing,
    exportWeb,
    line,
    startReplica,
  }) => {
    const replica = await startReplica(await line.kubeconfig(candidate), importing);
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await exportWeb({ 'semaphore.uw.io/cluster-order': 'c2; *' });
    const best = () => replica.metric('semaphore_service_mirror_ordered_services', { answers: 'best' });
    await eventually(best, 1);
    await line.set({ kind: 'answer', status: 500 }, { target: /\/leases\// });
    await replica.logged('stopped leading');
    await eventually(best, 0);
  });

  it('stops leading and writing, and continues when it can renew', async ({
    sources,
    mirrors,
    candidate,
    line,
    startReplica,
  }) => {
    const replica = await startReplica(await line.kubeconfig(candidate));
    await replica.logged('started leading');
    await sources.add(web);
    await mirrors.become({ [mirror]: [] });
    await line.set({ kind: 'answer', status: 500 }, { target: /\/leases\// });
    const refused = () => line.requests().filter(({ faults }) => faults.length > 0).length;
    await eventually(() => refused() > 0, true);
    await eventually(() => replica.metric(leader), 0);
    await replica.logged('stopped leading');
    const writes = writesBy(line).length;
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await eventually(() => replica.metric(...slicesSeen), 1);
    const before = refused();
    await eventually(() => refused() >= before + 2, true);
    expect(writesBy(line)).toHaveLength(writes);
    await line.clear();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    // Once for each period without a renewal; a late answer is one, too.
    const messages = replica
      .log()
      .map(({ msg }) => msg)
      .filter((msg) => msg.startsWith('Lease request'));
    expect(messages[0]).toBe('Lease request failed');
    expect(messages.filter((msg, i) => msg === messages[i - 1])).toEqual([]);
  });
});
