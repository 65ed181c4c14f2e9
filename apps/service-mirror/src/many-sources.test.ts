import { WaitingWrites } from '@kube-semaphore/multicluster';
import { describe, expect, it, vi } from 'vitest';
import { exported } from '../test/mcs/arbitraries.ts';
import { importInput, sliceOf } from '../test/mcs/inputs.ts';
import { changed as objectsAfter } from '../test/mcs/observed.ts';
import { Simulation } from '../test/simulation.ts';
import type { ObservedSlice } from './endpoints/desired/observed.ts';
import type { SourceService, SourceSlice } from './endpoints/desired/source.ts';
import { nextChanges, type ObservedObjects } from './imports/desired/changes.ts';
import type { RoutingContext } from './endpoints/desired/routing/route.ts';
import { LOCAL_FIRST } from './endpoints/desired/routing/order.ts';
import { desiredImport, type Exporter } from './imports/desired/import.ts';
import { Decisions } from './endpoints/decisions.ts';
import type { GlobalParticipant } from './services/desired/globals/service.ts';
import { type GlobalSource, globalTarget, undisputedPart } from './services/desired/globals/target.ts';
import { globalServiceName } from './names.ts';
import { ServiceReconciler } from './services/reconciler.ts';

/** Counts how often something reads the endpoints of slices, which no decision about a slice is made without. */
class Reads {
  count = 0;
  readonly #counted = new WeakMap<SourceSlice | ObservedSlice, unknown>();

  /** The same object for the same slice. */
  of<S extends SourceSlice | ObservedSlice>(slice: S): S {
    const known = this.#counted.get(slice);
    if (known !== undefined) return known as S;
    const read = (): S['endpoints'] => {
      this.count += 1;
      return slice.endpoints;
    };
    const counted = Object.defineProperty({ ...slice }, 'endpoints', { enumerable: true, get: read });
    this.#counted.set(slice, counted);
    return counted;
  }

  /** How many there are while something runs. */
  async during(run: () => unknown): Promise<number> {
    this.count = 0;
    await run();
    return this.count;
  }
}

/** The same list, as that of an app. */
const FAMILIES = ['IPv4'] as const;

const clustersOf = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `c${i}`);

const sliceWith = (address: string): SourceSlice => {
  const slice = sliceOf('web-abc');
  return { ...slice, endpoints: slice.endpoints.map((endpoint) => ({ ...endpoint, address })) };
};

type Case = {
  readonly routing: RoutingContext;
  /** Whether all clusters decide again, as if more than endpoints had changed. */
  readonly isDecidedAgain: boolean;
};

/** How many slices are read for one change of the global Service of so many clusters, with one more reconcile after it. */
async function readsOfGlobal(count: number, { routing, isDecidedAgain }: Case): Promise<number> {
  const reads = new Reads();
  const decisions = new Decisions<GlobalParticipant>({ enqueue: () => {}, enqueueAll: () => {} });
  const { local } = new Simulation();
  const known = {
    isSynced: () => true,
    service: (name: string) => local.service(name),
    slice: (name: string) => {
      const slice = local.slice(name);
      return slice && reads.of(slice);
    },
    slices: (name: string) => local.slices(name).map((slice) => reads.of(slice)),
    endpoints: () => undefined,
  };
  const service: SourceService = {
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    createdAt: 0,
    definition: { ...exported('c1').definition, publishNotReadyAddresses: false },
    hasSelector: true,
    localFirst: false,
  };
  const sourceOf = (cluster: string, address: string): GlobalSource => ({
    cluster,
    isLocal: false,
    stale: 'no',
    source: { known: true, service: { ...service }, slices: [reads.of(sliceWith(address))], skipped: [] },
  });
  let clusters = clustersOf(count).map((cluster) => sourceOf(cluster, '10.4.0.1'));
  const writes: string[] = [];
  const reconciler = new ServiceReconciler({
    local: known,
    targets: {
      part: (_, cluster) =>
        undisputedPart(
          clusters.find((source) => source.cluster === cluster)!,
          {
            namespace: 'mirrors',
            name: globalServiceName('shop', 'web'),
            families: FAMILIES,
          },
        ),
      target: () =>
        globalTarget(
          { namespace: 'shop', name: 'web' },
          {
            clusters,
            local: known,
            mirrorNamespace: 'mirrors',
            families: FAMILIES,
            retainsUnseen: false,
            hints: 'labelled',
            zones: ['z1'],
            routing,
          },
        ),
    },
    decisions,
    keys: { claimants: () => [], sourcesOf: () => [], forgetSeen: () => undefined },
    write: (change) => {
      writes.push(change.kind);
      return Promise.resolve(local.apply(change) as never);
    },
    clusters: { diagnose: () => {} },
  });
  const waiting = new WaitingWrites({ onFailure: ({ error }) => expect.fail(String(error)), onDue: () => {} });
  const key = 'global/shop/web';
  const reconcile = async () => {
    const begun = waiting.begin(key, { since: 0 });
    await reconciler.reconcile(key, { signal: new AbortController().signal, since: 0, writes: begun });
    waiting.end(begun);
  };
  await reconcile();
  decisions.enqueue([key]);
  await reconcile();
  expect(writes).toHaveLength(count + 1);
  const [first, ...others] = clusters;
  clusters = [{ ...first!, source: { ...first!.source, slices: [reads.of(sliceWith('10.4.0.2'))] } }, ...others];
  if (isDecidedAgain) decisions.enqueue([key]);
  else decisions.enqueueSlices([key], first!.cluster, 0);
  const found = await reads.during(async () => {
    await reconcile();
    await reconcile();
  });
  expect(writes.slice(count + 1)).toEqual(['update-slice']);
  return found;
}

