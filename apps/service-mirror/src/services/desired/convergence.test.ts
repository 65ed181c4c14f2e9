import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as arbitrary from '../../../test/arbitraries.ts';
import { prefixes, type Remote, Simulation } from '../../../test/simulation.ts';

const cluster = fc.constantFrom(...prefixes.keys());
/** `c2` and `a-b`, `c2-a` and `b` make one name. */
const where = fc.record({ namespace: fc.constantFrom('a-b', 'b'), name: fc.constant('web') });

/** Of one family each: the primary one is immutable, and so depends on the past. */
const families = ['IPv4', 'IPv6'] as const;
const service = where
  .chain((at) => arbitrary.service(at))
  .map((each) => ({ ...each, definition: { ...each.definition, families } }));
const slice = where
  .chain(({ namespace, name }) => arbitrary.slice({ namespace, service: name }))
  .map((each) => ({ ...each, name: each.name.replace(/[cd]$/, 'a') }));

type Step = { readonly what: string; readonly run: (simulation: Simulation) => void | Promise<unknown> };

const change = (what: string, of: fc.Arbitrary<(remote: Remote) => void>): fc.Arbitrary<Step> =>
  fc
    .record({ at: cluster, seen: fc.constantFrom(true, true, false), how: of })
    .map(({ at, seen, how }) => ({ what: `${what} ${at}`, run: (simulation) => simulation.change(at, how, { seen }) }));

const step: fc.Arbitrary<Step> = fc.oneof(
  change(
    'put service',
    service.map(
      (each) =>
        ({ services }: Remote) =>
          void services.set(`${each.namespace}/${each.name}`, each),
    ),
  ),
  change(
    'remove service',
    where.map(
      ({ namespace, name }) =>
        ({ services }: Remote) =>
          void services.delete(`${namespace}/${name}`),
    ),
  ),
  change(
    'put slice',
    slice.map(
      (each) =>
        ({ slices }: Remote) =>
          void slices.set(`${each.namespace}/${each.name}`, each),
    ),
  ),
  change(
    'remove slice',
    slice.map(
      (each) =>
        ({ slices }: Remote) =>
          void slices.delete(`${each.namespace}/${each.name}`),
    ),
  ),
  cluster.map((at): Step => ({ what: `list ${at}`, run: (simulation) => simulation.list(at) })),
  ...[1, 2, 3].map(() => fc.nat(9).map((at): Step => ({ what: 'work', run: (simulation) => simulation.work(at) }))),
);

/** Far more steps than needed: a run with so many would never come to rest. */
const MOST = 1_000;

async function settle(simulation: Simulation): Promise<object> {
  for (const each of prefixes.keys()) simulation.list(each);
  let worked = 0;
  while (await simulation.work(0)) if (++worked > MOST) throw new Error('it never comes to rest');
  return simulation.local.content();
}

describe('the mirrors of three clusters', () => {
  it('depend only on what the clusters have, not on the order of events, and come to rest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 100, size: 'max' }), async (steps) => {
        const lived = new Simulation();
        const fresh = new Simulation();
        for (const { what, run } of steps) {
          await run(lived);
          // The fresh one sees only the final state of the clusters.
          if (/ (service|slice) /.test(what)) await run(fresh);
        }
        expect(await settle(lived)).toEqual(await settle(fresh));
      }),
      { numRuns: 500 },
    );
  });
});
