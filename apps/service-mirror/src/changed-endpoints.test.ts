import { compareNames } from '@kube-semaphore/naming';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as arbitrary from '../test/arbitraries.ts';
import { exportsOfClusters } from '../test/mcs/arbitraries.ts';
import { importInput } from '../test/mcs/inputs.ts';
import { clusterOfSlice } from './endpoints/desired/diff/slice-parts.ts';
import { type Decision, isOfDecision, type Part } from './endpoints/desired/merged/decision.ts';
import { NOTHING_RETAINED } from './endpoints/desired/merged/retained.ts';
import type { DesiredObjects } from './endpoints/desired/objects.ts';
import { type ClusterOrder, EVERYWHERE, LOCAL_FIRST } from './endpoints/desired/routing/order.ts';
import type { RoutingContext } from './endpoints/desired/routing/route.ts';
import type { SourceSlice } from './endpoints/desired/source.ts';
import { desiredImport, type Exporter } from './imports/desired/import.ts';
import { desiredGlobal, type GlobalParticipant } from './services/desired/globals/service.ts';

const clusters = ['c1', 'c2', 'c3'];
const where = { namespace: 'shop', service: 'web', name: 'web' };
const slices = fc.uniqueArray(arbitrary.slice(where), { selector: ({ name }) => name, minLength: 1, maxLength: 3 });
const stale = fc.constantFrom('no' as const, 'no' as const, 'unready' as const, 'remove' as const);
const onlyTwo: ClusterOrder = ['c3', 'c2'].map((cluster) => ({ text: cluster, terms: [{ kind: 'cluster', cluster }] }));

const routing: fc.Arbitrary<RoutingContext> = fc.record({
  local: fc.constant('c1'),
  properties: fc.constant(new Map()),
  order: fc.constantFrom(undefined, undefined, LOCAL_FIRST, EVERYWHERE, onlyTwo),
  hasAllZones: fc.boolean(),
  drained: fc.uniqueArray(fc.constantFrom(...clusters), { maxLength: 2 }).map((names) => new Set(names)),
  down: fc.constant(new Map()),
  nowMs: fc.constant(0),
});

/** A part with other endpoints, and its slices in another order. */
function withEndpoints<P extends Part>(part: P, endpoints: readonly SourceSlice[]): P {
  const changed = part.slices.map((slice) => {
    const other = endpoints.find(({ name, family }) => name === slice.name && family === slice.family);
    return other === undefined ? slice : { ...slice, endpoints: other.endpoints, pods: other.pods };
  });
  return { ...part, slices: changed.toReversed() };
}

const participants: fc.Arbitrary<GlobalParticipant[]> = fc.tuple(
  ...clusters.map((cluster) =>
    fc.record({
      cluster: fc.constant(cluster),
      isLocal: fc.constant(cluster === 'c1'),
      service: arbitrary.service(where),
      slices,
      stale,
    }),
  ),
);

const exporters: fc.Arbitrary<Exporter[]> = fc
  .tuple(exportsOfClusters, fc.array(fc.record({ slices, stale }), { minLength: 4, maxLength: 4 }))
  .map(([exports, each]) => exports.map((one, i) => ({ ...one, ...each[i]!, isLocal: one.cluster === 'c1' })));

type Decided<P extends Part> = {
  readonly wanted: 'unknown' | 'nothing' | Pick<DesiredObjects, 'slices'>;
  readonly slicesOf?: Decision<P>['slicesOf'] | undefined;
};

/** How often the last decision was enough. */
function check<P extends Part>(all: fc.Arbitrary<P[]>, decide: (parts: P[], context: RoutingContext) => Decided<P>) {
  let enough = 0;
  fc.assert(
    fc.property(all, routing, fc.nat(), slices, (parts, context, at, endpoints) => {
      const before = decide(parts, context);
      const index = at % parts.length;
      const now = withEndpoints(parts[index]!, endpoints);
      if (before.slicesOf === undefined || typeof before.wanted === 'string') return;
      if (!isOfDecision(parts[index]!, now)) return;
      enough += 1;
      const after = decide(parts.with(index, now), context);
      const others = before.wanted.slices.filter((slice) => clusterOfSlice(slice) !== now.cluster);
      const wanted = { ...before.wanted, slices: [...others, ...before.slicesOf(now)].toSorted(compareNames) };
      const { slicesOf: _, ...rest } = before;
      const { slicesOf: __, ...expected } = after;
      expect({ ...rest, wanted }).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
  return enough;
}

describe('new endpoints of one cluster', () => {
  it('make of a global Service what a new decision would', () => {
    const decide = (parts: GlobalParticipant[], context: RoutingContext) =>
      desiredGlobal({
        namespace: 'shop',
        name: 'web',
        participants: parts,
        retained: NOTHING_RETAINED,
        hints: 'labelled',
        zones: ['a'],
        routing: context,
      });
    expect(check(participants, decide)).toBeGreaterThan(100);
  });

  it('make of an import what a new decision would', () => {
    const decide = (parts: Exporter[], context: RoutingContext) =>
      desiredImport(importInput(parts, { routing: context }));
    expect(check(exporters, decide)).toBeGreaterThan(100);
  });
});
