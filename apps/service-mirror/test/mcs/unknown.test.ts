import { eventually } from '@kube-semaphore/eventually';
import { clusterPropertiesPath, clusterProperty, clusterPropertyCrd } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { DRY_RUNS } from '../support/requests.ts';
import { startSet } from '../support/mcs/cluster-set.ts';

const it = test.extend('startedSet', ({ task }, { onCleanup }) =>
  async (options: Parameters<typeof startSet>[0]) => {
    const set = await startSet(options);
    onCleanup(async () => {
      if (task.result?.state === 'fail') console.error(set.output().join('\n'));
      await set.stop();
    });
    return set;
  });

const known = async (member: { mirror: { get(path: string): Promise<{ body: string }> } }, remote: string) =>
  (await member.mirror.get('/metrics')).body.includes(
    `semaphore_service_mirror_mcs_exports_known{remote="${remote}"} 1`,
  );

describe('a cluster that is lost', () => {
  it('keeps its part in imports, over a restart of ours too, and is followed again (karmada#6258, submariner#789)', async ({
    startedSet,
  }) => {
    const { members, path, lose } = await startedSet({ names: ['c1', 'c2', 'c3'] });
    const [c1, c2, c3] = members as [(typeof members)[0], (typeof members)[0], (typeof members)[0]];
    for (const member of members) await member.start();
    await c1.export('web', ['10.4.1.1']);
    await c2.export('web', ['10.4.2.1']);
    await c1.export('alone', ['10.4.1.2']);
    await eventually(() => c3.addresses('web'), { c1: ['10.4.1.1'], c2: ['10.4.2.1'] });
    await eventually(() => c3.importedFrom('web'), ['c1', 'c2']);
    await eventually(() => c3.importedFrom('alone'), ['c1']);
    const { ips } = (await c3.import('web'))!.spec;
    await lose('c3', 'c1');
    await c3.stop();
    await c3.start({ ready: false });
    await c2.setEndpoints('web', ['10.4.2.1', '10.4.2.2']);
    await eventually(() => c3.addresses('web'), { c1: ['10.4.1.1'], c2: ['10.4.2.1', '10.4.2.2'] });
    expect(await c3.importedFrom('web')).toEqual(['c1', 'c2']);
    expect(await c3.addresses('alone')).toEqual({ c1: ['10.4.1.2'] });
    expect(await known(c3, 'c1')).toBe(false);
    // Its own exports go on, and nothing of the lost cluster changes with them.
    await c1.setEndpoints('alone', ['10.4.1.3']);
    await c1.unexport('web');
    await path('c3', 'c1').clear();
    await eventually(() => c3.addresses('alone'), { c1: ['10.4.1.3'] });
    await eventually(() => c3.importedFrom('web'), ['c2']);
    await eventually(() => c3.addresses('web'), { c2: ['10.4.2.1', '10.4.2.2'] });
    expect((await c3.import('web'))!.spec.ips).toEqual(ips);
    expect(await known(c3, 'c1')).toBe(true);
  });

  it('loses its endpoints after staleAfter where others have some, and never the last ones (cilium#37333, submariner#821)', async ({
    startedSet,
  }) => {
    const { members, path, lose } = await startedSet({ names: ['c1', 'c2'] });
    const [c1, c2] = members as [(typeof members)[0], (typeof members)[0]];
    await c1.export('web', ['10.4.1.1']);
    await c2.export('web', ['10.4.2.1']);
    await c1.export('alone', ['10.4.1.2']);
    await c2.start({ ofRemotes: { staleAfter: '2s', staleAction: 'remove' } });
    await eventually(() => c2.addresses('web'), { c1: ['10.4.1.1'], c2: ['10.4.2.1'] });
    await eventually(() => c2.addresses('alone'), { c1: ['10.4.1.2'] });
    await lose('c2', 'c1');
    await eventually(() => c2.addresses('web'), { c2: ['10.4.2.1'] });
    expect(await c2.addresses('alone')).toEqual({ c1: ['10.4.1.2'] });
    await path('c2', 'c1').clear();
    await eventually(() => c2.addresses('web'), { c1: ['10.4.1.1'], c2: ['10.4.2.1'] });
  });
});

