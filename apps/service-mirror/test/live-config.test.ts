import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { deployComponent, mountFiles, node } from '@kube-semaphore/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folders } from './support/accounts.ts';
import { LocalServices } from './support/local-services.ts';
import { type SetMember, startSet } from './support/mcs/cluster-set.ts';
import { type MirrorProcess, spawnMirror } from './support/mirror-process.ts';
import { RemoteServices } from './support/remote-services.ts';

type RemoteEntry = { readonly name: string; readonly [field: string]: unknown };

const [C2, C3, X3, GLOBAL] = ['c2', 'c3', 'x3', 'gl'].map((prefix) => `${prefix}-default-73736d-web`) as [
  string,
  string,
  string,
  string,
];
const global = { globalSvcLabelSelector: 'global=true', serviceSync: true, endpointSliceSync: true };
const labels = { global: 'true' };

/** Three clusters; c2 and c3 have a Service to mirror and to merge, and exports. The program of c1 reads a mounted file. */
const it = test
  .extend('names', { scope: 'file' }, ['c1', 'c2', 'c3'])
  .extend('set', { scope: 'file' }, async ({ names }, { onCleanup }) => {
    const set = await startSet({ names });
    onCleanup(() => set.stop());
    const [, c2, c3] = set.members as [unknown, (typeof set.members)[0], (typeof set.members)[0]];
    for (const [member, address] of [[c2, '10.4.0.1'] as const, [c3, '10.5.0.1'] as const]) {
      const sources = new RemoteServices(member.cluster);
      await sources.add({ name: 'web', labels });
      await sources.addSlice({ name: 'web-a', service: 'web', labels, endpoints: [address] });
      await member.export('api', [address]);
    }
    await c3.export('own', ['10.5.0.2']);
    return set;
  })
  /** What the file says of both remotes; each has the same kubeconfig in every test. */
  .extend('full', { scope: 'file' }, ({ set }) => set.configOf('c1', { global }))
  .extend('mirrors', ({ set }, { onCleanup }) => {
    const mirrors = new LocalServices(set.members[0]!.cluster);
    onCleanup(() => mirrors.clear());
    return mirrors;
  })
  .extend('live', async ({ full, mirrors: _mirrors, task }, { onCleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'live-'));
    const started: MirrorProcess[] = [];
    onCleanup(async () => {
      await Promise.all(started.map((mirror) => mirror.stop('SIGKILL')));
      if (task.result?.state === 'fail') for (const { stderr } of started) console.error(stderr());
      await rm(dir, { recursive: true });
    });
    const file = (change: (all: typeof full) => object): string => JSON.stringify(change(full));
    /** The file with these remotes, each with other fields. */
    const mount = (remotes: Readonly<Record<string, object>>, more: object = {}): Promise<void> =>
      mountText(
        file((all) => ({
          ...all,
          ...more,
          remoteClusters: all.remoteClusters
            .filter(({ name }) => name in remotes)
            .map((entry: RemoteEntry) => ({ ...entry, ...remotes[entry.name] })),
        })),
      );
    const mountText = (text: string): Promise<void> => mountFiles(dir, { 'config.json': text });
    const start = async (): Promise<MirrorProcess> => {
      const mirror = spawnMirror([`-config=${join(dir, 'config.json')}`, '-listen-address=127.0.0.1:0']);
      started.push(mirror);
      await mirror.ready();
      return mirror;
    };
    return { mount, mountText, start };
  });

const orphans = (mirror: MirrorProcess, cluster: string) =>
  mirror.metric('semaphore_service_mirror_orphans', { cluster });
const isStale = (mirror: MirrorProcess) => mirror.metric('semaphore_service_mirror_config_stale');

type Status = {
  readonly remotes: readonly { readonly name: string; readonly synced: boolean }[];
  readonly configFile: { readonly problems: readonly string[]; readonly needRestart: readonly string[] };
};
const statusOf = async (mirror: MirrorProcess) => (await mirror.status()) as Status;
const namesIn = async (mirror: MirrorProcess) => (await statusOf(mirror)).remotes.map(({ name }) => name);

/** Every object that the program of c1 writes, with its version. */
async function versions(set: Awaited<ReturnType<typeof startSet>>): Promise<readonly string[]> {
  const { admin } = set.members[0]!.cluster;
  const paths = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'];
  const lists = await Promise.all(
    [...paths, '/apis/multicluster.x-k8s.io/v1beta1/serviceimports'].map((path) => admin.list(path)),
  );
  return lists
    .flat()
    .map(({ metadata: { namespace, name, resourceVersion } }) => `${namespace}/${name} ${resourceVersion}`);
}

