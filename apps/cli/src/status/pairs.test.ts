import { describe, expect, it } from 'vitest';
import type { RemoteStatus } from '../clusters/app-status.ts';
import type { AppPod } from '../clusters/report.ts';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { pairsOf } from './pairs.ts';
import { rotationText } from './words.ts';

const pairs = (...pods: readonly AppPod[]) => pairsOf([{ cluster: 'c1', pods }]);
const agent = (name: string, remote: Partial<RemoteStatus> = {}) =>
  appPod({ app: 'semaphore-wireguard', name, remotes: [remoteStatus(remote)] });
const peer = (state: 'up' | 'stale' | 'never') => ({
  node: 'n',
  publicKey: 'k',
  state,
  endpoint: null,
  allowedIps: [],
});
const since = (second: number) => new Date(second * 1_000).toISOString();

describe('a pair', () => {
  it.each([
    { name: 'up', remote: {}, want: 'up' },
    { name: 'down', remote: { up: false }, want: 'down' },
    { name: 'not synced', remote: { synced: false, objects: null }, want: 'not-synced' },
    { name: 'stale, although it is down, too', remote: { up: false, stale: true }, want: 'stale' },
  ])('is $name', ({ remote, want }) => {
    expect(pairs(agent('a', remote))[0]?.apps['semaphore-wireguard']?.state).toBe(want);
  });

  it('has the worst state of all Pods, with its error, their newest change, and all tunnels', () => {
    const lastError = { time: since(9), message: 'refused' };
    const [pair] = pairs(
      agent('a', { peers: [peer('up'), peer('stale')], since: since(2) }),
      agent('b', { peers: [peer('never')], up: false, since: since(1), lastError }),
    );
    expect(pair).toEqual({
      from: 'c1',
      to: 'c2',
      apps: {
        'semaphore-wireguard': { state: 'down', objects: { nodes: 1 }, since: since(2), error: 'refused' },
      },
      tunnels: { up: 1, all: 3 },
      rotation: null,
      lastChange: since(2),
    });
  });

  it('has an app as unknown if no Pod of it reports anything, and lacks apps without this remote', () => {
    const unread: AppPod = { ...appPod({ app: 'semaphore-policy' }), status: { failure: 'away' } };
    const other = appPod({ app: 'semaphore-service-mirror', remotes: [remoteStatus({ name: 'c3' })] });
    expect(pairs(unread, other, agent('a')).map((pair) => [pair.to, Object.keys(pair.apps)])).toEqual([
      ['c2', ['semaphore-policy', 'semaphore-wireguard']],
      ['c3', ['semaphore-policy', 'semaphore-service-mirror']],
    ]);
    expect(pairs(unread, agent('a'))[0]?.apps['semaphore-policy']?.state).toBe('unknown');
  });

  it('has a tunnel per peer while keys rotate, on the device where it works, and says what rotates', () => {
    const rotation = { plane: 1 as const, since: since(5), rotating: [], laggards: ['n'], late: true };
    const secondDevice = { publicKey: 'k2', peers: [{ ...peer('up'), publicKey: 'next' }] };
    const [pair] = pairs(
      agent('a', { peers: [peer('stale')], secondDevice, rotation }),
      agent('b', {
        peers: [peer('up')],
        secondDevice,
        rotation: { ...rotation, since: null, rotating: ['n'], late: false },
      }),
    );
    expect(pair?.tunnels).toEqual({ up: 2, all: 2 });
    expect(pair?.rotation).toEqual({
      nodes: [{ node: 'n1', since: since(5) }],
      remoteNodes: ['n'],
      laggards: ['n'],
      late: true,
    });
    expect(rotationText({ from: 'c1', to: 'c2', rotation: pair!.rotation! })).toBe(
      'c1: keys for c2 rotate: of n1 since 1970-01-01T00:00:05.000Z, and of n in c2; not there yet: n',
    );
  });

  it('forgets the last error once it is up', () => {
    const [pair] = pairs(agent('a', { lastError: { time: since(1), message: 'refused' } }));
    expect(pair?.apps['semaphore-wireguard']?.error).toBeNull();
  });
});
