import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { clusterPropertiesPath, clusterPropertyCrd } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { addAll, addresses, GLOBAL, itWithRoles as it, slice } from './support/roles.ts';

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

  it('names properties that clusters say themselves, which the config overrules', async ({
    local,
    remote,
    second,
    localSources,
    sources,
    secondSources,
    secondProxy,
    roles,
    startGlobal,
  }) => {
    const all = { localSources, sources, secondSources };
    await addAll(all, { 'semaphore.uw.io/cluster-order': 'region=us; planet=same; region=eu' });
    for (const each of [local, remote, second]) await each.defineResource(clusterPropertyCrd);
    await say(local, 'planet', 'earth');
    await say(remote, 'region', 'us');
    await say(second, 'region', 'us');
    await say(second, 'planet', 'mars');
    const first = await startGlobal();
    await eventually(roles, { c2: '110 z1', c1: '110 remote', 'c2-a': '011 remote' });

    const annotations = { 'semaphore.uw.io/cluster-order': 'local; planet=mars' };
    for (const each of Object.values(all)) await each.patch('services', { name: 'web' }, { metadata: { annotations } });
    await eventually(roles, { c1: '110 z1', 'c2-a': '110 remote' });
    await first.stop();

    // c2-a can't say that it is still on mars.
    await secondProxy.set({ kind: 'refuse' });
    await localSources.patch('endpointslices', { name: 'web-a' }, slice(addresses.c1, false));
    await startGlobal();
    await eventually(roles, { c1: '000 remote', 'c2-a': '110 z1' });
  });
});

const say = ({ admin }: Pick<TestCluster, 'admin'>, name: string, value: string) =>
  admin.create(clusterPropertiesPath, {
    apiVersion: 'about.k8s.io/v1beta1',
    kind: 'ClusterProperty',
    metadata: { name },
    spec: { value },
  });
