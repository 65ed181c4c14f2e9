import { type Change, Store } from '@kube-semaphore/informers';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LatePods } from './late-pods.ts';

type Pod = {
  readonly uid: string;
  readonly created: number;
  readonly deletionMs?: number;
  readonly ips: readonly string[];
  readonly why: readonly string[];
};

const MINUTE_MS = 60_000;

/** The Pods of a remote in a store, and what of them counts. */
class Remote {
  readonly counted = new Map<string, Pod>();
  readonly changes: string[] = [];
  readonly late: LatePods<Pod>;
  readonly #store: Store<Pod>;

  constructor({ isTimeEnough = false } = {}) {
    this.#store = new Store<Pod>({ equal: isDeepStrictEqual, onChange: (change) => this.late.changed(change) });
    this.late = new LatePods<Pod>({
      view: () => this.#store.view,
      addressesOf: ({ ips }) => ips,
      isHolder: ({ why }) => !why.includes('of its node'),
      without: (pod, { lost, skipped }) => ({
        ...pod,
        ips: pod.ips.filter((ip) => !lost.includes(ip)),
        why: skipped.map(({ reason }) => reason),
      }),
      isTimeEnough,
      equal: (a, b) => isDeepStrictEqual([a.ips, a.why], [b.ips, b.why]),
      onChange: (change) => this.#count(change),
    });
  }

  set(key: string, { ips = ['10.4.0.1'], created = 0, uid = key, why = [], ...rest }: Partial<Pod> = {}): void {
    this.#store.set(key, { uid, created, ips, why, ...rest });
  }

  delete(key: string): void {
    this.#store.delete(key);
  }

  /** The first list has what was set so far. */
  listed(): void {
    this.#store.finishList(new Set(this.#keys()), { known: 0, isHoldOver: true });
    this.late.settle();
  }

  /** The addresses that count, by Pod. */
  get addresses(): Record<string, string> {
    return Object.fromEntries(Array.from(this.counted, ([key, { ips }]) => [key, ips.join(' ')]));
  }

  #keys(): readonly string[] {
    return ['ns/a', 'ns/b', 'ns/c', 'ns/d'].filter((key) => this.#store.last(key) !== undefined);
  }

  #count({ key, previous, current }: Change<Pod>): void {
    // Whoever counts Pods is told what was counted before.
    const before = this.counted.get(key);
    if (!isDeepStrictEqual([previous?.ips, previous?.why], [before?.ips, before?.why]))
      throw new Error(`${key}: ${JSON.stringify(previous)} was not counted, but ${JSON.stringify(before)}`);
    this.changes.push(key);
    if (current === undefined) this.counted.delete(key);
    else this.counted.set(key, current);
  }
}

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => {
  vi.useRealTimers();
});

/** Until decisions about what is late now are made. */
const decide = () => vi.advanceTimersByTime(1000);

describe('a Pod that is being deleted', () => {
  it('has its address until a minute after it should be gone, though another Pod has it, too', () => {
    const remote = new Remote();
    remote.set('ns/a');
    remote.listed();
    remote.set('ns/a', { deletionMs: 30_000 });
    remote.set('ns/b', { created: 1 });
    vi.advanceTimersByTime(30_000 + MINUTE_MS - 1);
    expect(remote.addresses).toEqual({ 'ns/a': '10.4.0.1', 'ns/b': '10.4.0.1' });
    decide();
    expect(remote.addresses).toEqual({ 'ns/a': '', 'ns/b': '10.4.0.1' });
    expect(remote.counted.get('ns/a')?.why).toEqual(['address-reused']);
  });

  it('makes no change, and leaves no timer when it is gone', () => {
    const remote = new Remote();
    remote.set('ns/a');
    remote.set('ns/b', { ips: ['10.4.0.2'] });
    remote.listed();
    expect(vi.getTimerCount()).toBe(0);
    remote.set('ns/a', { deletionMs: 30_000 });
    expect(vi.getTimerCount()).toBe(1);
    remote.delete('ns/a');
    expect(vi.getTimerCount()).toBe(0);
    expect(remote.changes).toEqual(['ns/a', 'ns/b', 'ns/a']);
  });

  it('waits for no longer than a minute at once, so that a clock may be set', () => {
    const remote = new Remote();
    remote.set('ns/a', { deletionMs: 100 * 86_400_000 });
    remote.set('ns/b');
    remote.listed();
    vi.setSystemTime(101 * 86_400_000);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(remote.addresses['ns/a']).toBe('');
  });

  it('may be deleted with less time', () => {
    const remote = new Remote();
    remote.set('ns/a', { deletionMs: 100 * MINUTE_MS });
    remote.set('ns/b');
    remote.listed();
    remote.set('ns/a', { deletionMs: 1 });
    vi.advanceTimersByTime(MINUTE_MS + 1);
    expect(remote.addresses['ns/a']).toBe('');
  });
});

