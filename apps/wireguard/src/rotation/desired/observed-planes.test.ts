import { describe, expect, it } from 'vitest';
import { cidr, desiredPeers, key, observedDevice, observedPeer, remoteNode } from '../../../test/support/builders.ts';
import { foreignRoutes, observedPlanes, type PlanesObservation, rangesOf, remotePlanes } from './observed-planes.ts';

const names = ['wireguard.c2', 'wireguard.c2.1'] as const;
const podSubnets = [cidr('10.4.0.0/16'), cidr('fd00:4::/48')];
const keys = { current: { publicKey: key(200), writtenMs: 0 }, next: undefined };
const through = (device: string, ...destinations: readonly string[]) =>
  destinations.map((destination) => ({ destination, device, protocol: 115 }));
const subnets = podSubnets.map(({ text }) => text);

const peersOf = (...nodes: Parameters<typeof remoteNode>[]) =>
  desiredPeers(
    nodes.map((node) => remoteNode(...node)),
    { ownKeys: new Set() },
  ).peers;
const peers = peersOf(['n1', ['10.4.1.0/24', 'fd00:4:0:1::/64']], ['n2', ['10.4.2.0/24']]);

const observation = (more: Partial<PlanesObservation> = {}): PlanesObservation => ({
  names,
  devices: [observedDevice([]), undefined],
  routes: through(names[0], ...subnets),
  keys,
  announced: undefined,
  heardMs: () => 7,
  ...more,
});

describe('the planes of a remote', () => {
  it('have an entry of each Node, with whatever key', () => {
    const first = observedPeer(key(50), { allowedIps: ['10.4.1.0/24', 'fd00:4:0:1::/64'], keepaliveSeconds: 0 });
    const second = observedPeer(key(2), { allowedIps: [], latestHandshakeSeconds: undefined });
    const other = observedPeer(key(99), { allowedIps: ['10.4.9.0/24'] });
    const { own, entries } = observedPlanes(
      observation({ devices: [observedDevice([other, second, first]), undefined] }),
      podSubnets,
      peers,
    );
    expect(entries[0]).toEqual(
      new Map([
        ['n1', first],
        ['n2', second],
      ]),
    );
    expect(own.devices[0]?.peers).toEqual(
      new Map([
        ['n1', { publicKey: key(50), keepsAlive: false, hasHandshake: true, heardMs: 7 }],
        ['n2', { publicKey: key(2), keepsAlive: true, hasHandshake: false, heardMs: 7 }],
      ]),
    );
  });

  it.each([
    { name: 'plane 0', routes: through(names[0], ...subnets), want: 0 },
    { name: 'plane 1', routes: through(names[1], ...subnets), want: 1 },
    {
      name: 'neither, while they differ',
      routes: [...through(names[0], subnets[0]!), ...through(names[1], subnets[1]!)],
    },
    { name: 'neither, if one is missing', routes: through(names[0], subnets[0]!) },
    {
      name: 'neither, without our mark',
      routes: through(names[0], ...subnets).map((each) => ({ ...each, protocol: 3 })),
    },
    {
      name: 'what is ours, if the other route is that of another program',
      routes: [...through(names[1], subnets[0]!), { destination: subnets[1]!, device: 'eth0', protocol: 3 }],
      want: 1,
    },
  ])('lead the pod subnets through $name', ({ routes, want }) => {
    expect(observedPlanes(observation({ routes }), podSubnets, peers).own.subnets).toBe(want);
  });

  it('say whether some or all ranges of a Node lead through plane 1', () => {
    const routes = [...through(names[0], ...subnets), ...through(names[1], '10.4.1.0/24', '10.4.2.0/24')];
    expect(observedPlanes(observation({ routes }), podSubnets, peers).own.routed).toEqual(
      new Map([
        ['n1', 'some'],
        ['n2', 'all'],
      ]),
    );
  });
});

it('gives a Node whose block is a whole pod subnet routes of its own: its halves', () => {
  const [node] = peersOf(['n1', ['10.4.0.0/16', 'fd00:4::/48']]);
  expect(rangesOf(node!, podSubnets)).toEqual(['10.4.0.0/17', '10.4.128.0/17', 'fd00:4::/49', 'fd00:4:0:8000::/49']);
});

it('leaves the routes of other programs', () => {
  const foreign = { destination: '10.4.1.0/24', device: 'eth0', protocol: 3 };
  const ours = through(names[1], '10.4.2.0/24');
  const routes = [foreign, ...ours, { destination: '10.4.2.0/24', device: names[0], protocol: 3 }];
  expect(foreignRoutes({ names, routes }, ['10.4.1.0/24', '10.4.2.0/24'])).toEqual([foreign]);
});

it('takes a Node without planes for one with one device', () => {
  const [one, two] = peersOf(['n1', ['10.4.1.0/24']], ['n2', ['10.4.2.0/24'], { plane: 1 }]);
  expect([...remotePlanes([one!, two!], ['n2']).values()]).toMatchObject([
    { plane: 0, knowsPlanes: false, isOverdue: false },
    { plane: 1, knowsPlanes: true, isOverdue: true },
  ]);
});
