import { describe, expect, it } from 'vitest';
import { SilentPeers } from './silent-peers.ts';
import { key, observedPeer } from '../../../test/support/builders.ts';

const STALE = 180;

/** A peer with these sent bytes and this handshake. */
const peer = (sentBytes: number, handshakeAt?: number) =>
  observedPeer(key(1), { sentBytes, latestHandshakeSeconds: handshakeAt });

/** What each of these updates reports. */
const reportsOf = (updates: readonly (readonly [at: number, ReturnType<typeof peer>?])[]): readonly string[] => {
  const silent = new SilentPeers();
  return updates.map(([nowSeconds, seen]) => {
    const { lost, back } = silent.update(seen === undefined ? [] : [seen], { nowSeconds, staleSeconds: STALE });
    return [...lost.map(() => 'lost'), ...back.map(() => 'back')].join(' ');
  });
};

describe('a silent peer', () => {
  it.each([
    {
      name: 'is reported once, however long it lasts',
      updates: [
        [0, peer(0, 0)],
        [200, peer(1, 0)],
        [400, peer(2, 0)],
        [600, peer(3, 0)],
      ],
      want: ['', 'lost', '', ''],
    },
    {
      name: 'is reported the stale time after its last handshake, no later',
      updates: [
        [0, peer(0, 0)],
        [90, peer(3, 0)],
        [180, peer(6, 0)],
        [210, peer(7, 0)],
      ],
      want: ['', '', '', 'lost'],
    },
    {
      name: 'is reported after a start when more is sent',
      updates: [
        [500, peer(9, 0)],
        [530, peer(10, 0)],
      ],
      want: ['', 'lost'],
    },
    {
      name: 'is reported once, even if its device is created again meanwhile',
      updates: [
        [0, peer(0, 0)],
        [200, peer(1, 0)],
        [230, peer(0)],
        [500, peer(1)],
      ],
      want: ['', 'lost', '', ''],
    },
    {
      name: 'is reported if it never answered',
      updates: [
        [1_000, peer(0)],
        [1_100, peer(148)],
        [1_180, peer(296)],
      ],
      want: ['', '', 'lost'],
    },
    {
      name: 'is not reported while nothing is sent to it',
      updates: [
        [0, peer(5)],
        [200, peer(5)],
        [400, peer(5)],
      ],
      want: ['', '', ''],
    },
    {
      name: 'is not reported while it answers',
      updates: [
        [0, peer(0, 0)],
        [200, peer(1, 150)],
        [400, peer(2, 350)],
      ],
      want: ['', '', ''],
    },
    {
      name: 'is reported when it is back, and when it is lost again',
      updates: [
        [0, peer(0, 0)],
        [400, peer(2, 0)],
        [410, peer(3, 410)],
        [800, peer(4, 410)],
      ],
      want: ['', 'lost', 'back', 'lost'],
    },
    {
      name: 'is forgotten with its peer',
      updates: [[0, peer(0)], [200, peer(1)], [210], [220, peer(0)], [410, peer(1)]],
      want: ['', 'lost', '', '', 'lost'],
    },
  ] as const)('$name', ({ updates, want }) => {
    expect(reportsOf(updates)).toEqual(want);
  });
});
