// Both: defaults that a server sets must cause no writes without end.
import { eventually } from '@kube-semaphore/eventually';
import { service } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { importNameLabel } from '@kube-semaphore/service-mirror/names';
import { type SetMember, startSet } from '../../support/mcs/cluster-set.ts';
import { DRY_RUNS } from '../../support/requests.ts';

const it = test
  .extend('names', { scope: 'file' }, ['c1', 'c2'])
  .extend('set', { scope: 'file' }, async ({ names }, { onCleanup }) => {
    const set = await startSet({ names });
    onCleanup(() => set.stop());
    for (const member of set.members) await member.start({ ofRemotes: { allowedPodCIDRs: ['10.4.0.0/16'] } });
    return set;
  })
  .extend('c1', ({ set }): SetMember => set.members[0]!)
  .extend('c2', ({ set }): SetMember => set.members[1]!);

const EXPORTED = ['Valid=True Valid', 'Ready=True Ready', 'Conflict=False NoConflicts'];

const PORT_CONFLICT = ['Valid=True Valid', 'Ready=True Ready', 'Conflict=True PortConflict'];
const http = { name: 'http', protocol: 'TCP', port: 80 };

describe('an export', () => {
  it('takes five writes where it is, four elsewhere, one for a new endpoint, and none when idle (aws-cloud-map-mcs#312)', async ({
    c1,
    c2,
  }) => {
    const members = [c1, c2];
    // It is the first export. A write too many, at any time, makes all later sums wrong.
    const writes = async () => (await Promise.all(members.map((each) => each.writes()))).map((sum) => sum - DRY_RUNS);
    await c1.export('counted', ['10.4.1.1']);
    await eventually(() => c1.conditions('counted'), EXPORTED);
    await eventually(() => c2.importedFrom('counted'), ['c1']);
    await eventually(writes, [5, 4]);
    await c1.setEndpoints('counted', ['10.4.1.1', '10.4.1.2']);
    for (const member of members) await eventually(() => member.addresses('counted'), { c1: ['10.4.1.1', '10.4.1.2'] });
    await eventually(writes, [6, 5]);
    await c1.unexport('counted');
    for (const member of members) await eventually(() => member.addresses('counted'), {});
    await eventually(writes, [9, 8]);
    expect(await c2.import('counted')).toBeUndefined();
  });

  it('is reconciled once for each changed endpoint: the answer to its own write is no change', async ({ c1, c2 }) => {
    await c1.export('changing', ['10.4.1.1']);
    await eventually(() => c2.addresses('changing'), { c1: ['10.4.1.1'] });
    await eventually(() => c2.importedFrom('changing'), ['c1']);
    const adds = () => c2.mirror.metric('semaphore_service_mirror_queue_adds_total', { name: 'c2-import' });
    const before = (await adds())!;
    const ten = Array.from({ length: 10 }, (_, i) => `10.4.1.${i + 2}`);
    for (const address of ten) {
      await c1.setEndpoints('changing', [address]);
      await eventually(() => c2.addresses('changing'), { c1: [address] });
    }
    // The first of its writes may be answered late, so no exact count; two reconciles for each would be 20.
    expect((await adds())! - before).toBeLessThan(15);
  });

  it('is an import in both clusters, with an address, endpoints and a status', async ({ c1, c2 }) => {
    await c1.export('web', ['10.4.1.1']);
    for (const member of [c1, c2]) {
      await eventually(() => member.importedFrom('web'), ['c1']);
      await eventually(() => member.addresses('web'), { c1: ['10.4.1.1'] });
      const [derived] = await member.derived();
      expect(await member.import('web')).toMatchObject({
        metadata: { annotations: { 'multicluster.kubernetes.io/derived-service': derived?.metadata.name } },
        spec: { type: 'ClusterSetIP', ips: (derived!['spec'] as { clusterIPs: string[] }).clusterIPs },
        status: { conditions: [{ type: 'Ready', status: 'True' }], endpointSliceObjects: 'Present' },
      });
    }
    await eventually(() => c1.conditions('web'), EXPORTED);
  });

  it('stays imported until the last cluster unexports it (cilium#37231)', async ({ c1, c2 }) => {
    await c1.export('twice', ['10.4.1.3']);
    await c2.export('twice', ['10.4.2.3']);
    for (const member of [c1, c2])
      await eventually(() => member.addresses('twice'), { c1: ['10.4.1.3'], c2: ['10.4.2.3'] });
    // The import comes after its slices.
    await eventually(() => c2.importedFrom('twice'), ['c1', 'c2']);
    const { spec } = (await c2.import('twice'))!;
    await c1.unexport('twice');
    for (const member of [c1, c2]) await eventually(() => member.importedFrom('twice'), ['c2']);
    await eventually(() => c1.addresses('twice'), { c2: ['10.4.2.3'] });
    expect((await c2.import('twice'))!.spec.ips).toEqual(spec.ips);
    await c2.unexport('twice');
    for (const member of [c1, c2]) await eventually(() => member.importedFrom('twice'), undefined);
  });

  it('has the conflict of its ports on both exports, until it is over (lighthouse#1831)', async ({ c1, c2 }) => {
    await c1.export('ports', ['10.4.1.4'], { ports: [http] });
    await eventually(() => c2.importedFrom('ports'), ['c1']);
    await c2.export('ports', ['10.4.2.4'], { ports: [{ ...http, port: 81 }] });
    for (const member of [c1, c2]) await eventually(() => member.conditions('ports'), PORT_CONFLICT);
    expect((await c2.import('ports'))?.spec['ports']).toEqual([http]);
    await c2.unexport('ports');
    await eventually(() => c1.conditions('ports'), EXPORTED);
  });

  it('comes back with its Service (lighthouse#693)', async ({ c1, c2 }) => {
    await c1.export('again', ['10.4.1.5']);
    await eventually(() => c2.importedFrom('again'), ['c1']);
    await c1.deleteService('again');
    await eventually(() => c2.importedFrom('again'), undefined);
    await eventually(async () => (await c1.conditions('again'))[0], 'Valid=False NoService');
    await c1.createService('again', ['10.4.1.6']);
    await eventually(() => c2.addresses('again'), { c1: ['10.4.1.6'] });
    await eventually(() => c1.conditions('again'), EXPORTED);
  });

  it('of a headless Service is a Headless import without an address', async ({ c1, c2 }) => {
    await c1.export('db', ['10.4.1.7'], { headless: true });
    await eventually(() => c2.addresses('db'), { c1: ['10.4.1.7'] });
    const { ips, type } = (await c2.import('db'))!.spec;
    expect([type, ips ?? []]).toEqual(['Headless', []]);
  });

  it('has no endpoint outside allowedPodCIDRs of its cluster', async ({ c1, c2 }) => {
    await c1.export('stray', ['10.4.1.10', '10.9.0.1']);
    await eventually(() => c1.addresses('stray'), { c1: ['10.4.1.10', '10.9.0.1'] });
    await eventually(() => c2.addresses('stray'), { c1: ['10.4.1.10'] });
  });

  it('is not imported to a namespace that mcs.namespaces lacks, and says so', async ({ c1, c2 }) => {
    const exports = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/default/serviceexports';
    await c1.cluster.admin.create(exports, {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      metadata: { name: 'kubernetes' },
    });
    const status = async () => (await c1.cluster.admin.get(`${exports}/kubernetes`))['status'];
    await eventually(async () => JSON.stringify((await status()) ?? '').includes("mcs.namespaces doesn't allow"), true);
    expect(await c2.derived('default')).toEqual([]);
  });
});

