import type { Lease } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, nextAttemptMs, released, see, type Sighting, UNSEEN, writesEndMs } from './state.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const EPOCH_MS = Date.UTC(2025, 10, 21);
const TIME = '2025-11-21T00:00:00.000000Z';
const EARLIER = '2025-11-20T00:00:00.000000Z';

function lease(holderIdentity: string, { version = '1', uid = 'u', seconds = 15 } = {}): Lease {
  return {
    metadata: {
      name: 'lease',
      namespace: 'ns',
      uid,
      resourceVersion: version,
      labels: { a: 'b' },
      annotations: {},
      ownerReferences: undefined,
      finalizers: undefined,
    },
    spec: {
      holderIdentity,
      leaseDurationSeconds: seconds,
      acquireTime: EARLIER,
      renewTime: EARLIER,
      leaseTransitions: 3,
    },
  };
}

const sight = (before: Sighting, found: Lease | undefined, nowMs: number) => see(before, found, { nowMs, ...TIMES });
const choose = (seen: Sighting, nowMs: number, { leads = false } = {}) =>
  decide(seen, { identity: 'us', leads, nowMs, epochMs: EPOCH_MS, ...TIMES });

describe('see', () => {
  const held = sight(UNSEEN, lease('other'), 0);
  const renewed = lease('other', { version: '2' });
  const recreated = lease('other', { uid: 'v' });

  it.each([
    { name: 'gives a holder its time from now on', before: UNSEEN, found: lease('other'), want: 16_000 },
    { name: 'uses the duration of the Lease', before: UNSEEN, found: lease('other', { seconds: 60 }), want: 61_000 },
    { name: 'gives no more time while nothing changes', before: held, found: lease('other'), want: 15_000 },
    { name: 'gives the time again after a change', before: held, found: renewed, want: 16_000 },
    { name: 'distinguishes two Leases of the same version', before: held, found: recreated, want: 16_000 },
    { name: 'knows that a released Lease is free', before: held, found: lease('', { version: '2' }), want: -Infinity },
    { name: 'knows that a Lease that never existed is free', before: UNSEEN, found: undefined, want: -Infinity },
    { name: 'waits for the holder of one that was deleted', before: held, found: undefined, want: 16_000 },
    { name: 'waits even if it had no holder', before: sight(UNSEEN, lease(''), 0), found: undefined, want: 16_000 },
    {
      name: 'waits no longer while it is missing',
      before: sight(held, undefined, 500),
      found: undefined,
      want: 15_500,
    },
  ])('$name', ({ before, found, want }) => {
    expect(sight(before, found, 1_000).heldUntilMs).toBe(want);
  });
});

describe('decide', () => {
  const times = { acquireTime: TIME, renewTime: TIME };
  const fresh = { holderIdentity: 'us', leaseDurationSeconds: 15, ...times, leaseTransitions: 0 };
  const held = sight(UNSEEN, lease('other'), 0);
  const free = sight(UNSEEN, lease(''), 0);
  const ours = sight(UNSEEN, lease('us'), 0);
  const updated = (spec: Partial<Lease['spec']>) => ({
    kind: 'update',
    lease: { ...lease('us'), spec: { ...fresh, ...spec } },
  });

  it.each([
    { name: 'leaves a Lease to its holder', seen: held, nowMs: 14_999, want: { kind: 'wait' } },
    { name: 'takes one whose time is over', seen: held, nowMs: 15_000, want: updated({ leaseTransitions: 4 }) },
    { name: 'takes one that is free', seen: free, nowMs: 0, want: updated({ leaseTransitions: 4 }) },
    {
      name: 'renews our own, and keeps its acquireTime',
      seen: ours,
      nowMs: 1,
      want: updated({ acquireTime: EARLIER, leaseTransitions: 3 }),
    },
    { name: 'creates the first', seen: UNSEEN, nowMs: 0, want: { kind: 'create', spec: fresh } },
  ])('$name', ({ seen, nowMs, want }) => {
    expect(choose(seen, nowMs)).toEqual(want);
  });

  it('lets only the leader create a deleted Lease at once', () => {
    const deleted = sight(ours, undefined, 1_000);
    expect(choose(deleted, 1_001, { leads: true }).kind).toBe('create');
    expect(choose(deleted, 1_001)).toEqual({ kind: 'wait' });
    expect(choose(deleted, 16_000).kind).toBe('create');
  });

  it('never takes the Lease of another replica within its time', () => {
    const sightings = fc.array(fc.record({ afterMs: fc.nat(20_000), version: fc.nat(3) }), { minLength: 1 });
    fc.assert(
      fc.property(sightings, fc.nat(20_000), fc.boolean(), (steps, waitMs, leads) => {
        let [seen, nowMs, movedAtMs, last] = [UNSEEN, 0, 0, -1];
        for (const { afterMs, version } of steps) {
          nowMs += afterMs;
          seen = sight(seen, lease('other', { version: String(version) }), nowMs);
          if (version !== last) movedAtMs = nowMs;
          last = version;
        }
        nowMs += waitMs;
        expect(choose(seen, nowMs, { leads }).kind).toBe(nowMs < movedAtMs + 15_000 ? 'wait' : 'update');
      }),
    );
  });
});

describe('nextAttemptMs', () => {
  const held = sight(UNSEEN, lease('other'), 0);

  it.each([
    { name: 'is a period', seen: held, nowMs: 0, random: 0, want: 2_000 },
    { name: 'is at most a fifth more', seen: held, nowMs: 0, random: 1, want: 2_400 },
    { name: 'ends with the time of the holder', seen: held, nowMs: 14_900, random: 0, want: 100 },
    { name: 'is a period again when that is over', seen: held, nowMs: 15_000, random: 0, want: 2_000 },
    { name: 'is a period without a holder', seen: UNSEEN, nowMs: 0, random: 0, want: 2_000 },
  ])('$name', ({ seen, nowMs, random, want }) => {
    expect(nextAttemptMs(seen, { nowMs, random: () => random, ...TIMES })).toBe(want);
  });
});

describe('released', () => {
  it('has no holder, for a second, as with client-go', () => {
    expect(released(lease('us'), EPOCH_MS)).toEqual({
      ...lease('us'),
      spec: { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: TIME, renewTime: TIME, leaseTransitions: 3 },
    });
  });
});

describe('writesEndMs', () => {
  it('is after the deadline and before the end of the Lease', () => {
    expect(writesEndMs(TIMES)).toBe(14_000);
  });
});
