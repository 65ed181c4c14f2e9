import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Election, type ElectionPlan, type Make, type ReplicaPlan, type Restart } from '../test/simulation/election.ts';
import { LeaseServer, lockOver } from '../test/simulation/lease-server.ts';
import { Machine, type Period } from '../test/simulation/machine.ts';
import { type Cut, Network } from '../test/simulation/network.ts';
import { World } from '../test/simulation/world.ts';
import { LeaderElector } from './elector.ts';
import { NotLeadingError } from './writes.ts';

const MINUTE_MS = 60_000;
/** The end of all faults. */
const FAULTS_END_MS = 3 * MINUTE_MS;
/** Enough for the last fault to end, a Lease to end, and a replica to notice. */
const RECOVERY_MS = 2 * MINUTE_MS;

/** How many elections each property is tried on: each simulates minutes. Nightly tries more. */
const RUNS = Number(process.env['ELECTION_RUNS'] ?? 20);

/** By then every replica without faults has seen the Lease. */
const CALM_MS = 10_000;

const time = ({ from = 0 } = {}) => fc.integer({ min: from, max: FAULTS_END_MS });
const period = { atMs: time(), forMs: fc.integer({ min: 1, max: MINUTE_MS }) };
const cut = fc.record<Cut>({ ...period, loses: fc.constantFrom('requests', 'answers') });

const replica = fc.record<ReplicaPlan>({
  make: fc.constant('ours'),
  rate: fc.double({ min: 0.99, max: 1.01, noNaN: true }),
  originMs: fc.integer({ min: 0, max: 1e9 }),
  // Clocks that are a year apart.
  epochMs: fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2026, 0) }),
  stops: fc.array(fc.record(period), { maxLength: 3 }),
  cuts: fc.array(cut, { maxLength: 3 }),
});

const restart = fc.record<Restart>({ replica: fc.nat(9), atMs: time(), by: fc.constantFrom('SIGTERM', 'SIGKILL') });

const plan = fc.record<ElectionPlan>({
  seed: fc.integer(),
  replicas: fc.array(replica, { minLength: 2, maxLength: 4 }),
  restarts: fc.array(restart, { maxLength: 4 }),
  deletions: fc.constant([]),
  slowMs: fc.constant(30_000),
  slowUntilMs: fc.constant(FAULTS_END_MS),
});

/** The result of an election after all faults. */
async function outcomeOf(faults: ElectionPlan) {
  const election = new Election(faults);
  await election.runUntil(FAULTS_END_MS + RECOVERY_MS);
  return { violations: election.violations, leaders: election.leaders };
}

/** Two replicas without faults; the first one leads. */
const CALM = {
  seed: 1,
  replicas: [
    { make: 'ours', rate: 1, originMs: 0, epochMs: 0, stops: [], cuts: [] },
    { make: 'ours', rate: 1, originMs: 0, epochMs: 0, stops: [{ atMs: 0, forMs: 1_000 }], cuts: [] },
  ],
  restarts: [],
  deletions: [],
  slowMs: 0,
  slowUntilMs: 0,
} as const satisfies ElectionPlan;

const SOUND = { violations: [], leaders: 1 };

