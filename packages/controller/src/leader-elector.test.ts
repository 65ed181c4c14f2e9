import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Election, type ElectionPlan, type ReplicaPlan } from '../test/simulation/election.ts';

const MINUTE_MS = 60_000;
/** After so long nothing goes wrong any more. */
const FAULTS_END_MS = 3 * MINUTE_MS;
/** Long enough for the last fault to end, a Lease to run out, and a replica to notice. */
const RECOVERY_MS = 2 * MINUTE_MS;

/** By then every replica has seen the Lease, if nothing is in its way. */
const CALM_MS = 10_000;

const time = ({ from = 0 } = {}) => fc.integer({ min: from, max: FAULTS_END_MS });
const period = ({ from = 0 } = {}) => fc.record({ atMs: time({ from }), forMs: fc.integer({ min: 1, max: MINUTE_MS }) });
const cut = fc.tuple(period(), fc.constantFrom('requests' as const, 'answers' as const)).map(([at, loses]) => ({ ...at, loses }));

const replica = fc.record<ReplicaPlan>({
  make: fc.constant('ours'),
  rate: fc.double({ min: 0.99, max: 1.01, noNaN: true }),
  originMs: fc.integer({ min: 0, max: 1e9 }),
  // Clocks that are a year apart.
  epochMs: fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2026, 0) }),
  stops: fc.array(period(), { maxLength: 3 }),
  cuts: fc.array(cut, { maxLength: 3 }),
});

const restart = fc.record({ replica: fc.nat(9), atMs: time(), by: fc.constantFrom('SIGTERM' as const, 'SIGKILL' as const) });

const plan = fc.record<ElectionPlan>({
  seed: fc.integer(),
  replicas: fc.array(replica, { minLength: 2, maxLength: 4 }),
  restarts: fc.array(restart, { maxLength: 4 }),
  deletions: fc.constant([]),
  slowMs: fc.constant(30_000),
  slowUntilMs: fc.constant(FAULTS_END_MS),
});

async function run(election: Election): Promise<void> {
  await election.runUntil(FAULTS_END_MS + RECOVERY_MS);
  expect(election.violations).toEqual([]);
  expect(election.leaders).toBe(1);
}

describe('replicas with clocks of their own', () => {
  it('never lead both nor write after another has led, whatever is slow, cut off, stopped or killed, and one leads in the end', { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(plan, async (faults) => {
        const election = new Election(faults);
        await run(election);
        const { landed } = election.journal;
        await election.runUntil(FAULTS_END_MS + RECOVERY_MS + 10_000);
        expect(election.journal.landed).toBeGreaterThan(landed);
      }),
      { numRuns: 60 },
    ));

  it('leave a Lease that somebody deleted to its holder, though it is stopped or slow', { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(plan, time({ from: CALM_MS }), async (faults, deletedAtMs) => {
        // Whoever has never seen the Lease can't know that there was one.
        const replicas = faults.replicas.map((each) => ({ ...each, cuts: [], stops: each.stops.filter(({ atMs }) => atMs > CALM_MS) }));
        await run(new Election({ ...faults, replicas, restarts: [], deletions: [deletedAtMs], slowMs: 1_000 }));
      }),
      { numRuns: 30 },
    ));

  it('never lead beside one of client-go', { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(plan, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), async (faults, inGo) => {
        // A client-go that is stopped, or hears late that it leads, leads for longer than its Lease: it asks no clock.
        const replicas = faults.replicas.map((each, index) => (inGo[index]! ? { ...each, make: 'client-go' as const, stops: [] } : each));
        await run(new Election({ ...faults, replicas, slowMs: 1_000 }));
      }),
      { numRuns: 60 },
    ));
});