describe('a remote of the config file', () => {
  it('comes, leaves what is as after a restart, and is taken over without a write when it comes again', async ({
    set,
    mirrors,
    live,
  }) => {
    const [c1, c2, c3] = set.members as [(typeof set.members)[0], (typeof set.members)[0], (typeof set.members)[0]];
    await live.mount({ c2: {} });
    const mirror = await live.start();
    await mirrors.become({ [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });
    await eventually(() => c1.importedFrom('api'), ['c2']);

    await live.mount({ c2: {}, c3: {} });
    const all = { [C2]: ['10.4.0.1'], [C3]: ['10.5.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] };
    await mirrors.become(all);
    await eventually(() => c1.importedFrom('api'), ['c2', 'c3']);
    await eventually(() => c1.importedFrom('own'), ['c3']);
    await mirror.logged('config file changed, and is in force');
    expect(await namesIn(mirror)).toEqual(['c2', 'c3']);
    expect(await orphans(mirror, 'c3')).toBeUndefined();

    await live.mount({ c2: {} });
    // Its mirror with a slice, its slices in a global Service and in two imports, and the import that only it has.
    await eventually(() => orphans(mirror, 'c3'), 6);
    await eventually(() => c1.importedFrom('api'), ['c2']);
    const clusters = async () => (await mirrors.service(GLOBAL)).metadata.annotations?.['global-svc-clusters'];
    await eventually(clusters, 'c2');
    expect(await mirrors.endpoints()).toEqual(all);
    expect(await c1.addresses('api')).toEqual({ c2: ['10.4.0.1'], c3: ['10.5.0.1'] });
    expect(await c1.importedFrom('own')).toEqual(['c3']);
    expect(await namesIn(mirror)).toEqual(['c2']);
    const { body } = await mirror.get('/metrics');
    expect(body.split('\n').filter((line) => /"(c3|c3-service|mirror-c3|global-c3)"/.test(line))).toEqual([
      'semaphore_service_mirror_orphans{cluster="c3"} 6',
    ]);
    // Nothing is asked of it any more, while a change of the other one comes through.
    const proxy = set.path('c1', 'c3');
    await eventually(() => proxy.underWay().length, 0);
    const asked = proxy.requests().length;
    const sources = new RemoteServices(c2.cluster);
    await sources.add({ name: 'later' });
    const later = { [C2.replace('web', 'later')]: [] };
    await mirrors.become({ ...all, ...later });
    expect(proxy.requests()).toHaveLength(asked);

    const left = await versions(set);
    await mirror.stop();
    const restarted = await live.start();
    await eventually(() => orphans(restarted, 'c3'), 6);
    await eventually(async () => (await statusOf(restarted)).remotes.every(({ synced }) => synced), true);
    await sources.clear();
    await mirrors.become(all);
    const known = new Set(left);
    expect((await versions(set)).filter((each) => !known.has(each))).toEqual([]);

    const own = (version: string): boolean => / (c3-|gl-.*-[0-9a-f]{20} )/.test(version.replace('/', ' '));
    const before = (await versions(set)).filter(own);
    expect(before.length).toBeGreaterThanOrEqual(4);
    await live.mount({ c2: {}, c3: {} });
    await eventually(clusters, 'c2,c3');
    await eventually(() => c1.importedFrom('api'), ['c2', 'c3']);
    await eventually(() => orphans(restarted, 'c3'), 0);
    expect((await versions(set)).filter(own)).toEqual(before);
    expect(await mirrors.endpoints()).toEqual(all);
    await c3.setEndpoints('own', ['10.5.0.3']);
    await eventually(() => c1.addresses('own'), { c3: ['10.5.0.3'] });
  });

  it('may change its prefix, which leaves the old mirrors, and its ranges, and is never taken for gone', async ({
    mirrors,
    live,
  }) => {
    await live.mount({ c2: {}, c3: {} });
    const mirror = await live.start();
    const both = { [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] };
    await mirrors.become({ ...both, [C3]: ['10.5.0.1'] });
    const versionOf = async () => (await mirrors.service(GLOBAL)).metadata.resourceVersion;
    const version = await versionOf();

    await live.mount({ c2: {}, c3: { servicePrefix: 'x3' } });
    await mirrors.become({ ...both, [C3]: ['10.5.0.1'], [X3]: ['10.5.0.1'] });
    await eventually(() => orphans(mirror, 'c3'), 2);
    expect(await orphans(mirror, 'x3')).toBeUndefined();

    await live.mount({ c2: {}, c3: { servicePrefix: 'x3', allowedPodCIDRs: ['10.9.0.0/16'] } });
    const refused = { [C2]: ['10.4.0.1'], [C3]: ['10.5.0.1'], [X3]: [], [GLOBAL]: ['10.4.0.1'] };
    await mirrors.become(refused);
    expect(await mirror.metric('semaphore_service_mirror_remote_unrestricted', { remote: 'c3' })).toBe(0);
    await live.mount({ c2: {}, c3: { servicePrefix: 'x3', allowedPodCIDRs: ['10.5.0.0/16'] } });
    await mirrors.become({ ...both, [C3]: ['10.5.0.1'], [X3]: ['10.5.0.1'] });
    // The list of its clusters would have changed.
    expect(await versionOf()).toBe(version);
    expect(mirror.log().filter(({ msg }) => msg === 'service deleted')).toEqual([]);
  });

  it('may be used in one family, while others keep both', async ({ set, mirrors, live }) => {
    const [c1, , c3] = set.members;
    const sources = new RemoteServices(c3!.cluster);
    onTestFinished(() => sources.clear());
    const spec = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] };
    await sources.add({ name: 'dual', spec });
    for (const address of ['10.5.0.9', 'fd00:5::9'])
      await sources.addSlice({ name: `dual-${address.length}`, service: 'dual', endpoints: [address] });
    const dual = 'c3-default-73736d-dual';
    const familiesOf = async () => ((await mirrors.service(dual))['spec'] as typeof spec).ipFamilies;

    await live.mount({ c2: {}, c3: {} });
    const mirror = await live.start();
    const both = { [C2]: ['10.4.0.1'], [C3]: ['10.5.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] };
    await mirrors.become({ ...both, [dual]: ['10.5.0.9', 'fd00:5::9'] });
    await eventually(() => c1!.addresses('api'), { c2: ['10.4.0.1'], c3: ['10.5.0.1'] });
    expect(await familiesOf()).toEqual(['IPv4', 'IPv6']);

    await live.mount({ c2: {}, c3: { families: ['ipv6'] } });
    await mirrors.become({ [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'], [dual]: ['fd00:5::9'] });
    await eventually(() => c1!.addresses('api'), { c2: ['10.4.0.1'] });
    // The first family of a Service is immutable, so it is another one.
    await eventually(() => familiesOf().catch(() => undefined), ['IPv6']);
    const skipped = { remote: 'c3', reason: 'other-family', kind: 'expected' };
    const skips = () => mirror.metric('semaphore_service_mirror_skipped_objects', skipped);
    await eventually(skips, (count) => Number(count) > 0);

    await live.mount({ c2: {}, c3: { families: ['ipv4', 'ipv6'] } });
    await mirrors.become({ ...both, [dual]: ['10.5.0.9', 'fd00:5::9'] });
    await eventually(() => c1!.addresses('api'), { c2: ['10.4.0.1'], c3: ['10.5.0.1'] });
    await eventually(familiesOf, ['IPv6', 'IPv4']);
  });

  it('may come to avoid its silent nodes, and to use them again, in mirrors, global Services and imports', async ({
    set,
    mirrors,
    live,
  }) => {
    const [c1, , c3] = set.members as [SetMember, SetMember, SetMember];
    const { admin } = c1.cluster;
    await deployComponent(c1.cluster, folders.local, 'service-mirror/components/gate-by-tunnel');
    const annotations = {
      'c3.wireguard.semaphore.uw.io/pubKey': 'key',
      'c3.wireguard.semaphore.uw.io/silent': 'm1 of 2',
    };
    await admin.create('/api/v1/nodes', node({ name: 'witness', annotations }));
    const sources = new RemoteServices(c3.cluster);
    onTestFinished(async () => {
      await admin.delete('/api/v1/nodes/witness');
      await sources.clear();
      await c3.unexport('gated');
    });
    const both = ['10.5.0.21', '10.5.0.22'];
    const endpoints = both.map((address, i) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `m${i + 1}`,
    }));
    await sources.add({ name: 'gated', labels });
    await sources.addSlice({ name: 'gated-x1', service: 'gated', labels, endpoints });
    await c3.export('gated', []);
    await sources.patch('endpointslices', { namespace: 'shop', name: 'gated-x1' }, { endpoints });

    await live.mount({ c2: {}, c3: {} });
    const mirror = await live.start();
    const [ofC3, ofAll] = [C3, GLOBAL].map((name) => name.replace('web', 'gated')) as [string, string];
    const others = { [C2]: ['10.4.0.1'], [C3]: ['10.5.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] };
    const become = async (addresses: readonly string[]) => {
      await mirrors.become({ ...others, [ofC3]: addresses, [ofAll]: addresses });
      await eventually(() => c1.addresses('gated'), { c3: addresses });
    };
    const silentNodes = () => mirror.metric('semaphore_service_mirror_silent_nodes', { remote: 'c3' });
    await become(both);
    expect(await mirror.status()).toMatchObject({ tunnels: null });
    const uids = async () =>
      [await mirrors.service(ofC3), await mirrors.service(ofAll), await c1.import('gated')].map(
        (object) => object?.metadata.uid,
      );
    const before = await uids();

    for (let time = 0; time < 2; time += 1) {
      await live.mount({ c2: {}, c3: { gateByTunnel: true } });
      await become(['10.5.0.22']);
      expect(await mirror.status()).toMatchObject({ tunnels: [{ remote: 'c3', silent: ['m1'], gated: true }] });
      expect(await silentNodes()).toBe(1);
      await live.mount({ c2: {}, c3: {} });
      await become(both);
      expect(await mirror.status()).toMatchObject({ tunnels: null });
      expect(await silentNodes()).toBeUndefined();
    }
    expect(await isStale(mirror)).toBe(0);
    expect(await uids()).toEqual(before);
  });

  it('has mirrors and global Services only of the namespaces that the file names now', async ({ mirrors, live }) => {
    const mount = (mirrorNamespaces: readonly string[]) => live.mount({ c2: { mirrorNamespaces }, c3: {} });
    await mount(['shop']);
    await live.start();
    const without = { [C3]: ['10.5.0.1'], [GLOBAL]: ['10.5.0.1'] };
    await mirrors.become(without);
    await mount(['shop', 'default']);
    await mirrors.become({ ...without, [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] });
    await mount(['shop']);
    await mirrors.become(without);
  });
});

describe('a config file', () => {
  it('that is invalid is told, while the last valid one stays in force, until it is mended', async ({
    mirrors,
    live,
    set,
  }) => {
    await live.mount({ c2: {} });
    const mirror = await live.start();
    const ofC2 = { [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] };
    await mirrors.become(ofC2);
    await live.mountText('{');
    await eventually(() => isStale(mirror), 1);
    await mirror.logged('config file changed and is invalid; the last valid one stays in force');
    expect((await statusOf(mirror)).configFile.problems).toHaveLength(1);
    const sources = new RemoteServices(set.members[1]!.cluster);
    await sources.add({ name: 'later' });
    await mirrors.become({ ...ofC2, [C2.replace('web', 'later')]: [] });
    await sources.clear();
    await mirrors.become(ofC2);

    await live.mount({ c2: {}, c3: { kubeConfigPath: '/none' } });
    await eventually(
      async () => (await statusOf(mirror)).configFile.problems[0],
      (problem) => problem?.includes('remoteClusters[1].kubeConfigPath (c3)') === true,
    );
    expect(await namesIn(mirror)).toEqual(['c2']);
    await live.mount({ c2: {}, c3: {} });
    await mirrors.become({ [C2]: ['10.4.0.1'], [C3]: ['10.5.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] });
    await eventually(() => isStale(mirror), 0);
    expect((await statusOf(mirror)).configFile).toMatchObject({ problems: [], needRestart: [] });
  });

  it('whose other fields changed names them until a restart, and its remotes are in force', async ({
    mirrors,
    live,
    full,
  }) => {
    await live.mount({ c2: {} });
    const mirror = await live.start();
    await mirrors.become({ [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });
    await live.mount({ c2: {}, c3: {} }, { global: { ...full.global, mirrorSvcLabelSelector: 'other=true' } });
    await eventually(async () => (await statusOf(mirror)).configFile.needRestart, ['global.mirrorSvcLabelSelector']);
    await mirror.logged('restart to apply these fields');
    await mirrors.become({ [C2]: ['10.4.0.1'], [C3]: ['10.5.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] });
    await eventually(() => isStale(mirror), 1);
    // What is in force, and not what the file says now, decides whether its remotes can be.
    await live.mount({ c2: {}, c3: { name: 'c1' } }, { localCluster: { ...full.localCluster, name: 'c9' } });
    await eventually(
      async () => (await statusOf(mirror)).configFile.problems[0],
      (problem) => problem?.endsWith(': remoteClusters: name c1 is that of the local cluster until a restart') === true,
    );
    await live.mount({ c2: {}, c3: {} });
    await eventually(() => isStale(mirror), 0);
  });
});
