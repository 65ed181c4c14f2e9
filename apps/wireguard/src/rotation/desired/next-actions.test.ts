import { describe, expect, it } from 'vitest';
import { explore } from '../../../test/rotation/explore.ts';
import type { Case } from '../../../test/rotation/mesh.ts';
import { mutants } from '../../../test/rotation/mutants.ts';
import { nextActions } from './next-actions.ts';
import type { OwnPlanes, PlanePeer } from './planes.ts';

/** Meshes with more states are walked by nightly only. */
const MOST_STATES = Number(process.env['ROTATION_STATES'] ?? 3_000);

/** A and Aa are nodes of one cluster, B and Bb of another one. */
const cases: Readonly<Record<string, Case & { readonly states: number }>> = {
  'one node rotates': { nodes: ['A', 'B'], rotations: { A: 1 }, states: 44 },
  'both rotate': { nodes: ['A', 'B'], rotations: { A: 1, B: 1 }, states: 368 },
  'both rotate twice': { nodes: ['A', 'B'], rotations: { A: 2, B: 2 }, states: 2_308 },
  'one rotates, with two others': { nodes: ['A', 'B', 'Bb'], rotations: { A: 1 }, states: 480 },
  'two of one cluster rotate': { nodes: ['A', 'Aa', 'B'], rotations: { A: 1, Aa: 1 }, states: 1_664 },
  'all three rotate': { nodes: ['A', 'B', 'Bb'], rotations: { A: 1, B: 1, Bb: 1 }, states: 20_352 },
  'one rotates, with a Go program': { nodes: ['A', 'B'], rotations: { A: 1 }, old: ['B'], states: 31 },
  'both rotate, beside a Go program': {
    nodes: ['A', 'B', 'Bb'],
    rotations: { A: 1, B: 1 },
    old: ['Bb'],
    states: 1_780,
  },
  'both rotate, and are slow': { nodes: ['A', 'B'], rotations: { A: 1, B: 1 }, isSlow: true, states: 1_004 },
  'both rotate, with two ranges': { nodes: ['A', 'B'], rotations: { A: 1, B: 1 }, hasRanges: true, states: 452 },
  'both rotate twice, with two ranges, and are slow': {
    nodes: ['A', 'B'],
    rotations: { A: 2, B: 2 },
    isSlow: true,
    hasRanges: true,
    states: 7_957,
  },
  'one rotates, and may time out': { nodes: ['A', 'B'], rotations: { A: 1 }, timesOut: ['A'], states: 194 },
  'both rotate, and may time out': {
    nodes: ['A', 'B'],
    rotations: { A: 1, B: 1 },
    timesOut: ['A', 'B'],
    states: 5_177,
  },
  'one rotates, is slow, and may time out': {
    nodes: ['A', 'B'],
    rotations: { A: 1 },
    timesOut: ['A'],
    isSlow: true,
    states: 733,
  },
  'both rotate, are slow, and may time out': {
    nodes: ['A', 'B'],
    rotations: { A: 1, B: 1 },
    timesOut: ['A', 'B'],
    isSlow: true,
    states: 23_295,
  },
  'one rotates, and may reboot': { nodes: ['A', 'B'], rotations: { A: 1 }, reboots: ['A'], states: 383 },
  'one rotates, and the other may reboot': { nodes: ['A', 'B'], rotations: { A: 1 }, reboots: ['B'], states: 626 },
  'both rotate, and may reboot': { nodes: ['A', 'B'], rotations: { A: 1, B: 1 }, reboots: ['A', 'B'], states: 36_284 },
  'one rotates, and another node joins': { nodes: ['A', 'B', 'Bb'], rotations: { A: 1 }, joins: ['Bb'], states: 5_587 },
  'one rotates, and another node may leave': {
    nodes: ['A', 'B', 'Bb'],
    rotations: { A: 1 },
    leaves: ['Bb'],
    states: 1_406,
  },
  'two rotate, and one of them may leave': {
    nodes: ['A', 'B', 'Bb'],
    rotations: { A: 1, Bb: 1 },
    leaves: ['Bb'],
    states: 6_303,
  },
};

