import { describe, expect, it } from 'vitest';
import type { Endpoint, Family } from '../source.ts';
import { parseClusterOrder, parseMinReady } from './order.ts';
import { type DownLevels, type Member, NO_LEVELS, rolesOf, type RolesInput } from './who-answers.ts';

function valueOf<T>(parsed: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  if (!parsed.ok) throw new Error('not valid');
  return parsed.value;
}

const CONDITIONS = {
  r: { ready: true, serving: true, terminating: false },
  t: { ready: false, serving: true, terminating: true },
  n: { ready: false, serving: false, terminating: false },
};

/** @param states of its endpoints: `r` ready, `t` terminating, `n` not ready */
function member(
  cluster: string,
  level: number,
  states: string,
  more: Partial<Member> & { family?: Family } = {},
): Member {
  const { family = 'IPv4', ...fields } = more;
  const endpoints = states.split('').map((state, i): Endpoint => ({
    address: `${cluster}-${i}`,
    otherAddresses: undefined,
    conditions: CONDITIONS[state as keyof typeof CONDITIONS],
    hostname: undefined,
    nodeName: undefined,
    zone: undefined,
    zones: undefined,
  }));
  return { cluster, level, state: 'active', slices: [{ family, endpoints }], ...fields };
}

const input: RolesInput = {
  order: valueOf(parseClusterOrder('c1; c2; c3; c4')),
  members: [],
  minReady: undefined,
  hasSecond: true,
  down: NO_LEVELS,
  nowMs: 0,
};

const rolesIn = (parts: Partial<RolesInput>) => Object.fromEntries(rolesOf({ ...input, ...parts }).roles);

describe('rolesOf', () => {
  it.each([
    {
      name: 'gives the best level the first place, and the next one the second',
      members: [member('c3', 2, 'r'), member('c1', 0, 'r'), member('c2', 1, 'r')],
      want: { c1: 'first', c2: 'second', c3: 'standby' },
    },
    {
      name: 'passes over a level without a ready endpoint',
      members: [member('c1', 0, 'tn'), member('c2', 1, 'r'), member('c3', 2, 'r')],
      want: { c1: 'standby', c2: 'first', c3: 'second' },
    },
    {
      name: 'gives all clusters of a level its place',
      members: [member('c1', 0, 'n'), member('c1b', 0, 'r'), member('c2', 1, 'r'), member('c2b', 1, '')],
      want: { c1: 'first', c1b: 'first', c2: 'second', c2b: 'second' },
    },
    {
      name: 'gives a drained cluster no place',
      members: [member('c1', 0, 'r', { state: 'drained' }), member('c2', 1, 'r')],
      want: { c1: 'standby', c2: 'first' },
    },
    {
      name: 'gives a drained cluster the first place, but not the second, if no other has a ready endpoint',
      members: [
        member('c1', 0, 'n'),
        member('c2', 1, 'r', { state: 'drained' }),
        member('c3', 2, 'r', { state: 'drained' }),
        member('c4', 3, 'r', { state: 'stale' }),
      ],
      want: { c1: 'standby', c2: 'first', c3: 'standby', c4: 'standby' },
    },
    {
      name: 'gives a stale cluster the first place if it alone has a ready endpoint',
      members: [member('c1', 0, 'r', { state: 'stale' }), member('c2', 1, 't', { state: 'drained' })],
      want: { c1: 'first', c2: 'standby' },
    },
    {
      name: 'gives no place without a ready endpoint',
      members: [member('c1', 0, 't'), member('c2', 1, 'n')],
      want: { c1: 'standby', c2: 'standby' },
    },
  ])('$name', ({ members, want }) => {
    expect(rolesIn({ members })).toEqual(want);
    expect(rolesIn({ members: members.toReversed() })).toEqual(want);
  });

  it('gives no second place where it would be used with the first', () => {
    const members = [member('c1', 0, 'r'), member('c2', 1, 'r')];
    expect(rolesIn({ members, hasSecond: false })).toEqual({ c1: 'first', c2: 'standby' });
  });

  it.each([
    { min: '2', own: 'rr', is: 'up' },
    { min: '2', own: 'rn', is: 'down' },
    { min: '50%', own: 'rnn', is: 'down' },
    { min: '50%', own: 'rrn', is: 'up' },
    { min: '50%', own: 'rtt', is: 'up' },
    { min: '50%', own: '', is: 'down' },
    { min: '1%', own: 'n', is: 'down' },
  ])('takes a level with $own for $is by $min', ({ min, own, is }) => {
    const members = [member('c1', 0, own), member('c2', 1, 'rr')];
    const roles = rolesIn({ members, minReady: valueOf(parseMinReady(min)) });
    expect(roles['c1'] === 'first' ? 'up' : 'down').toBe(is);
  });

  it('counts the endpoints of all clusters of a level together, and those of each family by themselves', () => {
    const minReady = { count: 2 };
    const others = member('c2', 1, 'rr');
    expect(rolesIn({ members: [member('c1', 0, 'r'), member('c1b', 0, 'r'), others], minReady })['c1']).toBe('first');
    const v6 = member('c1', 0, 'r', { family: 'IPv6' });
    const both = { ...v6, slices: [...v6.slices, ...member('c1', 0, 'r').slices] };
    expect(rolesIn({ members: [both, others], minReady })['c1']).toBe('second');
  });

  it('prefers a level with too few ready endpoints to none', () => {
    const minReady = { count: 3 };
    const members = [member('c1', 0, 'r'), member('c2', 1, 'rr'), member('c3', 2, 'rrr')];
    expect(rolesIn({ members, minReady })).toEqual({ c1: 'second', c2: 'standby', c3: 'first' });
    expect(rolesIn({ members: members.slice(0, 2), minReady })).toEqual({ c1: 'first', c2: 'second' });
  });
});