/** The same for an import about which all clusters decide again. */
async function readsOfImport(count: number, { routing }: Pick<Case, 'routing'>): Promise<number> {
  const reads = new Reads();
  const exporterOf = (cluster: string, address: string): Exporter => ({
    ...exported(cluster),
    isLocal: false,
    stale: 'no',
    slices: [reads.of(sliceWith(address))],
  });
  let exporters = clustersOf(count).map((cluster) => exporterOf(cluster, '10.4.0.1'));
  let objects: ObservedObjects = { serviceImport: undefined, service: undefined, slices: [] };
  const reconcile = (): readonly string[] => {
    const { wanted } = desiredImport(importInput(exporters, { routing }));
    if (typeof wanted === 'string') return [wanted];
    const changes = nextChanges({ ...objects, slices: objects.slices.map((each) => reads.of(each)) }, wanted, 'now');
    for (const change of changes) objects = objectsAfter(objects, change);
    return changes.map(({ kind }) => kind);
  };
  for (let steps = 0; reconcile().length > 0; steps++) expect(steps).toBeLessThan(10);
  const [first, ...others] = exporters;
  exporters = [{ ...first!, slices: [reads.of(sliceWith('10.4.0.2'))] }, ...others];
  const written: (readonly string[])[] = [];
  const found = await reads.during(() => written.push(reconcile(), reconcile()));
  expect(written).toEqual([['update-slice'], []]);
  return found;
}

const withoutOrder: RoutingContext = {
  local: 'c1',
  properties: new Map(),
  order: undefined,
  hasAllZones: true,
  down: new Map(),
  nowMs: 0,
};

describe.each([
  { name: 'a global Service', readsOf: readsOfGlobal, isDecidedAgain: false },
  { name: 'a global Service about which all decide again', readsOf: readsOfGlobal, isDecidedAgain: true },
  { name: 'an import about which all decide again', readsOf: readsOfImport, isDecidedAgain: true },
])('a changed endpoint of $name', ({ readsOf, isDecidedAgain }) => {
  it.each([
    { what: 'no order of clusters', routing: withoutOrder },
    { what: 'an order', routing: { ...withoutOrder, order: LOCAL_FIRST } },
  ])('costs as many reads of slices with fifty sources as with two, with $what', async ({ routing }) => {
    const few = await readsOf(2, { routing, isDecidedAgain });
    expect(few).toBeGreaterThan(0);
    expect(await readsOf(50, { routing, isDecidedAgain })).toBe(few);
  });
});

it('waits for the writes of fifty sources once, and not once for each of them', async () => {
  const all = vi.spyOn(Promise, 'all');
  await readsOfGlobal(50, { routing: { ...withoutOrder, order: LOCAL_FIRST }, isDecidedAgain: true });
  const waitedFor = all.mock.calls.map(([promises]) => [...promises].length);
  all.mockRestore();
  // Of one reconcile that writes them all: fallbacks wait for others, deletes for writes, and each for what is written for it.
  expect(waitedFor.reduce((sum, count) => sum + count, 0)).toBeLessThan(10 * 50);
});
