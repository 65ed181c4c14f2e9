import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHeld } from './deletion-guard.ts';
import { Store } from './store.ts';

type Pod = { readonly uid: string; readonly ips: readonly string[]; readonly held: boolean };

const pod = (name: string, ...ips: string[]): Pod => ({ uid: `uid-${name}`, ips, held: false });

function guarded(guard = { percent: 50, min: 10 }) {
  const changes: string[] = [];
  const store = new Store<Pod>({
    equal: (a, b) => a.held === b.held && a.ips.join() === b.ips.join(),
    onChange: ({ key, current }) => changes.push(`${current === undefined ? '-' : '+'}${key}`),
    holding: {
      guard,
      hold: (value) => ({ ...value, held: true }),
      claims: ({ ips }) => ips,
      withoutClaim: (value, claim) => {
        const ips = value.ips.filter((ip) => ip !== claim);
        return ips.length === 0 ? undefined : { ...value, ips };
      },
    },
  });
  /** One complete list. */
  const list = (pods: Record<string, Pod>, { isHoldOver = false } = {}) => {
    const known = store.size;
    for (const [key, value] of Object.entries(pods)) store.set(key, value);
    store.finishList(new Set(Object.keys(pods)), { known, isHoldOver });
  };
  const keys = () => (store.view.synced ? [...store.view.objects.keys()].toSorted() : []);
  return { store, list, keys, changes };
}

const many = (count: number): Record<string, Pod> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, pod(`p${i}`, `10.0.0.${i}`)]));

describe('isHeld', () => {
  const guard = { percent: 50, min: 10 };

  it.each([
    { name: 'holds a loss of more than half and more than ten', missing: 11, known: 20, guard, want: true },
    { name: 'believes a loss of exactly half', missing: 11, known: 22, guard, want: false },
    { name: 'believes a loss of ten, even if that is everything', missing: 10, known: 10, guard, want: false },
    {
      name: 'believes every loss at 100 %',
      missing: 1000,
      known: 1000,
      guard: { percent: 100, min: 0 },
      want: false,
    },
    {
      name: 'holds every loss of more than `min` at 0 %',
      missing: 11,
      known: 1000,
      guard: { percent: 0, min: 10 },
      want: true,
    },
  ])('$name', ({ want, guard: rules, ...loss }) => {
    expect(isHeld(loss, rules)).toBe(want);
  });
});

describe('a store with a deletion guard', () => {
  it('keeps the objects that an empty list is missing, marked as held', () => {
    const { store, list, keys } = guarded();
    list(many(20));
    list({});
    expect(keys()).toHaveLength(20);
    expect(store.held).toBe(20);
    expect(store.view.synced && store.view.objects.get('p0')?.held).toBe(true);
  });

  it('believes a list that is missing few objects', () => {
    const { store, list, keys } = guarded();
    list(many(30));
    list(many(16));
    expect(keys()).toHaveLength(16);
    expect(store.held).toBe(0);
  });

  it('deletes what is missing from a list that is to be believed', () => {
    const { store, list, keys } = guarded();
    list(many(20));
    list({});
    list(many(3), { isHoldOver: true });
    expect(keys()).toEqual(['p0', 'p1', 'p2']);
    expect(store.held).toBe(0);
  });

  it('keeps holding when the source is listed again meanwhile', () => {
    const { store, list } = guarded();
    list(many(20));
    list({});
    list({ p0: pod('p0', '10.0.0.0') });
    expect(store.held).toBe(19);
  });

  it('releases an object that the watch changes or deletes', () => {
    const { store, list, keys } = guarded();
    list(many(20));
    list({});
    store.update('p1', pod('p1', '10.0.0.1'));
    store.delete('p2', 'uid-p2');
    expect(store.held).toBe(18);
    expect(store.view.synced && store.view.objects.get('p1')?.held).toBe(false);
    expect(keys()).not.toContain('p2');
  });

  it('never holds an address that another object has, so that a rebuilt cluster gets its addresses', () => {
    const { store, list, keys } = guarded();
    list({ ...many(20), dual: pod('dual', '10.1.0.1', 'fd00::1') });
    list({ fresh: pod('fresh', '10.0.0.5', '10.1.0.1') });
    expect(keys()).not.toContain('p5');
    expect(store.view.synced && store.view.objects.get('dual')?.ips).toEqual(['fd00::1']);
    store.update('later', pod('later', '10.0.0.6'));
    expect(keys()).not.toContain('p6');
    expect(store.held).toBe(19);
  });

  it('handles an object that has an address twice', () => {
    const { store, list, keys } = guarded();
    list(many(20));
    list({ twice: pod('twice', '10.0.0.5', '10.0.0.5') });
    store.update('again', pod('again', '10.0.0.6', '10.0.0.6'));
    expect(keys()).not.toContain('p5');
    expect(keys()).not.toContain('p6');
  });

  it('measures the first list against the seed, and not against what the list itself brings', () => {
    const { store, list, keys } = guarded();
    for (let i = 0; i < 20; i++) store.seed(`seed-${i}`, { ...pod('seed', `10.0.0.${i}`), held: true });
    list(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`new${i}`, pod(`new${i}`, `10.9.0.${i}`)])));
    expect(store.held).toBe(20);
    expect(keys()).toHaveLength(120);
  });

  it('deletes the seeds that a list is missing, if they are few', () => {
    const { store, list, keys } = guarded();
    for (let i = 0; i < 20; i++) store.seed(`seed-${i}`, { ...pod('seed', `10.0.0.${i}`), held: true });
    list(many(15));
    expect(store.held).toBe(0);
    expect(keys()).toEqual(Object.keys(many(15)).toSorted());
  });

  it('never holds an address that another object has, and holds nothing after a believed list', () => {
    const keys = fc.constantFrom(...Object.keys(many(14)));
    const lists = fc.array(fc.dictionary(keys, fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3')), { maxLength: 6 });
    fc.assert(
      fc.property(lists, (rounds) => {
        const { store, list } = guarded({ percent: 20, min: 2 });
        list(many(14));
        for (const round of rounds) {
          list(Object.fromEntries(Object.entries(round).map(([key, ip]) => [key, pod(key, ip)])));
          const view = store.view as { objects: ReadonlyMap<string, Pod> };
          const live = new Set([...view.objects.values()].filter(({ held }) => !held).flatMap(({ ips }) => ips));
          const claimed = [...view.objects.values()].filter(({ held }) => held).flatMap(({ ips }) => ips);
          expect(claimed.filter((ip) => live.has(ip))).toEqual([]);
          expect([...view.objects.values()].filter(({ held }) => held)).toHaveLength(store.held);
        }
        list({}, { isHoldOver: true });
        expect(store.held).toBe(0);
        expect(store.size).toBe(0);
      }),
    );
  });
});