describe('a level that was down by min-ready', () => {
  /** What c1 is at each time, with the state of each decision passed to the next one. */
  function timeline(steps: readonly { readonly atMs: number; readonly own: string }[]) {
    let down: DownLevels = NO_LEVELS;
    return steps.map(({ atMs, own }) => {
      const members = [member('c1', 0, own), member('c2', 1, 'rrr')];
      const made = rolesOf({ ...input, members, minReady: { count: 2 }, down, nowMs: atMs });
      // The same decision again changes nothing.
      expect(rolesOf({ ...input, members, minReady: { count: 2 }, down: made.down, nowMs: atMs })).toEqual(made);
      down = made.down;
      return { atMs, is: made.roles.get('c1'), dueMs: made.dueMs };
    });
  }

  it('is up at once at the start, and after a fall only when it has had enough ready endpoints for 30 s', () => {
    expect(
      timeline([
        { atMs: 0, own: 'rr' },
        { atMs: 1_000, own: 'r' },
        { atMs: 2_000, own: 'rr' },
        { atMs: 31_999, own: 'rrr' },
        { atMs: 32_000, own: 'rrr' },
        { atMs: 32_001, own: 'rrr' },
      ]),
    ).toEqual([
      { atMs: 0, is: 'first', dueMs: undefined },
      { atMs: 1_000, is: 'second', dueMs: undefined },
      { atMs: 2_000, is: 'second', dueMs: 32_000 },
      { atMs: 31_999, is: 'second', dueMs: 32_000 },
      { atMs: 32_000, is: 'first', dueMs: undefined },
      { atMs: 32_001, is: 'first', dueMs: undefined },
    ]);
  });

  it('begins to wait again with each fall', () => {
    const steps = Array.from({ length: 20 }, (_, i) => ({ atMs: i * 20_000, own: i % 2 === 0 ? 'r' : 'rr' }));
    expect(new Set(timeline(steps).map(({ is }) => is))).toEqual(new Set(['second']));
  });

  it('does not wait if its clusters were away, as it did not fall', () => {
    const minReady = { count: 1 };
    const away = rolesOf({ ...input, members: [member('c2', 1, 'r')], minReady });
    const members = [member('c1', 0, 'r'), member('c2', 1, 'r')];
    expect(rolesOf({ ...input, members, minReady, down: away.down, nowMs: 1 }).roles.get('c1')).toBe('first');
  });
});

describe('the levels', () => {
  const levelsIn = (parts: Partial<RolesInput>) =>
    rolesOf({ ...input, ...parts }).levels.map(({ level, role, state }) => [level, role, state]);

  it('say which clusters they have, their best role, and why they are up or down', () => {
    const members = [
      member('c1', 0, 'n'),
      member('c2', 1, 'r', { state: 'drained' }),
      member('c3', 2, 'r', { state: 'stale' }),
      member('a', 3, 'r'),
      member('b', 3, 'r', { state: 'drained' }),
    ];
    expect(levelsIn({ order: valueOf(parseClusterOrder('c1; c2; c3; *; c9')), members })).toEqual([
      ['c1', 'standby', 'not-ready'],
      ['c2', 'standby', 'drained'],
      ['c3', 'standby', 'stale'],
      ['*', 'first', 'up'],
      ['c9', undefined, undefined],
    ]);
    expect(rolesOf({ ...input, members }).levels[3]).toMatchObject({ clusters: ['a', 'b'] });
  });

  it('wait after they had too few ready endpoints', () => {
    const order = valueOf(parseClusterOrder('c1; c2'));
    const minReady = { count: 2 };
    const of = (states: string, more: Partial<RolesInput> = {}) => {
      const members = [member('c1', 0, states), member('c2', 1, 'rr')];
      return { order, minReady, members, ...more };
    };
    expect(levelsIn(of('rn'))).toEqual([
      ['c1', 'second', 'min-ready'],
      ['c2', 'first', 'up'],
    ]);
    const { down } = rolesOf({ ...input, ...of('rn') });
    expect(levelsIn(of('rr', { down }))[0]).toEqual(['c1', 'second', 'waiting']);
  });
});
