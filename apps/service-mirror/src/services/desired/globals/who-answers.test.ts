import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usedByKubeProxy } from '../../../../test/support/kube-proxy-rule.ts';
import { globalServiceName } from '../../../names.ts';
import { NOTHING_RETAINED, type Retained } from '../../../endpoints/desired/merged/retained.ts';
import { globalSlices } from '../../../endpoints/desired/merged/slices.ts';
import { desiredGlobal, type GlobalInput, type GlobalParticipant } from './service.ts';
import type { DesiredSlice } from '../../../endpoints/desired/objects.ts';
import type { Endpoint } from '../../../endpoints/desired/source.ts';
import { type ClusterOrder, type MinReady, parseClusterOrder } from '../../../endpoints/desired/routing/order.ts';
import { type DownLevels, NO_LEVELS, UP_AFTER_MS } from '../../../endpoints/desired/routing/who-answers.ts';

/** `ready`, `leaving` (serving, and terminating) or `broken` (not serving). */
type State = 'ready' | 'leaving' | 'broken';

type Cluster = {
  readonly cluster: string;
  readonly region: string | undefined;
  readonly isDrained: boolean;
  readonly isStale: boolean;
  /** It was known, and isn't since the program started again: what is there of it stays. */
  readonly isUnknown: boolean;
  /** Of its endpoints, by slice. */
  readonly slices: readonly (readonly State[])[];
};

type World = {
  readonly order: string;
  readonly minReady: MinReady | undefined;
  readonly hasAllZones: boolean;
  readonly headless: boolean;
  readonly clusters: readonly Cluster[];
};

const CONDITIONS = {
  ready: { ready: true, serving: true, terminating: false },
  leaving: { ready: false, serving: true, terminating: true },
  broken: { ready: false, serving: false, terminating: false },
};

const LOCAL = 'c1';

function participant({ cluster, isStale, slices }: Cluster, at: number, headless: boolean): GlobalParticipant {
  const definition = {
    headless,
    families: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: undefined, appProtocol: undefined }],
    affinitySeconds: undefined,
    publishNotReadyAddresses: false,
  } as const;
  return {
    cluster,
    isLocal: cluster === LOCAL,
    stale: isStale ? 'unready' : 'no',
    service: {
      uid: 'u',
      namespace: 'shop',
      name: 'web',
      createdAt: at,
      definition,
      hasSelector: true,
      localFirst: false,
    },
    slices: slices.map((states, i) => ({
      uid: 'u',
      namespace: 'shop',
      name: `web-${i}`,
      service: 'web',
      family: 'IPv4',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, appProtocol: undefined }],
      endpoints: states.map((state, j) => ({
        address: `${cluster}-${i}-${j}`,
        otherAddresses: undefined,
        conditions: CONDITIONS[state],
        hostname: undefined,
        nodeName: undefined,
        zone: undefined,
        zones: undefined,
      })),
    })),
  };
}

const orderOf = (text: string): ClusterOrder => {
  const order = parseClusterOrder(text);
  if (!order.ok) throw new Error(order.reason);
  return order.value;
};

/** The part of the clusters that are unknown now. It has no roles: see `retainedSlice`. */
function retainedOf(
  clusters: readonly Cluster[],
  participants: readonly GlobalParticipant[],
  wish: GlobalParticipant['service']['wish'],
): Retained {
  const unknown = participants.filter((_, i) => clusters[i]!.isUnknown);
  const [first] = unknown;
  if (first === undefined) return NOTHING_RETAINED;
  const { definition, localFirst } = first.service;
  const service = { definition, localFirst, wish, conflicts: [] };
  return {
    clusters: unknown.map(({ cluster, isLocal, slices: own }) => ({
      cluster,
      isLocal,
      slices: globalSlices(
        { cluster, isLocal, slices: own },
        {
          service: globalServiceName('shop', 'web'),
          definition,
          portNames: new Map([['http', 'http']]),
          zones: undefined,
        },
      ).slices,
    })),
    service,
  };
}