const shortCases = Object.entries(cases).filter(([, { states }]) => states <= MOST_STATES);

describe('whatever comes first, it ends, and no packet is lost or waits, if', () => {
  it.each(shortCases)('%s', (_, { states: expected, ...given }) => {
    const { states, faults } = explore(given, nextActions);
    expect(Object.fromEntries(faults)).toEqual({});
    expect(states).toBe(expected);
  });
});

const clock = { nowMs: 100_000, silenceMs: 75_000, dueMs: Infinity, timeoutMs: 600_000 };
const peer: PlanePeer = { publicKey: 'B1', keepsAlive: true, hasHandshake: true, heardMs: clock.nowMs };

/** Two peers on plane 0. */
const home: OwnPlanes = {
  keys: { current: { publicKey: 'A1', writtenMs: 0 }, next: undefined },
  devices: [{ publicKey: 'A1', peers: new Map(['b1', 'b2'].map((node) => [node, peer])) }, undefined],
  routed: new Map(),
  subnets: 0,
  announced: { publicKey: 'A1', plane: 0 },
};

/** Its rotation began. */
const out: OwnPlanes = {
  ...home,
  keys: { ...home.keys, next: { publicKey: 'A2', writtenMs: clock.nowMs } },
  devices: [home.devices[0], { publicKey: 'A2', peers: new Map() }],
};

const remotes = new Map(
  ['b2', 'b1'].map((node) => [
    node,
    { publicKey: 'B1', plane: 0, endpoint: `${node}:51820`, knowsPlanes: true } as const,
  ]),
);

describe('the next actions', () => {
  it('are none while nothing rotates', () => {
    expect(nextActions(home, remotes, clock)).toEqual([]);
  });

  it('begin a rotation when the key is due', () => {
    expect(nextActions(home, remotes, { ...clock, dueMs: clock.nowMs })).toEqual([{ kind: 'begin' }]);
  });

  it('are all that need no new observation, in the order of Nodes', () => {
    const entry = { kind: 'set-peer', plane: 1, publicKey: 'B1', keepsAlive: true };
    expect(nextActions(out, remotes, clock)).toEqual([
      { ...entry, node: 'b1' },
      { ...entry, node: 'b2' },
    ]);
  });

  it('are only devices while the remote is unknown', () => {
    expect(nextActions(out, undefined, clock)).toEqual([]);
    expect(nextActions({ ...out, devices: [home.devices[0], undefined] }, undefined, clock)).toEqual([
      { kind: 'create-device', plane: 1, publicKey: 'A2' },
    ]);
  });
});

describe('a Node that stays on plane 1', () => {
  const due = { ...clock, dueMs: clock.nowMs };
  const b1 = { publicKey: 'B2', plane: 1, endpoint: 'b1:51920', knowsPlanes: true } as const;
  const b2 = remotes.get('b2')!;
  const met: OwnPlanes = {
    ...home,
    devices: [
      {
        publicKey: 'A1',
        peers: new Map([
          ['b1', { ...peer, keepsAlive: false }],
          ['b2', peer],
        ]),
      },
      { publicKey: 'A1', peers: new Map([['b1', { ...peer, publicKey: 'B2' }]]) },
    ],
    routed: new Map([['b1', 'all']]),
  };

  it('keeps our key as long as its own rotation may take', () => {
    expect(nextActions(met, new Map(Object.entries({ b1, b2 })), due)).toEqual([]);
  });

  it('keeps its place on plane 1 while our key isn’t due', () => {
    expect(nextActions(met, new Map(Object.entries({ b1: { ...b1, isOverdue: true }, b2 })), clock)).toEqual([]);
  });

  it('does not keep our key any longer, but gets its place back', () => {
    const overdue = new Map(Object.entries({ b1: { ...b1, isOverdue: true }, b2 }));
    expect(nextActions(met, overdue, due)).toEqual([
      { kind: 'set-keepalive', plane: 0, node: 'b1', isOn: true },
      { kind: 'unroute-node', node: 'b1' },
      { kind: 'remove-peer', plane: 1, node: 'b1' },
    ]);
    const left = {
      ...met,
      devices: [home.devices[0], { publicKey: 'A1', peers: new Map() }],
      routed: new Map(),
    } as const;
    expect(nextActions(left, overdue, due)).toEqual([{ kind: 'delete-device', plane: 1 }]);
    expect(nextActions(home, overdue, due)).toEqual([{ kind: 'begin' }]);
    expect(nextActions(out, overdue, due)).toContainEqual({
      kind: 'set-peer',
      plane: 1,
      node: 'b1',
      publicKey: 'B2',
      keepsAlive: true,
      endpoint: 'b1:51920',
    });
  });

  it('waits for other Nodes that may still end theirs', () => {
    const nodes = new Map(Object.entries({ b1: { ...b1, isOverdue: true }, b2: { ...b2, plane: 1 as const } }));
    expect(nextActions(met, nodes, due)).not.toContainEqual(expect.objectContaining({ kind: 'remove-peer' }));
  });
});