describe('a cluster that refuses a request for a while', () => {
  it('is known again with the next answer, without a new list', async ({ startedSet }) => {
    const { members, path } = await startedSet({ names: ['c1', 'c2'] });
    const [c1, c2] = members as [(typeof members)[0], (typeof members)[0]];
    await c1.export('web', ['10.4.1.1']);
    await c2.start();
    await eventually(() => c2.addresses('web'), { c1: ['10.4.1.1'] });
    await eventually(() => known(c2, 'c1'), true);
    // A watch that was cut compares histories first, by a list of one object.
    const undo = await path('c2', 'c1').set(
      { kind: 'answer', status: 403 },
      { target: /serviceexports/, verb: 'list' },
    );
    await path('c2', 'c1').set({ kind: 'reset', connections: 'open' });
    await eventually(() => known(c2, 'c1'), false);
    await undo();
    await eventually(() => known(c2, 'c1'), true);
    const labels = { remote: 'c1', kind: 'problem', reason: 'exports-unknown' };
    expect(await c2.mirror.metric('semaphore_service_mirror_skipped_objects', labels)).toBe(0);
  });
});

describe('a program that was down', () => {
  it('finds what was added, changed and removed meanwhile (lighthouse#1416)', async ({ startedSet }) => {
    const { members } = await startedSet({ names: ['c1', 'c2'] });
    const [c1, c2] = members as [(typeof members)[0], (typeof members)[0]];
    for (const name of ['changed', 'removed', 'without-service']) await c1.export(name, ['10.4.1.1']);
    await c2.start();
    for (const name of ['changed', 'removed', 'without-service'])
      await eventually(() => c2.addresses(name), { c1: ['10.4.1.1'] });
    await c2.stop();
    await c1.setEndpoints('changed', ['10.4.1.2']);
    await c1.unexport('removed');
    await c1.deleteService('without-service');
    await c1.export('added', ['10.4.1.3']);
    await c2.start();
    for (const [name, addresses] of Object.entries({
      changed: { c1: ['10.4.1.2'] },
      removed: {},
      'without-service': {},
      added: { c1: ['10.4.1.3'] },
    }))
      await eventually(() => c2.addresses(name), addresses);
    for (const name of ['removed', 'without-service']) expect(await c2.import(name)).toBeUndefined();
  });
});

describe('a cluster without the kinds', () => {
  it('is unknown, and blocks no other; with them, its exports come (cilium#47793)', async ({ startedSet }) => {
    const { members, define } = await startedSet({ names: ['c1', 'c2'], withoutKinds: ['c1'] });
    const [c1, c2] = members as [(typeof members)[0], (typeof members)[0]];
    await c2.export('web', ['10.4.2.1']);
    for (const member of members) await member.start();
    await eventually(() => c2.addresses('web'), { c2: ['10.4.2.1'] });
    expect([await known(c2, 'c1'), await known(c2, 'c2')]).toEqual([false, true]);
    expect(c2.mirror.stderr()).toContain('"reason":"exports-unknown"');
    expect(c1.mirror.stderr()).toContain('"reason":"imports-unknown"');
    await define('c1');
    await c1.export('web', ['10.4.1.1']);
    for (const member of members)
      await eventually(() => member.addresses('web'), { c1: ['10.4.1.1'], c2: ['10.4.2.1'] });
    expect(await known(c2, 'c1')).toBe(true);
    const unknownImports = () =>
      c1.mirror.metric('semaphore_service_mirror_skipped_objects', {
        remote: 'c1',
        kind: 'problem',
        reason: 'imports-unknown',
      });
    expect(await unknownImports()).toBe(0);
    const kinds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await c1.cluster.admin.delete(`${kinds}/serviceimports.multicluster.x-k8s.io`);
    await eventually(unknownImports, 1);
    await c2.setEndpoints('web', ['10.4.2.2']);
    for (const member of members)
      await eventually(() => member.addresses('web'), { c1: ['10.4.1.1'], c2: ['10.4.2.2'] });
    await define('c1', 'serviceimports');
    await eventually(unknownImports, 0);
    await eventually(() => c1.importedFrom('web'), ['c1', 'c2']);
  });
});

describe('a cluster with an id in its ClusterSet', () => {
  it.for([
    { id: 'c1', differs: 0 },
    { id: 'west', differs: 1 },
  ])('is compared with the config: $id', async ({ id, differs }, { startedSet }) => {
    const { members } = await startedSet({ names: ['c1', 'c2'] });
    const [c1, c2] = members as [(typeof members)[0], (typeof members)[0]];
    await c1.cluster.defineResource(clusterPropertyCrd);
    await c1.cluster.admin.create(clusterPropertiesPath, clusterProperty(id));
    await c2.start();
    await eventually(() => c2.mirror.metric('semaphore_service_mirror_cluster_id_differs', { remote: 'c1' }), differs);
    expect(c2.mirror.stderr().includes('the remote has another id in its ClusterSet')).toBe(differs === 1);
  });
});