/** What is written, and what is left for the next decision. */
function written(world: World, { down = NO_LEVELS, nowMs = 0 }: { down?: DownLevels; nowMs?: number } = {}) {
  const { order, minReady, hasAllZones, headless, clusters } = world;
  const wish = { order: orderOf(order), minReady };
  const all = clusters.map((each, i) => participant(each, i, headless));
  const participants = all.map((each, i) => (i === 0 ? { ...each, service: { ...each.service, wish } } : each));
  const input: GlobalInput = {
    namespace: 'shop',
    name: 'web',
    participants: participants.filter((_, i) => !clusters[i]!.isUnknown),
    retained: retainedOf(clusters, participants, wish),
    hints: 'labelled',
    zones: ['a', 'b'],
    routing: {
      local: LOCAL,
      properties: new Map(
        clusters.map(({ cluster, region }) => [cluster, new Map(region === undefined ? [] : [['region', region]])]),
      ),
      order: undefined,
      hasAllZones,
      drained: new Set(clusters.filter(({ isDrained }) => isDrained).map(({ cluster }) => cluster)),
      down,
      nowMs,
    },
  };
  const { wanted, state } = desiredGlobal(input);
  if (typeof wanted === 'string') throw new Error(`the Service is ${wanted}`);
  return { slices: wanted.slices, down: state?.down ?? NO_LEVELS };
}

const endpointsOf = (slices: readonly DesiredSlice[]): readonly Endpoint[] =>
  slices.flatMap(({ endpoints }) => endpoints);

/** The addresses that answer: on a Node, by kube-proxy; or in DNS, which knows only what is ready. */
function answering(slices: readonly DesiredSlice[], { hasAllZones, headless }: World): readonly string[] {
  const all = endpointsOf(slices);
  const used = headless
    ? all.filter(({ conditions }) => conditions.ready)
    : usedByKubeProxy(all, hasAllZones ? 'b' : undefined);
  return used.map(({ address }) => address).toSorted();
}

/** By the words of the page: the first level that names the cluster, or else that of `*`. */
function levelOf({ cluster, region }: Cluster, { order, clusters }: World): number {
  const here = clusters.find((each) => each.cluster === LOCAL)?.region;
  const isNamed = (term: string): boolean =>
    term === cluster ||
    (term === 'local' && cluster === LOCAL) ||
    (region !== undefined && (term === `region=${region}` || (term === 'region=same' && region === here)));
  const levels = order.split('; ').map((level) => level.split(', '));
  const named = levels.findIndex((terms) => terms.some(isNamed));
  return named === -1 ? levels.findIndex((terms) => terms.includes('*')) : named;
}

const statesOf = ({ slices }: Cluster): readonly State[] => slices.flat();
const has = (clusters: readonly Cluster[], state: State): boolean =>
  clusters.some((each) => statesOf(each).includes(state));

/** Whether a level has enough ready endpoints. */
function isEnough(clusters: readonly Cluster[], minReady: MinReady | undefined): boolean {
  const states = clusters.flatMap(statesOf);
  const ready = states.filter((state) => state === 'ready').length;
  if (minReady === undefined || ready === 0) return ready > 0;
  if ('count' in minReady) return ready >= minReady.count;
  return ready * 100 >= states.filter((state) => state !== 'leaving').length * minReady.percent;
}

/** The addresses of clusters' endpoints in a state. */
const addressesOf = (clusters: readonly Cluster[], wanted: State): readonly string[] =>
  clusters
    .flatMap(({ cluster, slices }) =>
      slices.flatMap((states, i) => states.flatMap((state, j) => (state === wanted ? [`${cluster}-${i}-${j}`] : []))),
    )
    .toSorted();

const active = (clusters: readonly Cluster[]) => clusters.filter(({ isDrained, isStale }) => !isDrained && !isStale);

/** The clusters of each level, without those that no level has. */
function byLevel(world: World): readonly (readonly Cluster[])[] {
  return world.order.split('; ').map((_, level) => world.clusters.filter((each) => levelOf(each, world) === level));
}

/**
 * Who should answer.
 *
 * @param isUp whether a level is up
 */
function expected(world: World, isUp: (level: number) => boolean): readonly string[] {
  const levels = byLevel(world);
  const all = levels.flat();
  const actives = levels.map(active);
  const drained = levels.map((own) => own.filter(({ isDrained, isStale }) => isDrained && !isStale));
  const stale = levels.map((own) => own.filter(({ isStale }) => isStale));
  const best =
    actives.find((own, level) => isUp(level) && has(own, 'ready')) ??
    [...actives, ...drained, ...stale].find((own) => has(own, 'ready'));
  if (best !== undefined) return addressesOf(best, 'ready');
  return world.headless ? [] : addressesOf(all, 'leaving');
}