describe('an import', () => {
  it('that a user deletes or changes is repaired, with its address', async ({ c1, c2 }) => {
    await c1.export('repaired', ['10.4.1.8']);
    await eventually(() => c2.importedFrom('repaired'), ['c1']);
    const { ips } = (await c2.import('repaired'))!.spec;
    const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceimports/repaired';
    await c2.cluster.admin.delete(path);
    await eventually(async () => (await c2.import('repaired'))?.spec.ips, ips);
    await c2.cluster.admin.request('PATCH', path, { spec: { ports: [{ port: 1 }], ips: ['10.1.1.1'] } });
    await eventually(
      async () => {
        const spec = (await c2.import('repaired'))?.spec;
        return { ips: spec?.ips, ports: spec?.['ports'] };
      },
      { ips, ports: [http] },
    );
  });

  it('keeps labels, annotations and finalizers of others, and loses exported ones that are withdrawn', async ({
    c1,
    c2,
  }) => {
    const at = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop';
    const patch = async (path: string, body: object) =>
      expect((await c2.cluster.admin.request('PATCH', `${at}/${path}`, body)).status).toBe(200);
    const marks = async () => {
      const { metadata } = await c2.cluster.admin.get(`${at}/serviceimports/marked`);
      const { labels = {}, annotations = {}, finalizers } = metadata;
      return { team: labels['team'], tier: labels['tier'], own: labels['own'], note: annotations['note'], finalizers };
    };
    await c2.createService('marked', ['10.4.2.9']);
    await c2.createExport('marked', { exportedLabels: { team: 'a', tier: 'b' } });
    await eventually(() => c2.addresses('marked'), { c2: ['10.4.2.9'] });
    await eventually(() => c1.importedFrom('marked'), ['c2']);
    await eventually(() => c2.importedFrom('marked'), ['c2']);
    const finalizers = ['example.com/keep'];
    const before = await c2.writes();
    await patch('serviceimports/marked', {
      metadata: { labels: { own: '1' }, annotations: { note: '2' }, finalizers },
    });
    await patch('serviceexports/marked', { spec: { exportedLabels: { team: 'c', tier: null } } });
    await eventually(marks, { team: 'c', tier: undefined, own: '1', note: '2', finalizers });
    expect(await c2.writes()).toBe(before + 1);
    await patch('serviceimports/marked', { metadata: { finalizers: null } });
  });

  it.for(['Service', 'ServiceImport'])(
    'has the endpoints of its exports while its %s waits for a finalizer, and loses them with the last export',
    async (kind, { c1, c2 }) => {
      const name = `held-${kind.toLowerCase()}`;
      const { admin } = c2.cluster;
      await c1.export(name, ['10.4.1.12']);
      await eventually(() => c2.importedFrom(name), ['c1']);
      const derived = (await c2.derived()).find(({ metadata }) => metadata.labels?.[importNameLabel] === name)!;
      const held = kind === 'Service' ? derived : (await c2.import(name))!;
      const imports = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceimports';
      const path =
        kind === 'Service' ? `/api/v1/namespaces/shop/services/${derived.metadata.name}` : `${imports}/${name}`;
      const hold = async (finalizers: readonly string[] | null) =>
        expect((await admin.request('PATCH', path, { metadata: { finalizers } })).status).toBe(200);
      await hold(['cloud.example/x']);
      await admin.delete(path);
      const object = kind === 'Service' ? `Service ${derived.metadata.name}` : `ServiceImport shop/${name}`;
      await c2.mirror.logged('skipped', {
        subject: `@import/shop/${name}`,
        reason: 'terminating',
        detail: `the ${object} was deleted, and exists until its finalizers are removed: "cloud.example/x"`,
      });
      await c1.setEndpoints(name, ['10.4.1.13']);
      await eventually(() => c2.addresses(name), { c1: ['10.4.1.13'] });
      expect((await admin.get(path)).metadata.uid).toBe(held.metadata.uid);

      await hold(null);
      const uids = async () => {
        const { status, body } = await admin.request('GET', path);
        return status === 200 && body['metadata'].uid !== held.metadata.uid;
      };
      await eventually(uids, true);
      await eventually(() => c2.addresses(name), { c1: ['10.4.1.13'] });
      await eventually(() => c2.importedFrom(name), ['c1']);

      await hold(['cloud.example/x']);
      await c1.unexport(name);
      await eventually(() => c2.addresses(name), {});
      await eventually(async () => (await admin.get(path)).metadata['deletionTimestamp'] !== undefined, true);
      // An import that still exists has an address, which no other Service may get.
      const left = (await c2.derived()).filter(({ metadata }) => metadata.labels?.[importNameLabel] === name);
      expect(left).toHaveLength(1);
      await hold(null);
      await eventually(async () => (await admin.request('GET', path)).status, 404);
      await eventually(
        async () => (await c2.derived()).filter(({ metadata }) => metadata.labels?.[importNameLabel] === name),
        [],
      );
      const failed = c2.mirror.log().filter(({ level, msg }) => level === 'warn' && msg !== 'skipped');
      expect(failed).toEqual([]);
    },
  );

  it('keeps the Service of an older build, whose name has fewer digits, and its address', async ({ c1, c2 }) => {
    await c1.export('kept', ['10.4.1.11']);
    await eventually(() => c2.importedFrom('kept'), ['c1']);
    const current = (await c2.derived()).find(({ metadata }) => metadata.labels?.[importNameLabel] === 'kept')!;
    const { name, namespace, labels, annotations } = current.metadata;
    const { metadata, spec } = await c2.cluster.admin.create(`/api/v1/namespaces/${namespace}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: name.slice(0, 'derived-'.length + 10), namespace, labels, annotations },
      spec: { ports: [http] },
    });
    const names = async () =>
      (await c2.derived())
        .filter((each) => each.metadata.labels?.[importNameLabel] === 'kept')
        .map((each) => each.metadata.name);
    await eventually(names, [metadata.name]);
    await eventually(async () => (await c2.import('kept'))?.spec.ips, (spec as { clusterIPs: string[] }).clusterIPs);
    await eventually(() => c2.addresses('kept'), { c1: ['10.4.1.11'] });
  });

  it("that isn't ours is never touched", async ({ c1, c2 }) => {
    const imports = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceimports';
    const { metadata } = await c2.cluster.admin.create(imports, {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceImport',
      metadata: { name: 'foreign' },
      spec: { type: 'Headless', ports: [] },
    });
    await c1.export('foreign', ['10.4.1.9']);
    await eventually(() => c1.importedFrom('foreign'), ['c1']);
    await eventually(() => c2.mirror.stderr().includes("shop/foreign exists, and isn't ours"), true);
    expect((await c2.import('foreign'))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(await c2.addresses('foreign')).toEqual({});
  });

  it('comes when its namespace does (lighthouse#685)', async ({ c1, c2 }) => {
    const root = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/later';
    await c1.createNamespace('later');
    await c1.cluster.admin.create('/api/v1/namespaces/later/services', service({ name: 'web', namespace: 'later' }));
    await c1.cluster.admin.create(`${root}/serviceexports`, {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      metadata: { name: 'web' },
    });
    const status = async (member: SetMember) =>
      (await member.cluster.admin.request('GET', `${root}/serviceimports/web`)).status;
    await eventually(() => status(c1), 200);
    expect(await status(c2)).toBe(404);
    await c2.createNamespace('later');
    await eventually(() => status(c2), 200);
  });
});