describe('a derived Service that loses our labels', () => {
  it('is reported, and ours again with them', async ({ startedSet }) => {
    const { members } = await startedSet({ names: ['c1', 'c2'] });
    const [c1, c2] = members as [(typeof members)[0], (typeof members)[0]];
    await c1.export('web', ['10.4.1.1']);
    await c2.start();
    await eventually(() => c2.importedFrom('web'), ['c1']);
    const [{ metadata }] = (await c2.derived()) as [Awaited<ReturnType<typeof c2.derived>>[0]];
    const path = `/api/v1/namespaces/shop/services/${metadata.name}`;
    const label = 'multicluster.kubernetes.io/service-name';
    const setLabel = (value: string | null) =>
      c2.cluster.admin.request('PATCH', path, { metadata: { labels: { [label]: value } } });
    const taken = () =>
      c2.mirror.metric('semaphore_service_mirror_skipped_objects', {
        remote: 'c2',
        kind: 'problem',
        reason: 'name-taken',
      });
    await setLabel(null);
    await eventually(taken, 1);
    expect(c2.mirror.stderr()).toContain(`the Service shop/${metadata.name} exists without our labels`);
    await setLabel('web');
    await eventually(taken, 0);
    await c1.setEndpoints('web', ['10.4.1.2']);
    await eventually(() => c2.addresses('web'), { c1: ['10.4.1.2'] });
  });
});

describe('the config', () => {
  it('moves the Services of imports to the mirror namespace; the imports stay, and the slices of headless ones', async ({
    startedSet,
  }) => {
    const { members } = await startedSet({ names: ['c1', 'c2'] });
    const [, c2] = members as [(typeof members)[0], (typeof members)[0]];
    await c2.export('web', ['10.4.2.1']);
    await c2.export('db', ['10.4.2.2'], { headless: true });
    await c2.start();
    await eventually(() => c2.addresses('web'), { c2: ['10.4.2.1'] });
    await eventually(() => c2.importedFrom('web'), ['c2']);
    await eventually(() => c2.addresses('db'), { c2: ['10.4.2.2'] });
    const { uid } = (await c2.import('web'))!.metadata;
    await c2.stop();
    await c2.start({ mcs: { derivedServices: 'mirrorNamespace' } });
    await eventually(() => c2.addresses('web', 'sys-semaphore'), { c2: ['10.4.2.1'] });
    await eventually(() => c2.derived(), []);
    await eventually(() => c2.addresses('web'), {});
    await c2.setEndpoints('db', ['10.4.2.3']);
    await eventually(() => c2.addresses('db'), { c2: ['10.4.2.3'] });
    const [derived] = await c2.derived('sys-semaphore');
    expect(derived!.metadata.name).toBe('mcs-shop-73736d-web');
    expect(await c2.import('web')).toMatchObject({
      metadata: { uid },
      spec: { ips: (derived!['spec'] as { clusterIPs: string[] }).clusterIPs },
      status: { endpointSliceObjects: 'Absent' },
    });
  });

  it('lets an API server with older kinds drop a field, without writing it again and again', async ({ startedSet }) => {
    const { members } = await startedSet({ names: ['c1', 'c2'], withoutStatusOfSlices: ['c2'] });
    const [, c2] = members as [(typeof members)[0], (typeof members)[0]];
    await c2.export('web', ['10.4.2.1']);
    await c2.start();
    await eventually(() => c2.importedFrom('web'), ['c2']);
    // Service, slice, import, its status twice, the export's status; and one dry run at the start.
    await eventually(() => c2.writes(), 6 + DRY_RUNS);
    // Only the slice changes, but the import and its status are compared each time, too.
    for (const [i, ip] of ['10.4.2.2', '10.4.2.3', '10.4.2.4'].entries()) {
      await c2.setEndpoints('web', [ip]);
      await eventually(() => c2.addresses('web'), { c2: [ip] });
      await eventually(() => c2.writes(), 7 + i + DRY_RUNS);
    }
    expect((await c2.import('web'))?.status).not.toHaveProperty('endpointSliceObjects');
  });
});