const state = fc.constantFrom<State>('ready', 'leaving', 'broken');
const slices = fc.array(fc.array(state, { maxLength: 3 }), { maxLength: 2 });
const clusterNamed = (cluster: string): fc.Arbitrary<Cluster> =>
  fc
    .record({
      cluster: fc.constant(cluster),
      region: fc.constantFrom('eu', 'us', undefined),
      isDrained: fc.constantFrom(false, false, false, true),
      // The local one is never lost.
      isUnknown: fc.constantFrom(false, false, false, true),
      isStale: cluster === LOCAL ? fc.constant(false) : fc.constantFrom(false, false, false, true),
      slices,
    })
    // What is stale was known, and wasn't seen since.
    .map((each) => ({ ...each, isUnknown: each.isUnknown && !each.isStale }));
const term = fc.constantFrom(
  'local',
  '*',
  'c1',
  'c2',
  'c3',
  'c4',
  'region=eu',
  'region=us',
  'region=same',
  'planet=same',
);
const order = fc
  .array(fc.array(term, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 5 })
  .map((levels) => levels.map((terms) => terms.join(', ')).join('; '));
const minReady = fc.option(
  fc.oneof(
    fc.record({ count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ percent: fc.integer({ min: 1, max: 100 }) }),
  ),
  { nil: undefined },
);
const clusters = fc
  .tuple(...['c1', 'c2', 'c3', 'c4'].map(clusterNamed))
  .chain((all) => fc.subarray([...all], { minLength: 1 }));
const world: fc.Arbitrary<World> = fc.record({
  order,
  minReady,
  hasAllZones: fc.constantFrom(true, true, false),
  headless: fc.constantFrom(false, false, false, true),
  clusters,
});