describe('a commit', () => {
  const quiet = { ...peer, keepsAlive: false, heardMs: 0 };
  const withPeers = (onPlane1: PlanePeer, node: 'all' | undefined): OwnPlanes => ({
    ...out,
    devices: [
      { publicKey: 'A1', peers: new Map([['b1', quiet]]) },
      { publicKey: 'A2', peers: new Map([['b1', onPlane1]]) },
    ],
    routed: new Map(node === undefined ? [] : [['b1', node]]),
    announced: { publicKey: 'A2', plane: 1 },
  });
  const only = new Map([['b1', remotes.get('b1')!]]);
  const waiting = { ...clock, timeoutMs: Infinity };
  const late = { ...waiting, nowMs: clock.nowMs + 10 * clock.timeoutMs };
  const down = withPeers({ ...peer, hasHandshake: false }, undefined);

  it('does without a Node that is down', () => {
    expect(nextActions(down, only, clock)).toEqual([{ kind: 'commit' }]);
  });

  it('waits for it, however long, if all must follow', () => {
    expect(nextActions(down, only, late)).toEqual([]);
    expect(nextActions(withPeers(quiet, 'all'), only, late)).toEqual([{ kind: 'commit' }]);
  });
});

describe('each rule is needed:', () => {
  it.each([
    ['a node commits before the others are silent', 'one node rotates', 'a packet from B to A is lost'],
    ['the rotating node moves before a handshake', 'one node rotates', 'a packet from A to B is lost'],
    ['the other end moves before a handshake', 'one node rotates', 'a packet from B to A waits'],
    ['a node comes home before a handshake', 'one node rotates', 'a packet from A to B is lost'],
    ['an entry leaves plane 1 without a silence', 'one node rotates', 'a packet from B to A is lost'],
    ['a node announces plane 1 before it has all entries', 'one node rotates', 'A announces plane 1 too early'],
    [
      'plane 1 sends to the port of plane 0',
      'one rotates, and may time out',
      'plane 0 of B sees one key of A from two ports',
    ],
    ['plane 0 follows an announcement of plane 1', 'one node rotates', 'a packet from A to B is lost'],
    ['a rotation begins while plane 1 is in use', 'both rotate', 'a packet from A to B is lost'],
    ['plane 0 goes with the routes of the pod subnets', 'one node rotates', 'A has no route for the pod subnets'],
    [
      'a Node with one device is left as the others are',
      'one rotates, with a Go program',
      'plane 0 of B sees one key of A from two ports',
    ],
    ['a node does not say that it has moved', 'one node rotates', 'no end can be reached'],
    ['a node is silent on plane 1 before it has left it', 'one node rotates', 'A sends to B without a keepalive'],
    ['a Node that is gone keeps its entries', 'one rotates, and another node may leave', 'no end can be reached'],
  ] as const)('%s', (mutant, name, fault) => {
    const { states: _, ...given } = cases[name]!;
    const { faults } = explore(given, mutants[mutant], { limit: 3_000 });
    expect([...faults.keys()]).toContain(fault);
  });
});
