import { Witnesses } from '@kube-semaphore/naming';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verdictOf } from './tunnels.ts';

const agents = Array.from({ length: 9 }, (_, i) => `n${i}`);

/** The verdict in a cluster of these agents, of which the first `count` witnesses of m1 report it. */
function verdict(of: readonly string[], count: number, nodes = 10) {
  const reporters = new Set(new Witnesses(of).of('m1').slice(0, count));
  return verdictOf(new Map(of.map((name) => [name, reporters.has(name) ? { silent: ['m1'], nodes } : undefined])));
}

describe('a node is silent', () => {
  it.each([
    { agents: 9, least: 3 },
    { agents: 5, least: 3 },
    { agents: 4, least: 3 },
    { agents: 3, least: 2 },
    { agents: 2, least: 2 },
    { agents: 1, least: 1 },
  ])('if $least witnesses say so, of $agents agents', ({ agents: count, least }) => {
    const of = agents.slice(0, count);
    expect(verdict(of, least - 1).silent).toEqual([]);
    expect(verdict(of, least).silent).toEqual(['m1']);
  });

  it('whatever those say that are no witnesses', () => {
    const witnesses = new Set(new Witnesses(agents).of('m1'));
    const liars = new Map(
      agents.map((name) => [name, witnesses.has(name) ? undefined : { silent: ['m1'], nodes: 10 }]),
    );
    expect(verdictOf(liars).silent).toEqual([]);
  });
});

it.each([
  { nodes: 1, isRemote: true },
  { nodes: 2, isRemote: false },
])('of $nodes nodes, one that is silent is the remote itself: $isRemote', ({ nodes, isRemote }) => {
  expect(verdict(agents, 5, nodes)).toEqual({ silent: ['m1'], isRemote });
});

it.each([
  { counts: [1, 10, 9_999_999], isRemote: false },
  { counts: [1, 1, 9_999_999], isRemote: true },
])('takes the middle one of $counts nodes', ({ counts, isRemote }) => {
  const reports = new Map(counts.map((nodes, i) => [agents[i]!, { silent: ['m1'], nodes }]));
  expect(verdictOf(reports).isRemote).toBe(isRemote);
});

it('does not depend on any order, and two of five never decide', () => {
  const report = fc.option(
    fc.record({
      silent: fc.uniqueArray(fc.constantFrom('m1', 'm2', 'm3', 'm4'), { minLength: 1 }),
      nodes: fc.integer({ min: 1, max: 9 }),
    }),
    { nil: undefined },
  );
  fc.assert(
    fc.property(fc.array(report, { minLength: 9, maxLength: 9 }), (reports) => {
      const entries = agents.map((name, i) => [name, reports[i]] as const);
      const found = verdictOf(new Map(entries));
      expect(verdictOf(new Map(entries.toReversed()))).toEqual(found);
      for (const node of found.silent) {
        const votes = reports.filter((each) => each?.silent.some((other) => other === node)).length;
        expect(votes).toBeGreaterThanOrEqual(3);
      }
    }),
  );
});