describe('replicas with clocks of their own', () => {
  it('never lead both nor write after another has led, whatever fails, and one leads in the end', () =>
    fc.assert(
      fc.asyncProperty(plan, async (faults) => {
        expect(await outcomeOf(faults)).toEqual(SOUND);
      }),
      { numRuns: RUNS },
    ));

  it('leave a deleted Lease to its holder, even if that is stopped or slow', () =>
    fc.assert(
      fc.asyncProperty(plan, time({ from: CALM_MS }), async (faults, deletedAtMs) => {
        // A replica that has never seen the Lease can't know that it was deleted.
        const late = ({ atMs }: Period): boolean => atMs > CALM_MS;
        const replicas = faults.replicas.map((each) => ({ ...each, cuts: [], stops: each.stops.filter(late) }));
        const outcome = await outcomeOf({ ...faults, replicas, restarts: [], deletions: [deletedAtMs], slowMs: 1_000 });
        expect(outcome).toEqual(SOUND);
      }),
      { numRuns: RUNS / 2 },
    ));

  it('never lead beside one of client-go', () =>
    fc.assert(
      fc.asyncProperty(plan, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), async (faults, inGo) => {
        // A client-go that is stopped, or gets its answer late, leads longer than its Lease: it doesn't check a clock.
        const go = { make: 'client-go', stops: [] } as const;
        const replicas = faults.replicas.map((each, index) => ({ ...each, ...(inGo[index]! && go) }));
        expect(await outcomeOf({ ...faults, replicas, slowMs: 1_000 })).toEqual(SOUND);
      }),
      { numRuns: RUNS },
    ));

  it.each<{ name: string; makes: readonly Make[] }>([
    { name: 'of a release before and the one that moves the Lease', makes: ['ours', 'moving'] },
    { name: 'of the release that moves the Lease and one after', makes: ['moving', 'moved'] },
  ])('never lead both, $name, in both directions', ({ makes }) => {
    const make = fc.constantFrom(...makes);
    const rollouts = fc.record({
      plan,
      releases: fc.array(make, { minLength: 4, maxLength: 4 }),
      restarts: fc.array(fc.tuple(restart, make), { minLength: 2, maxLength: 6 }),
    });
    return fc.assert(
      fc.asyncProperty(rollouts, async ({ plan: faults, releases, restarts }) => {
        const replicas = faults.replicas.map((each, index) => ({ ...each, make: releases[index]! }));
        const rollout = restarts.map(([each, next]) => ({ ...each, make: next }));
        expect(await outcomeOf({ ...faults, replicas, restarts: rollout, isMade: true })).toEqual(SOUND);
      }),
      { numRuns: RUNS },
    );
  });

  it('are without a leader for at most one Lease after a crash', async () => {
    const election = new Election({ ...CALM, restarts: [{ replica: 0, atMs: MINUTE_MS, by: 'SIGKILL' }] });
    await election.runUntil(MINUTE_MS);
    expect(election.journal.landed).toBeGreaterThan(230);
    await election.runUntil(MINUTE_MS + 12_000);
    expect(election.leaders).toBe(0);
    await election.runUntil(MINUTE_MS + 17_500);
    expect(election.leaders).toBe(1);
  });

  it('hand over within 2.4 s if one is asked to stop', async () => {
    const election = new Election({ ...CALM, restarts: [{ replica: 0, atMs: MINUTE_MS, by: 'SIGTERM' }] });
    await election.runUntil(MINUTE_MS);
    const { landed } = election.journal;
    await election.runUntil(MINUTE_MS + 2_600);
    expect(election.leaders).toBe(1);
    expect(election.journal.landed).toBeGreaterThan(landed);
  });
});

describe('LeaderElector', () => {
  const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

  /** One replica, 50 ms away from its server, that is sometimes stopped. */
  function only(stops: readonly Period[] = []) {
    const world = new World();
    const machine = new Machine(world, { rate: 1, originMs: 0, epochMs: 0, stops });
    const server = new LeaseServer();
    const network = new Network({ world, machine, cuts: [], delayMs: () => 50 });
    const lock = lockOver(network, server);
    const elector = new LeaderElector({ ...TIMES, lock, identity: 'only', clock: machine.clock });
    const stopped = new AbortController();
    const events: string[] = [];
    const on = (event: string) => () => events.push(event);
    const { signal } = stopped;
    const done = elector.run({ signal, onStartedLeading: on('started'), onStoppedLeading: on('stopped') });
    const until = (ms: number) => world.runUntil(ms, () => {});
    return { machine, server, elector, stopped, events, done, until };
  }

  it('keeps the Lease of a process whose last write was aborted, as it may still arrive', async () => {
    const { elector, server, stopped, done, until } = only();
    await until(5_000);
    const writing = elector.guard(async ({ signal }) => {
      await once(signal, 'abort');
      signal.throwIfAborted();
    });
    const outcome = writing.catch((error: unknown) => error);
    stopped.abort();
    await until(10_000);
    await done;
    expect(await outcome).toBeInstanceOf(NotLeadingError);
    expect(server.read()?.spec.holderIdentity).toBe('only');
  });

  it('aborts its writes at the next renewal if another replica has the Lease', async () => {
    const { elector, server, events, until } = only();
    await until(5_000);
    const writing = elector.guard(async ({ signal }) => {
      await once(signal, 'abort');
      signal.throwIfAborted();
    });
    const outcome = writing.catch((error: unknown) => error);
    const lease = server.read()!;
    server.update({ ...lease, spec: { ...lease.spec, holderIdentity: 'other' } });
    await until(8_000);
    expect(events).toEqual(['started', 'stopped']);
    expect(await outcome).toBeInstanceOf(NotLeadingError);
  });

  it('leaves no timer behind', async () => {
    const { machine, events, stopped, done, until } = only();
    await until(60_000);
    stopped.abort();
    await until(61_000);
    await done;
    expect([events, machine.timers]).toEqual([['started', 'stopped'], 0]);
  });

  it('does not lead by an answer that came too late, but by the next', async () => {
    // The Lease is created at 150 ms.
    const { server, events, until } = only([{ atMs: 120, forMs: 30_000 }]);
    await until(30_500);
    expect([server.read()?.spec.holderIdentity, events]).toEqual(['only', []]);
    await until(33_000);
    expect(events).toEqual(['started']);
  });
});
