// Both: the remotes are objects of a CustomResourceDefinition of others, which a real API server checks, and a plugin reads Secrets.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { deployComponent, TestInventory } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { folders, remoteRules } from '../support/accounts.ts';
import { LocalServices } from '../support/local-services.ts';
import { startSet } from '../support/mcs/cluster-set.ts';
import { type MirrorProcess, spawnMirror } from '../support/mirror-process.ts';
import { RemoteServices } from '../support/remote-services.ts';

const [C2, C3, GLOBAL] = ['c2', 'c3', 'gl'].map((prefix) => `${prefix}-default-73736d-web`) as [string, string, string];
const cidrs = (text: string) => ({ 'semaphore.uw.io/allowed-pod-cidrs': text });

type Status = {
  readonly remotes: readonly { readonly name: string }[];
  readonly inventory: {
    readonly synced: boolean;
    readonly problem: string | null;
    readonly profiles: readonly {
      readonly profile: string;
      readonly cluster: string;
      readonly controlPlaneHealthy: string | null;
      readonly problem: string | null;
      readonly heldUntil: string | null;
    }[];
  };
};
const statusOf = async (mirror: MirrorProcess) => (await mirror.status()) as Status;
const namesIn = async (mirror: MirrorProcess) => (await statusOf(mirror)).remotes.map(({ name }) => name);
const profileOf = async (mirror: MirrorProcess, profile: string) =>
  (await statusOf(mirror)).inventory.profiles.find((each) => each.profile === profile);
const held = (mirror: MirrorProcess) => mirror.metric('semaphore_service_mirror_held_deletions', { remote: 'local' });
const skipped = (mirror: MirrorProcess, reason: string) =>
  mirror.metric('semaphore_service_mirror_skipped_objects', { remote: 'local', reason, kind: 'problem' });

/** Three clusters; c2 and c3 have a Service, and c1 an inventory, which is all that its config file says of remotes. */
const it = test
  .extend('names', { scope: 'file' }, ['c1', 'c2', 'c3'])
  .extend('world', { scope: 'file' }, async ({ names }, { onCleanup }) => {
    const set = await startSet({ names });
    onCleanup(() => set.stop());
    const [c1, c2, c3] = set.members.map(({ cluster }) => cluster) as [Cluster, Cluster, Cluster];
    type Cluster = (typeof set.members)[0]['cluster'];
    for (const [cluster, address] of [[c2, '10.4.0.1'] as const, [c3, '10.5.0.1'] as const]) {
      const sources = new RemoteServices(cluster);
      const labels = { global: 'true' };
      await sources.add({ name: 'web', labels });
      await sources.addSlice({ name: 'web-a', service: 'web', labels, endpoints: [address] });
    }
    await deployComponent(c1, folders.local, 'service-mirror/components/inventory');
    const inventory = new TestInventory(c1);
    const remotesFrom = await inventory.begin();
    const tokenOf = async (cluster: Cluster) => (await cluster.account('inventory-reader', remoteRules)).token;
    const tokens = { c2: await tokenOf(c2), c3: await tokenOf(c3) };
    const { remoteClusters: _, ...file } = await set.configOf('c1', {
      mcs: null,
      global: { globalSvcLabelSelector: 'global=true', serviceSync: true, endpointSliceSync: true },
    });
    const path = join(c1.dir, 'inventory.json');
    await writeFile(path, JSON.stringify({ ...file, remotesFrom }));
    const clusters = { c2, c3 };
    const add = (name: 'c2' | 'c3', more: object = {}) =>
      inventory.add({ cluster: clusters[name], token: tokens[name], annotations: cidrs('10.0.0.0/8'), ...more });
    return { set, c1, c3, inventory, add, path, mirrors: new LocalServices(c1) };
  })
  .extend('start', ({ world, task }, { onCleanup }) => {
    const started: MirrorProcess[] = [];
    onCleanup(async () => {
      await Promise.all(started.map((mirror) => mirror.stop('SIGKILL')));
      if (task.result?.state === 'fail') for (const { stderr } of started) console.error(stderr());
      await world.set.path('c1', 'c1').clear();
      await world.inventory.clear();
      await world.mirrors.clear();
    });
    return async (hold: string): Promise<MirrorProcess> => {
      const flags = ['-listen-address=127.0.0.1:0', `-deletion-guard-hold=${hold}`];
      const mirror = spawnMirror([`-config=${world.path}`, ...flags]);
      started.push(mirror);
      await mirror.ready();
      return mirror;
    };
  });

const both = { [C2]: ['10.4.0.1'], [C3]: ['10.5.0.1'], [GLOBAL]: ['10.4.0.1', '10.5.0.1'] };

