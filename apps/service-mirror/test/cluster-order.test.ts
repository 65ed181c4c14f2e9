import { eventually } from '@kube-semaphore/eventually';
import { node } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { itWithTwoRemotes } from './support/remotes.ts';
import { RemoteServices } from './support/remote-services.ts';

/** Services of three clusters: `c1` is the local one, `c2` and `c2-a` are remote; `global=true` makes one global. */
const it = itWithTwoRemotes
  .extend('localSources', ({ local }, { onCleanup }) => {
    const sources = new RemoteServices(local);
    onCleanup(() => sources.clear());
    return sources;
  })
  .extend('nodes', { auto: true }, async ({ local }, { onCleanup }) => {
    await local.admin.create('/api/v1/nodes', node({ name: 'n1', zone: 'z1' }));
    onCleanup(() => local.admin.delete('/api/v1/nodes/n1'));
  })
  .extend(
    'startGlobal',
    ({ startWithFile }) =>
      (global: object = {}) =>
        startWithFile(
          { globalSvcLabelSelector: 'global=true', ...global },
          { ofSecond: { properties: { region: 'eu' } }, flags: ['-min-write-interval=0'] },
        ),
  )
  /** How the endpoint of each cluster is written: its conditions as digits (ready, serving, terminating), and its hints. */
  .extend('roles', ({ mirrors }) => async () => {
    const slices = (await mirrors.slices(GLOBAL)) as unknown as readonly Written[];
    return Object.fromEntries(
      slices.map(({ metadata: { labels }, endpoints: [endpoint] }) => {
        const { conditions, hints } = endpoint!;
        const digits = [conditions.ready, conditions.serving, conditions.terminating].map(Number).join('');
        const zones = hints?.forZones.map(({ name }) => name).join() ?? 'none';
        return [labels['mirror-endpointslice-sync-name'], `${digits} ${zones}`];
      }),
    );
  });

type Written = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly resourceVersion: string };
  readonly endpoints: readonly {
    readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
    readonly hints?: { readonly forZones: readonly { readonly name: string }[] };
  }[];
};

const GLOBAL = 'gl-default-73736d-web';
const labels = { global: 'true', mirror: 'false' };
const slice = (address: string, ready = true) => ({
  endpoints: [{ addresses: [address], conditions: { ready, serving: ready, terminating: false } }],
});
const addresses = { c1: '10.1.0.1', c2: '10.4.0.1', 'c2-a': '10.5.0.1' };

type Clusters = Record<'localSources' | 'sources' | 'secondSources', RemoteServices>;

/** Adds the Service to each cluster. All have the annotations, so whichever is the oldest decides the same. */
async function addAll({ localSources, sources, secondSources }: Clusters, annotations: object): Promise<void> {
  const all = [
    [localSources, addresses.c1],
    [sources, addresses.c2],
    [secondSources, addresses['c2-a']],
  ] as const;
  for (const [each, address] of all) {
    await each.add({ name: 'web', labels });
    await each.patch('services', { name: 'web' }, { metadata: { annotations } });
    await each.addSlice({ name: 'web-a', service: 'web', labels, ...slice(address) });
  }
}

describe('the order of clusters of a global Service', () => {
  it('makes the best one first, the next one second, and all others standbys, and moves the traffic on', async ({
    localSources,
    sources,
    secondSources,
    mirrors,
    roles,
    startGlobal,
  }) => {
    const text = 'region=eu; c2; local';
    await addAll({ localSources, sources, secondSources }, { 'semaphore.uw.io/cluster-order': text });
    await startGlobal();
    await eventually(roles, { 'c2-a': '110 z1', c2: '110 remote', c1: '011 remote' });
    const service = await mirrors.service(GLOBAL);
    expect(service.metadata.annotations).toMatchObject({ 'semaphore.uw.io/cluster-order': text });

    await secondSources.patch('endpointslices', { name: 'web-a' }, slice(addresses['c2-a'], false));
    await eventually(roles, { 'c2-a': '000 remote', c2: '110 z1', c1: '110 remote' });
    await sources.remove('endpointslices', { name: 'web-a' });
    await eventually(roles, { 'c2-a': '000 remote', c1: '110 z1' });
    await secondSources.patch('endpointslices', { name: 'web-a' }, slice(addresses['c2-a']));
    await eventually(roles, { 'c2-a': '110 z1', c1: '110 remote' });
    // Flips change slices, and never the Service.
    expect((await mirrors.service(GLOBAL)).metadata.resourceVersion).toBe(service.metadata.resourceVersion);
  });

  it('is overruled by the config, and gone with it', async ({
    localSources,
    sources,
    secondSources,
    mirrors,
    roles,
    startGlobal,
  }) => {
    await addAll({ localSources, sources, secondSources }, { 'semaphore.uw.io/cluster-order': 'local; *' });
    const first = await startGlobal({ clusterOrder: { '*': 'local', 'default/web': 'c2; local' } });
    await eventually(roles, { c2: '110 z1', c1: '110 remote' });
    await first.stop();
    const second = await startGlobal();
    await eventually(roles, { c1: '110 z1', c2: '110 remote', 'c2-a': '110 remote' });
    await second.stop();
    for (const each of [localSources, sources, secondSources])
      await each.patch(
        'services',
        { name: 'web' },
        { metadata: { annotations: { 'semaphore.uw.io/cluster-order': null } } },
      );
    await startGlobal({ globalSvcHints: 'labelled' });
    await eventually(roles, { c1: '110 none', c2: '110 none', 'c2-a': '110 none' });
    const { annotations = {} } = (await mirrors.service(GLOBAL)).metadata;
    expect(Object.keys(annotations).toSorted()).toEqual(['global-svc-clusters', 'mirror-svc-source']);
    expect((await mirrors.slices(GLOBAL)).flatMap((each) => Object.keys(each.metadata.annotations ?? {}))).toEqual(
      Array.from({ length: 3 }, () => 'mirror-svc-source'),
    );
  });

  it('is ignored if it is not valid, with a reason', async ({
    localSources,
    sources,
    secondSources,
    roles,
    startGlobal,
  }) => {
    await addAll({ localSources, sources, secondSources }, { 'semaphore.uw.io/cluster-order': 'lo cal' });
    const program = await startGlobal({ globalSvcHints: 'labelled' });
    await eventually(roles, { c1: '110 none', c2: '110 none', 'c2-a': '110 none' });
    await program.logged('skipped', { cluster: 'c2', subject: 'global service default/web', reason: 'bad-annotation' });
  });

  it('survives a restart while a standby is not reached', async ({
    localSources,
    sources,
    secondSources,
    secondProxy,
    roles,
    startGlobal,
  }) => {
    await addAll({ localSources, sources, secondSources }, { 'semaphore.uw.io/cluster-order': 'local; c2; *' });
    const first = await startGlobal();
    await eventually(roles, { c1: '110 z1', c2: '110 remote', 'c2-a': '011 remote' });
    await first.stop();
    await secondProxy.set({ kind: 'refuse' });
    await localSources.patch('endpointslices', { name: 'web-a' }, slice(addresses.c1, false));
    await sources.patch('endpointslices', { name: 'web-a' }, slice(addresses.c2, false));
    await startGlobal();
    await eventually(roles, { c1: '000 remote', c2: '000 remote', 'c2-a': '110 z1' });
  });
});