describe('a late Pod', () => {
  const late = { deletionMs: -10 * MINUTE_MS };

  it('keeps an address that no other Pod has, also if it was lost once', () => {
    const remote = new Remote();
    remote.set('ns/a', late);
    remote.listed();
    expect(remote.addresses).toEqual({ 'ns/a': '10.4.0.1' });
    remote.set('ns/b', { created: 1 });
    decide();
    expect(remote.addresses).toEqual({ 'ns/a': '', 'ns/b': '10.4.0.1' });
    remote.delete('ns/b');
    decide();
    expect(remote.addresses).toEqual({ 'ns/a': '10.4.0.1' });
    remote.delete('ns/a');
    expect(remote.addresses).toEqual({});
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps the address of the family that no other Pod has', () => {
    const remote = new Remote();
    remote.set('ns/a', { ...late, ips: ['10.4.0.1', 'fd00::1'] });
    remote.set('ns/b', { ips: ['10.4.0.1'] });
    remote.listed();
    expect(remote.addresses['ns/a']).toBe('fd00::1');
  });

  it('never counts with an address of another Pod, if it is late in the first list', () => {
    const remote = new Remote();
    remote.set('ns/b', { created: 1 });
    remote.set('ns/a', late);
    remote.listed();
    expect(remote.addresses).toEqual({ 'ns/a': '', 'ns/b': '10.4.0.1' });
    expect(remote.changes).toEqual(['ns/b', 'ns/a']);
  });

  it('loses its address to a newer one that is late, too', () => {
    const remote = new Remote();
    remote.set('ns/a', { ...late, created: 1 });
    remote.set('ns/b', { ...late, created: 2 });
    remote.listed();
    expect(remote.addresses).toEqual({ 'ns/a': '', 'ns/b': '10.4.0.1' });
  });

  it('has no address where the time is enough', () => {
    const remote = new Remote({ isTimeEnough: true });
    remote.set('ns/a', late);
    remote.set('ns/b', { ips: ['10.4.0.2'], deletionMs: 0 });
    remote.listed();
    expect(remote.addresses).toEqual({ 'ns/a': '', 'ns/b': '10.4.0.2' });
    vi.advanceTimersByTime(2 * MINUTE_MS);
    expect(remote.addresses).toEqual({ 'ns/a': '', 'ns/b': '' });
    expect(remote.counted.get('ns/b')?.why).toEqual(['deletion-overdue']);
  });

  it('does not name a Pod with the same node as the new owner of its address', () => {
    const remote = new Remote({ isTimeEnough: true });
    remote.set('ns/a', { ...late, why: ['of its node'] });
    remote.set('ns/b', { why: ['of its node'] });
    remote.listed();
    expect(remote.counted.get('ns/a')).toMatchObject({ ips: [], why: ['deletion-overdue'] });
    expect(remote.addresses['ns/b']).toBe('10.4.0.1');
  });

  it('may be replaced by a Pod with its name', () => {
    const remote = new Remote({ isTimeEnough: true });
    remote.set('ns/a', late);
    remote.listed();
    remote.set('ns/a', { uid: 'again' });
    decide();
    expect(remote.addresses).toEqual({ 'ns/a': '10.4.0.1' });
  });

  it('looks at all Pods once for thousands that are late together', () => {
    const remote = new Remote();
    remote.listed();
    const looks = vi.spyOn(remote.late as unknown as { settle: () => void }, 'settle');
    for (let i = 0; i < 3000; i++) remote.set(`ns/late-${i}`, { ...late, ips: [`10.4.1.${i}`] });
    decide();
    expect(looks).toHaveBeenCalledOnce();
    expect(remote.counted.size).toBe(3000);
  });

  it('sets no timer any more once the watch has ended', () => {
    const remote = new Remote();
    remote.set('ns/b', { deletionMs: 0 });
    remote.listed();
    remote.late.stop();
    remote.set('ns/a', late);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('what counts is in the end that of a program that starts now', () => {
  const names = fc.constantFrom('ns/a', 'ns/b', 'ns/c', 'ns/d');
  const event = fc.record({
    key: names,
    isGone: fc.boolean(),
    ips: fc.subarray(['10.4.0.1', '10.4.0.2']),
    created: fc.nat(2),
    deletionMs: fc.option(fc.integer({ min: -2 * MINUTE_MS, max: 3 * MINUTE_MS }), { nil: undefined }),
    waitMs: fc.nat(MINUTE_MS),
  });
  fc.assert(
    fc.property(fc.array(event), fc.nat(5), fc.boolean(), (events, listedAt, isTimeEnough) => {
      vi.setSystemTime(0);
      const remote = new Remote({ isTimeEnough });
      const present = new Map<string, Partial<Pod>>();
      for (const [i, { key, isGone, waitMs, deletionMs, ...pod }] of events.entries()) {
        if (i === listedAt) remote.listed();
        vi.advanceTimersByTime(waitMs);
        const is = deletionMs === undefined ? pod : { ...pod, deletionMs };
        if (isGone) remote.delete(key);
        else remote.set(key, is);
        if (isGone) present.delete(key);
        else present.set(key, is);
      }
      if (events.length <= listedAt) remote.listed();
      decide();
      const restarted = new Remote({ isTimeEnough });
      for (const [key, pod] of present) restarted.set(key, pod);
      restarted.listed();
      expect(remote.addresses).toEqual(restarted.addresses);
      remote.late.stop();
      restarted.late.stop();
    }),
  );
});