describe('an inventory', () => {
  it('has remotes, which come and change while the program runs', async ({ world, start }) => {
    const { mirrors, add, inventory } = world;
    await add('c2');
    const mirror = await start('1h');
    expect(await namesIn(mirror)).toEqual(['c2']);
    await mirrors.become({ [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });

    // What its control plane is said to be changes nothing.
    const unhealthy = { type: 'ControlPlaneHealthy', status: 'False', reason: 'Lost', message: 'lost' };
    const status = { conditions: [{ ...unhealthy, lastTransitionTime: '2026-01-01T00:00:00Z' }] };
    await add('c3', { status });
    await mirrors.become(both);
    await mirror.logged('remotes of the inventory changed');
    expect(await profileOf(mirror, 'fleet/c3')).toEqual({
      profile: 'fleet/c3',
      cluster: 'c3',
      controlPlaneHealthy: 'False',
      problem: null,
      heldUntil: null,
    });

    await inventory.annotate('c3', cidrs('10.9.0.0/16'));
    await mirrors.become({ ...both, [C3]: [], [GLOBAL]: ['10.4.0.1'] });
    await inventory.annotate('c3', cidrs('10.5.0.0/16'));
    await mirrors.become(both);
    const plan = spawnMirror(['plan', '-o=json', `-config=${world.path}`]);
    expect([(await plan.exited).code, plan.stderr()]).toEqual([0, expect.not.stringContaining('error')]);
  });

  it('keeps a remote whose profile vanishes, for a while', async ({ world, start }) => {
    const { mirrors, add, inventory, c3 } = world;
    await add('c2');
    await add('c3');
    const mirror = await start('1h');
    await mirrors.become(both);
    await inventory.remove('c3');
    await eventually(() => held(mirror), 1);
    expect(await namesIn(mirror)).toEqual(['c2', 'c3']);
    expect((await profileOf(mirror, 'fleet/c3'))?.heldUntil).toMatch(/^20\d\d-/);
    // It is followed as before.
    const sources = new RemoteServices(c3);
    await sources.add({ name: 'later' });
    const later = { [C3.replace('web', 'later')]: [] };
    await mirrors.become({ ...both, ...later });
    await sources.clear();
    await mirrors.become(both);
    await add('c3');
    await eventually(() => held(mirror), 0);
    expect(mirror.log().filter(({ msg }) => msg === 'service deleted')).toHaveLength(1);
  });

  it('leaves what is here of a remote after that, as a config file does', async ({ world, start }) => {
    const { mirrors, add, inventory } = world;
    await add('c2');
    await add('c3');
    const mirror = await start('1s');
    await mirrors.become(both);
    const cleanup = async () => {
      const program = spawnMirror(['cleanup', '-cluster=c3', '-yes', `-config=${world.path}`]);
      return [(await program.exited).code, program.stderr()];
    };
    const refusal = 'c3 is in the inventory: remove its ClusterProfile fleet/c3 first';
    expect(await cleanup()).toEqual([2, `semaphore-service-mirror: ${refusal}\n`]);
    await inventory.remove('c3');
    await eventually(() => namesIn(mirror), ['c2']);
    // Its mirror with a slice, and its slice in a global Service.
    await eventually(() => mirror.metric('semaphore_service_mirror_orphans', { cluster: 'c3' }), 3);
    expect(await mirrors.endpoints()).toEqual(both);
    await add('c3');
    await eventually(() => mirror.metric('semaphore_service_mirror_orphans', { cluster: 'c3' }), 0);
    expect(await mirrors.endpoints()).toEqual(both);
    await inventory.remove('c3');
    await eventually(() => mirror.metric('semaphore_service_mirror_orphans', { cluster: 'c3' }), 3);
    expect(await cleanup()).toEqual([0, '']);
    await mirrors.become({ [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });
  });

  it('is refused what it may not have, with a reason', async ({ world, start }) => {
    const { mirrors, add, inventory } = world;
    const named = (value: string) => ({ status: { properties: [{ name: 'cluster.clusterset.k8s.io', value }] } });
    await add('c2');
    await add('c3', { annotations: {} });
    await add('c3', { name: 'other', ...named('c2') });
    await add('c3', { name: 'us', ...named('c1') });
    await add('c3', { name: 'bad', ...named('C 3\u202e') });
    await add('c3', { name: 'unknown', status: { accessProviders: [] } });
    const mirror = await start('1h');
    await mirrors.become({ [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });
    const { inventory: answer } = await statusOf(mirror);
    expect(answer.profiles.map(({ profile, problem }) => [profile, problem])).toEqual([
      ['fleet/bad', '"C 3\\u202e" is not a valid name of a cluster'],
      ['fleet/c2', null],
      ['fleet/c3', expect.stringContaining('no annotation semaphore.uw.io/allowed-pod-cidrs')],
      ['fleet/other', expect.stringContaining('name c2 is used twice')],
      ['fleet/unknown', expect.stringContaining('no access provider that ')],
      ['fleet/us', null],
    ]);
    expect([await skipped(mirror, 'profile-invalid'), await skipped(mirror, 'profile-refused')]).toEqual([3, 1]);
    await inventory.annotate('c3', cidrs('10.5.0.0/16'));
    await mirrors.become(both);
  });

  it('that can not be read is unknown, not empty', async ({ world, start }) => {
    const { mirrors, add, inventory, set } = world;
    await add('c2');
    const mirror = await start('1s');
    await mirrors.become({ [C2]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });
    const proxy = set.path('c1', 'c1');
    await proxy.set({ kind: 'answer', status: 403 }, { target: /clusterprofiles/ });
    await proxy.set({ kind: 'reset', connections: 'open' });
    await mirror.logged('inventory can not be read; its remotes stay as they are');
    expect((await statusOf(mirror)).inventory.problem).toContain('cannot list path');
    await add('c3');
    await inventory.remove('c2');
    expect(await namesIn(mirror)).toEqual(['c2']);
    await proxy.clear();
    await eventually(() => namesIn(mirror), ['c3']);
  });
});
