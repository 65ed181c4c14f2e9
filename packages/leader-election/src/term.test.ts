import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../test/simulation/machine.ts';
import { World } from '../test/simulation/world.ts';
import { LeaderTerm } from './term.ts';
import { NotLeadingError, type Permit } from './writes.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const stopped = AbortSignal.abort();

let world: World;
let machine: Machine;
let term: LeaderTerm;

const until = (ms: number) => world.runUntil(ms, () => {});

/** A term that begins at 0, on a machine that is sometimes stopped. */
function begin(stops: { atMs: number; forMs: number }[] = []): void {
  world = new World();
  machine = new Machine(world, { rate: 1, originMs: 0, epochMs: 0, stops });
  term = new LeaderTerm({ times: TIMES, clock: machine.clock });
  term.renewed(0);
}

/** A write that runs until it is aborted. */
function endless() {
  const { promise, reject } = Promise.withResolvers<never>();
  let permit: Permit | undefined;
  const done = term.guard((given) => {
    permit = given;
    given.signal.addEventListener('abort', () => reject(given.signal.reason as Error), { once: true });
    return promise;
  });
  const outcome = done.catch((error: unknown) => error);
  return { permit: permit!, outcome };
}

beforeEach(() => begin());

describe('LeaderTerm', () => {
  it('begins a write before guard returns, and returns its result', async () => {
    const events: string[] = [];
    const writing = term.guard(async () => (events.push('write'), 'written'));
    events.push('returned');
    expect(await writing).toBe('written');
    expect(events).toEqual(['write', 'returned']);
  });

  it.each([
    { name: 'admits writes until the deadline', atMs: 9_999, want: true },
    { name: 'admits none after the deadline', atMs: 10_000, want: false },
  ])('$name', async ({ atMs, want }) => {
    await until(atMs);
    expect(term.isOpen).toBe(want);
    expect(await term.guard(async () => true).catch((error: unknown) => error)).toEqual(want || new NotLeadingError());
  });

  it('counts from the last renewal', async () => {
    await until(9_000);
    term.renewed(8_500);
    await until(18_499);
    expect([term.isOpen, term.signal.aborted]).toEqual([true, false]);
    await until(18_500);
    expect([term.isOpen, term.signal.aborted]).toEqual([false, true]);
  });

  it('aborts a write that still runs shortly before the Lease ends', async () => {
    const { permit, outcome } = endless();
    await until(13_999);
    expect(permit.signal.aborted).toBe(false);
    await until(14_000);
    expect(await outcome).toBeInstanceOf(NotLeadingError);
  });

  it('lets a write run while the Lease is renewed', async () => {
    const { permit } = endless();
    for (let at = 2_000; at <= 60_000; at += 2_000) {
      await until(at);
      term.renewed(at);
    }
    expect(permit.signal.aborted).toBe(false);
  });

  it('has ended when the process wakes from a SIGSTOP, before any timer', async () => {
    begin([{ atMs: 1_000, forMs: 60_000 }]);
    const { permit, outcome } = endless();
    const onWake: unknown[] = [];
    // Such as the answer to a token request that the write waited for.
    machine.deliver(2_000, () => onWake.push(world.nowMs, permit.signal.aborted, term.isOpen), 'answer');
    await until(61_000);
    expect(onWake).toEqual([61_000, false, false]);
    expect(permit.check).toThrow(NotLeadingError);
    expect(await outcome).toBeInstanceOf(NotLeadingError);
  });

  it('does not begin again after a renewal', async () => {
    await until(10_000);
    term.renewed(9_999);
    expect(term.isOpen).toBe(false);
  });

  it('aborts running writes at once if another replica has the Lease', async () => {
    const { outcome } = endless();
    term.cutOff();
    expect(await outcome).toBeInstanceOf(NotLeadingError);
    expect(term.isOpen).toBe(false);
  });

  it('gives running writes a moment when the process stops', async () => {
    const { permit } = endless();
    const drained = term.drain({ signal: stopped, graceMs: 1_000 });
    expect(term.isOpen).toBe(false);
    await until(999);
    expect(permit.signal.aborted).toBe(false);
    await until(1_000);
    expect([permit.signal.aborted, await drained]).toEqual([true, false]);
  });

  it('has no timer and no listener after its end', async () => {
    const { signal } = new AbortController();
    const written = term.guard(async () => true);
    expect(await term.drain({ signal, graceMs: 1_000 })).toBe(true);
    await written;
    expect([getEventListeners(signal, 'abort'), machine.timers]).toEqual([[], 0]);
  });
});
