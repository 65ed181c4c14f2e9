import { node } from '@kube-semaphore/testkit';
import { itWithTwoRemotes } from './remotes.ts';
import { RemoteServices } from './remote-services.ts';

/** Services of three clusters: `c1` is the local one, `c2` and `c2-a` are remote; `global=true` makes one global. */
export const itWithRoles = itWithTwoRemotes
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

/** The global Service of `addAll`. */
export const GLOBAL = 'gl-default-73736d-web';
const labels = { global: 'true', mirror: 'false' };
/** A slice with one endpoint. */
export const slice = (address: string, ready = true) => ({
  endpoints: [{ addresses: [address], conditions: { ready, serving: ready, terminating: false } }],
});
/** The endpoint of each cluster. */
export const addresses = { c1: '10.1.0.1', c2: '10.4.0.1', 'c2-a': '10.5.0.1' };

/** The Services of each cluster. */
export type Sources = Record<'localSources' | 'sources' | 'secondSources', RemoteServices>;

/** Adds the Service to each cluster. All have the annotations, so whichever is the oldest decides the same. */
export async function addAll({ localSources, sources, secondSources }: Sources, annotations: object): Promise<void> {
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