describe('with any order of clusters, in any state', () => {
  it('the best level that is up answers, and alone', () => {
    fc.assert(
      fc.property(world, (any) => {
        const levels = byLevel(any).map(active);
        const isUp = (level: number): boolean => isEnough(levels[level]!, any.minReady);
        expect(answering(written(any).slices, any)).toEqual(expected(any, isUp));
      }),
      { numRuns: 1_000 },
    );
  });

  it('some endpoint answers while a cluster of the order has one that serves', () => {
    fc.assert(
      fc.property(world, (any) => {
        fc.pre(!any.headless);
        const inOrder = byLevel(any).flat();
        const serves = has(inOrder, 'ready') || has(inOrder, 'leaving');
        expect(answering(written(any).slices, any).length > 0).toBe(serves);
      }),
      { numRuns: 1_000 },
    );
  });

  it('no endpoint that is broken, or of a cluster that no level has, ever answers', () => {
    fc.assert(
      fc.property(world, fc.constantFrom('a', 'b', 'c', undefined), (any, zone) => {
        const serving = byLevel(any)
          .flat()
          .flatMap((each) => [...addressesOf([each], 'ready'), ...addressesOf([each], 'leaving')]);
        const all = endpointsOf(written(any).slices);
        // Also if those that are used now disappear one by one, as they do while no program of ours runs.
        for (let left = all; left.length > 0;) {
          const used = usedByKubeProxy(left, zone);
          for (const { address } of used) expect(serving).toContain(address);
          if (used.length === 0) break;
          left = left.filter((each) => !used.includes(each));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A world that changes: one cluster after the other gets other endpoints. */
const history = fc.record({
  start: world,
  steps: fc.array(
    fc.record({ cluster: fc.nat(3), slices, afterMs: fc.constantFrom(0, 1_000, 10_000, 29_999, UP_AFTER_MS, 60_000) }),
    { minLength: 1, maxLength: 12 },
  ),
});

const changed = (before: World, { cluster, slices: now }: { cluster: number; slices: Cluster['slices'] }): World => ({
  ...before,
  clusters: before.clusters.map((each, i) =>
    i === cluster % before.clusters.length ? { ...each, slices: now } : each,
  ),
});

describe('while clusters come and go', () => {
  it('a level that had too few ready endpoints is up when it has had enough for 30 s', () => {
    fc.assert(
      fc.property(history, ({ start, steps }) => {
        let [now, nowMs, down] = [start, 0, NO_LEVELS];
        // Since when each level has enough; undefined: it hasn't. From the start, it had.
        const since = new Map<number, number | undefined>();
        for (const step of [{ cluster: 0, slices: start.clusters[0]!.slices, afterMs: 0 }, ...steps]) {
          [now, nowMs] = [changed(now, step), nowMs + step.afterMs];
          const levels = byLevel(now).map(active);
          for (const [level, own] of levels.entries()) {
            if (!isEnough(own, now.minReady)) since.set(level, undefined);
            else if (since.has(level)) since.set(level, since.get(level) ?? nowMs);
            else since.set(level, -Infinity);
          }
          const made = written(now, { down, nowMs });
          ({ down } = made);
          const isUp = (level: number): boolean =>
            isEnough(levels[level]!, now.minReady) &&
            (now.minReady === undefined || nowMs - since.get(level)! >= UP_AFTER_MS);
          expect(answering(made.slices, now)).toEqual(expected(now, isUp));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('of clusters that stay as they are, only slices with other conditions or hints are written', () => {
    fc.assert(
      fc.property(history, ({ start, steps }) => {
        const before = new Map(written(start).slices.map((slice) => [slice.name, slice]));
        const flip = start.clusters[steps[0]!.cluster % start.clusters.length]!;
        for (const to of written(changed(start, steps[0]!)).slices) {
          const from = before.get(to.name);
          const isOfFlip = to.labels['mirror-endpointslice-sync-name'] === flip.cluster;
          if (from === undefined || isOfFlip || JSON.stringify(from) === JSON.stringify(to)) continue;
          expect(from.endpoints).not.toEqual(to.endpoints);
        }
      }),
    );
  });

  it('some endpoint answers while only some of the slices are written', () => {
    const partly = fc.record({ changes: history, isWritten: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }) });
    fc.assert(
      fc.property(partly, ({ changes: { start, steps }, isWritten }) => {
        fc.pre(!start.headless);
        const after = changed(start, steps[0]!);
        const [from, to] = [written(start).slices, written(after).slices];
        const names = [...new Set([...from, ...to].map(({ name }) => name))].toSorted();
        const mixed = names.flatMap((name, i) =>
          (isWritten[i] === true ? to : from).filter((each) => each.name === name),
        );
        const serving = (of: World): ReadonlySet<string> => {
          // What is stale has been replaced, and returns only with its own write.
          const own = byLevel(of)
            .flat()
            .filter(({ isStale }) => !isStale);
          return new Set([...addressesOf(own, 'ready'), ...addressesOf(own, 'leaving')]);
        };
        const stays = [...serving(start)].filter((address) => serving(after).has(address));
        expect(answering(mixed, start).length > 0 || stays.length === 0).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a flip', () => {
  const cluster = (name: string, ...states: State[]): Cluster => ({
    cluster: name,
    region: undefined,
    isDrained: false,
    isStale: false,
    isUnknown: false,
    slices: states.map((each) => [each]),
  });
  const base: World = {
    order: 'local; c2; c3; c4',
    minReady: undefined,
    hasAllZones: true,
    headless: false,
    clusters: [
      cluster('c1', 'ready', 'broken'),
      cluster('c2', 'ready', 'broken'),
      cluster('c3', 'ready'),
      cluster('c4', 'ready'),
    ],
  };

  /** The clusters whose slices are written, each as often as it has such slices. */
  const writesOf = (before: World, after: World): readonly string[] => {
    const known = new Map(written(before).slices.map((slice) => [slice.name, JSON.stringify(slice)]));
    return written(after)
      .slices.filter((slice) => known.get(slice.name) !== JSON.stringify(slice))
      .map(({ labels }) => labels['mirror-endpointslice-sync-name']!)
      .toSorted();
  };

  it.each([
    { name: 'of the last one: its own slice', flip: cluster('c4', 'broken'), want: ['c4'] },
    {
      name: 'of the second: its own ready slice, and the next one',
      flip: cluster('c2', 'broken', 'broken'),
      want: ['c2', 'c3'],
    },
    {
      name: 'of the first: its own ready slice, and the two that take over',
      flip: cluster('c1', 'broken', 'broken'),
      want: ['c1', 'c2', 'c3'],
    },
    { name: 'of one endpoint among several: its own slice', flip: cluster('c1', 'ready', 'ready'), want: ['c1'] },
  ])('writes, $name', ({ flip, want }) => {
    const after = { ...base, clusters: base.clusters.map((each) => (each.cluster === flip.cluster ? flip : each)) };
    expect(writesOf(base, after)).toEqual(want);
  });
});
