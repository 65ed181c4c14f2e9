import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itWithTwoRemotes } from './support/remotes.ts';
import { RemoteServices } from './support/remote-services.ts';

/** Services of three clusters, of which two are remote; `global=true` makes one global. */
const it = itWithTwoRemotes
  .extend('localSources', ({ local }, { onCleanup }) => {
    const sources = new RemoteServices(local);
    onCleanup(() => sources.clear());
    return sources;
  })
  .extend(
    'startGlobal',
    ({ startWithFile }) =>
      (global: object = {}, options?: Parameters<typeof startWithFile>[1]) =>
        startWithFile(
          { globalSvcLabelSelector: 'global=true', globalSvcRoutingStrategyLabel: 'local-first=true', ...global },
          options,
        ),
  );

const labels = { global: 'true', mirror: 'false' };
const web = { name: 'web', labels };
const slice = (name: string, ...endpoints: string[]) => ({ name, service: 'web', labels, endpoints });
type Hinted = {
  readonly addresses: readonly string[];
  readonly hints?: { readonly forZones: readonly { readonly name: string }[] };
};

const GLOBAL = 'gl-default-73736d-web';

describe('a global Service', () => {
  it('merges those of all clusters, and loses the part of a cluster with its Service', async ({
    sources,
    secondSources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await secondSources.add(web);
    await secondSources.addSlice(slice('web-a', '10.5.0.1'));
    await localSources.add(web);
    await localSources.addSlice(slice('web-a', '10.1.0.1'));
    await startGlobal();
    await mirrors.become({ [GLOBAL]: ['10.1.0.1', '10.4.0.1', '10.5.0.1'] });
    const annotations = async () => (await mirrors.service(GLOBAL)).metadata.annotations;
    await eventually(annotations, { 'global-svc-clusters': 'c1,c2,c2-a', 'mirror-svc-source': 'global/default/web' });
    expect((await mirrors.service(GLOBAL)).metadata.labels).toEqual({ 'global-svc': 'true' });

    await sources.remove('services', web);
    await sources.remove('endpointslices', { name: 'web-a' });
    await mirrors.become({ [GLOBAL]: ['10.1.0.1', '10.5.0.1'] });
    await eventually(async () => (await annotations())?.['global-svc-clusters'], 'c1,c2-a');
    await localSources.remove('services', web);
    await localSources.remove('endpointslices', { name: 'web-a' });
    await mirrors.become({ [GLOBAL]: ['10.5.0.1'] });
    await secondSources.remove('services', web);
    await mirrors.become({});
    await eventually(async () => (await mirrors.slices()).length, 0);
  });

  it('is reconciled once for each changed endpoint: the answer to its own write is no change', async ({
    sources,
    secondSources,
    mirrors,
    startGlobal,
  }) => {
    for (const [each, address] of [[sources, '10.4.0.1'] as const, [secondSources, '10.5.0.1'] as const]) {
      await each.add(web);
      await each.addSlice(slice('web-a', address));
    }
    const program = await startGlobal();
    await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.5.0.1'] });
    const adds = () => program.metric('semaphore_service_mirror_queue_adds_total', { name: 'c1-global-service' });
    const before = (await adds())!;
    for (const ip of Array.from({ length: 10 }, (_, i) => `10.4.0.${i + 2}`)) {
      await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: [ip] }] });
      await mirrors.become({ [GLOBAL]: [ip, '10.5.0.1'] });
    }
    // The first writes may be answered late, so no exact count; two reconciles for each would be 20.
    expect((await adds())! - before).toBeLessThan(15);
  });

  it('has slices without the labels of Services that have no selector, of any cluster', async ({
    sources,
    secondSources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    for (const each of [sources, secondSources, localSources]) await each.add({ ...web, selector: null });
    await sources.addHandMadeSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    await localSources.addHandMadeSlice({ name: 'web-a', service: 'web', endpoints: ['10.1.0.1'] });
    await startGlobal();
    await mirrors.become({ [GLOBAL]: ['10.1.0.1', '10.4.0.1'] });
    await secondSources.addHandMadeSlice({ name: 'web-b', service: 'web', endpoints: ['10.5.0.1'] });
    await sources.remove('endpointslices', { name: 'web-a' });
    await mirrors.become({ [GLOBAL]: ['10.1.0.1', '10.5.0.1'] });
  });

  it('has no targetRef, also of the local cluster, and hostnames of Pods if it is headless', async ({
    sources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    const pods = { c1: ['10.1.0.1', 'local-0'], c2: ['10.4.0.1', 'remote-0'] } as const;
    for (const [each, [address, name]] of [[localSources, pods.c1] as const, [sources, pods.c2] as const]) {
      await each.add({ ...web, headless: true });
      const targetRef = { kind: 'Pod', namespace: 'default', name };
      await each.addSlice({ name: 'web-a', service: 'web', labels, endpoints: [{ addresses: [address], targetRef }] });
    }
    await startGlobal();
    await mirrors.become({ [GLOBAL]: [pods.c1[0], pods.c2[0]] });
    const written = (await mirrors.slices()).flatMap(({ endpoints }) => endpoints ?? []);
    expect(written.map(({ addresses, hostname }) => `${addresses.join(' ')} ${String(hostname)}`).toSorted()).toEqual([
      '10.1.0.1 local-0',
      '10.4.0.1 remote-0',
    ]);
    expect(written.filter((endpoint) => 'targetRef' in endpoint)).toEqual([]);
  });

  it('has no part of a Service that is exported to other clusters only', async ({
    sources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    await sources.add({ ...web, labels: { ...labels, mirror: 'true' } });
    await sources.addSlice({ ...slice('web-a', '10.4.0.1'), labels: { ...labels, mirror: 'true' } });
    await localSources.add(web);
    await localSources.addSlice(slice('web-a', '10.1.0.1'));
    const exportTo = (list: string | null) =>
      sources.patch('services', web, { metadata: { annotations: { 'semaphore.uw.io/export-to': list } } });
    await exportTo('c1');
    const program = await startGlobal({ serviceSync: true });
    const both = { 'c2-default-73736d-web': ['10.4.0.1'], [GLOBAL]: ['10.1.0.1', '10.4.0.1'] };
    await mirrors.become(both);
    await exportTo('c3, region=eu');
    await mirrors.become({ [GLOBAL]: ['10.1.0.1'] });
    const skipped = () =>
      program.metric('semaphore_service_mirror_skipped_objects', {
        remote: 'c2',
        kind: 'expected',
        reason: 'not-exported-to-us',
      });
    await eventually(async () => ((await skipped()) ?? 0) > 0, true);
    await exportTo(null);
    await mirrors.become(both);
    await eventually(skipped, 0);
  });

  it('retains the part of a cluster that is not reached at the start', async ({
    sources,
    secondSources,
    secondProxy,
    mirrors,
    startGlobal,
  }) => {
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await secondSources.add(web);
    await secondSources.addSlice(slice('web-a', '10.5.0.1'));
    const first = await startGlobal();
    await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.5.0.1'] });
    await first.stop();
    await secondProxy.set({ kind: 'refuse' });
    await sources.addSlice(slice('web-b', '10.4.0.2'));
    const second = await startGlobal({}, { ready: false });
    await second.logged('services listed', { cluster: 'c2' });
    await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.4.0.2', '10.5.0.1'] });
    expect((await mirrors.service(GLOBAL)).metadata.annotations).toMatchObject({ 'global-svc-clusters': 'c2,c2-a' });
    await secondSources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.5.0.2'] }] });
    await secondProxy.clear();
    await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.4.0.2', '10.5.0.2'] });
  });

  it.for([
    { staleAction: 'unready', slices: 2 },
    { staleAction: 'remove', slices: 1 },
  ])(
    'does not use a stale cluster ($staleAction) until it is reached again',
    async ({ staleAction, slices }, { sources, secondSources, secondProxy, mirrors, startGlobal }) => {
      await sources.add(web);
      await sources.addSlice(slice('web-a', '10.4.0.1'));
      await secondSources.add(web);
      await secondSources.addSlice(slice('web-a', '10.5.0.1'));
      const program = await startGlobal({}, { ofSecond: { staleAfter: '500ms', staleAction } });
      await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.5.0.1'] });
      await secondProxy.set({ kind: 'refuse' });
      await mirrors.become({ [GLOBAL]: ['10.4.0.1'] });
      expect(await mirrors.slices(GLOBAL)).toHaveLength(slices);
      await program.logged('remote is stale in global services', { cluster: 'c2-a' });
      expect(await program.status()).toMatchObject({ remotes: [{ stale: false }, { name: 'c2-a', stale: true }] });
      await secondProxy.clear();
      await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.5.0.1'] });
    },
  );

  it('keeps a stale cluster if no other can take over', async ({
    secondSources,
    secondProxy,
    mirrors,
    startGlobal,
  }) => {
    await secondSources.add(web);
    await secondSources.addSlice(slice('web-a', '10.5.0.1'));
    const program = await startGlobal({}, { ofSecond: { staleAfter: '500ms' } });
    await mirrors.become({ [GLOBAL]: ['10.5.0.1'] });
    // Also logged for a remote that hasn't answered yet.
    const saidStale = () => program.log().filter(({ msg }) => msg === 'remote is stale in global services').length;
    const before = saidStale();
    await secondProxy.set({ kind: 'refuse' });
    await eventually(() => saidStale() > before, true);
    await mirrors.become({ [GLOBAL]: ['10.5.0.1'] });
  });

  it('has hints for all endpoints or for none', async ({ sources, localSources, mirrors, startGlobal }) => {
    await localSources.add(web);
    await localSources.addSlice(slice('web-a', '10.1.0.1'));
    await sources.add({ ...web, labels: { ...labels, 'local-first': 'true' } });
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    const first = await startGlobal({ globalSvcHints: 'labelled' });
    await mirrors.become({ [GLOBAL]: ['10.1.0.1', '10.4.0.1'] });
    // The local Service decides, by its age or its cluster's name, and doesn't ask for it.
    const hints = async (): Promise<Readonly<Record<string, readonly string[] | undefined>>> => {
      const endpoints = (await mirrors.slices(GLOBAL)).flatMap((each) => each.endpoints ?? []) as readonly Hinted[];
      return Object.fromEntries(
        endpoints.map(({ addresses, hints: of }) => [addresses[0]!, of?.forZones.map(({ name }) => name)]),
      );
    };
    await eventually(hints, { '10.1.0.1': undefined, '10.4.0.1': undefined });
    await first.stop();
    await startGlobal({ globalSvcHints: 'always' });
    await eventually(hints, { '10.1.0.1': ['local'], '10.4.0.1': ['remote'] });
  });
});
