import { routeProtocol } from '../../../names.ts';
import { compareCidrs } from '@kube-semaphore/net';
import type { LinkAddress, Peer, PeerChange, Route } from '@kube-semaphore/wireguard-tools';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DesiredPeer } from '../peers.ts';
import { type DesiredDevice, type DeviceDiff, diffDevice, isEmpty, type ObservedDevice } from './device.ts';
import type { EndpointMemory } from './peers.ts';
import { key, observedDevice, observedLink, observedPeer } from '../../../../test/support/builders.ts';

const DEVICE = 'wireguard.c2';
const SUBNET = '10.4.0.0/16';
const A = '10.4.1.0/24';
const B = '10.4.2.0/24';
const HOME = '192.0.2.1:51820';
const AWAY = '198.51.100.9:4242';

const route = (destination: string, device: string | undefined = DEVICE, protocol = routeProtocol): Route => ({
  destination,
  device,
  protocol,
});

const peer: DesiredPeer = { node: 'n1', publicKey: key(1), endpoint: HOME, allowedIps: [A] };

const desired: DesiredDevice = {
  name: DEVICE,
  alias: 'semaphore-wireguard c2',
  mtuBytes: 1420,
  listenPort: 51_820,
  publicKey: key(200),
  addresses: [],
  routes: [SUBNET],
  peers: [peer],
};

const observed: ObservedDevice = {
  device: observedDevice([observedPeer(key(1))]),
  link: observedLink(),
  routes: [route(SUBNET)],
};

const memory: EndpointMemory = { nowSeconds: 1_000, staleSeconds: 180, annotated: new Map() };

const NOTHING: DeviceDiff = {
  setsKey: false,
  listenPort: undefined,
  peers: [],
  link: {},
  addresses: { add: [], delete: [] },
  routes: { add: [], replace: [], delete: [], blocked: [] },
};

const withPeers = (...peers: readonly Peer[]): ObservedDevice => ({ ...observed, device: observedDevice(peers) });

describe('diffDevice', () => {
  it('is empty if nothing differs', () => {
    const diff = diffDevice(observed, desired, memory);
    expect(diff).toEqual(NOTHING);
    expect(isEmpty(diff)).toBe(true);
  });

  it.each<{ name: string; from?: Partial<ObservedDevice>; to?: Partial<DesiredDevice>; want: Partial<DeviceDiff> }>([
    {
      name: 'sets a missing key',
      from: { device: observedDevice([observedPeer(key(1))], { publicKey: undefined }) },
      want: { setsKey: true },
    },
    { name: 'sets a different key', to: { publicKey: key(201) }, want: { setsKey: true } },
    { name: 'sets the port', to: { listenPort: 51_821 }, want: { listenPort: 51_821 } },
    {
      name: 'sets the mark',
      from: { link: observedLink({ alias: '' }) },
      want: { link: { alias: 'semaphore-wireguard c2' } },
    },
    { name: 'sets the MTU', to: { mtuBytes: 1380 }, want: { link: { mtuBytes: 1380 } } },
    { name: 'sets it up', from: { link: observedLink({ up: false }) }, want: { link: { up: true } } },
    {
      name: 'adds addresses',
      to: { addresses: ['10.2.1.1', 'fd00:2::1'] },
      want: {
        addresses: {
          add: [
            { ip: '10.2.1.1', prefixLength: 32 },
            { ip: 'fd00:2::1', prefixLength: 128 },
          ],
          delete: [],
        },
      },
    },
    {
      name: 'deletes other addresses, except the kernel’s own',
      from: {
        link: observedLink({
          addresses: [
            { ip: '10.2.1.1', prefixLength: 24 },
            { ip: 'fe80::1', prefixLength: 64 },
            { ip: 'fd00:2::1', prefixLength: 128 },
          ],
        }),
      },
      to: { addresses: ['10.2.1.1'] },
      want: {
        addresses: {
          add: [{ ip: '10.2.1.1', prefixLength: 32 }],
          delete: [
            { ip: '10.2.1.1', prefixLength: 24 },
            { ip: 'fd00:2::1', prefixLength: 128 },
          ],
        },
      },
    },
    {
      name: 'adds a route',
      from: { routes: [] },
      want: { routes: { ...NOTHING.routes, add: [{ destination: SUBNET, device: DEVICE, protocol: routeProtocol }] } },
    },
    {
      name: 'marks a route of the Go program',
      from: { routes: [route(SUBNET, DEVICE, 3)] },
      want: {
        routes: { ...NOTHING.routes, replace: [{ destination: SUBNET, device: DEVICE, protocol: routeProtocol }] },
      },
    },
    {
      name: 'replaces our route through another device',
      from: { routes: [route(SUBNET, 'wg-old')] },
      want: {
        routes: { ...NOTHING.routes, replace: [{ destination: SUBNET, device: DEVICE, protocol: routeProtocol }] },
      },
    },
    {
      name: 'keeps a route of somebody else',
      from: { routes: [route(SUBNET, 'eth0', 4)] },
      want: { routes: { ...NOTHING.routes, blocked: [route(SUBNET, 'eth0', 4)] } },
    },
    {
      name: 'keeps a route of somebody else beside one through our device',
      from: { routes: [route(SUBNET, DEVICE, 3), route(SUBNET, 'eth0', 4)] },
      want: { routes: { ...NOTHING.routes, blocked: [route(SUBNET, 'eth0', 4)] } },
    },
    {
      name: 'keeps a blackhole',
      from: { routes: [{ ...route(SUBNET), device: undefined, protocol: 80 }] },
      want: { routes: { ...NOTHING.routes, blocked: [{ destination: SUBNET, device: undefined, protocol: 80 }] } },
    },
    {
      name: 'is empty with our route beside one of somebody else',
      from: { routes: [route(SUBNET, 'eth0', 4), route(SUBNET)] },
      want: {},
    },
    {
      name: 'deletes our route that is not desired',
      from: { routes: [route(SUBNET), route('10.9.0.0/16')] },
      want: {
        routes: {
          ...NOTHING.routes,
          delete: [{ destination: '10.9.0.0/16', device: DEVICE, protocol: routeProtocol }],
        },
      },
    },
    {
      name: 'keeps other routes through it that somebody added',
      from: { routes: [route(SUBNET), route('10.9.0.0/16', DEVICE, 3)] },
      want: {},
    },
    {
      name: 'keeps our routes through other devices',
      from: { routes: [route(SUBNET), route('10.9.0.0/16', 'wireguard.c3')] },
      want: {},
    },
    {
      name: 'keeps the peers of an unknown remote',
      from: withPeers(observedPeer(key(9)), observedPeer(key(8))),
      to: { peers: undefined },
      want: {},
    },
  ])('$name', ({ from, to, want }) => {
    const diff = diffDevice({ ...observed, ...from }, { ...desired, ...to }, memory);
    expect(diff).toEqual({ ...NOTHING, ...want });
    expect(isEmpty(diff)).toBe(Object.keys(want).length === 0 || diff.routes.blocked.length > 0);
  });

  it.each<{
    name: string;
    from: readonly Peer[];
    to?: readonly DesiredPeer[];
    memory?: Partial<EndpointMemory>;
    want: readonly PeerChange[];
  }>([
    {
      name: 'adds a peer',
      from: [],
      want: [{ publicKey: key(1), endpoint: HOME, allowedIps: [A], keepaliveSeconds: 25 }],
    },
    {
      name: 'adds a seeded peer without an endpoint',
      from: [],
      to: [{ ...peer, endpoint: undefined }],
      want: [{ publicKey: key(1), allowedIps: [A], keepaliveSeconds: 25 }],
    },
    {
      name: 'removes a peer whose Node is gone',
      from: [observedPeer(key(1))],
      to: [],
      want: [{ publicKey: key(1), remove: true }],
    },
    {
      name: 'removes a peer that somebody else set',
      from: [observedPeer(key(1)), observedPeer(key(9), { allowedIps: [] })],
      want: [{ publicKey: key(9), remove: true }],
    },
    {
      name: 'sets only the blocks',
      from: [observedPeer(key(1), { allowedIps: [B] })],
      want: [{ publicKey: key(1), allowedIps: [A] }],
    },
    {
      name: 'removes a block',
      from: [observedPeer(key(1), { allowedIps: [A, B] })],
      want: [{ publicKey: key(1), allowedIps: [A] }],
    },
    {
      name: 'ignores the order of blocks',
      from: [observedPeer(key(1), { allowedIps: [B, A] })],
      to: [{ ...peer, allowedIps: [A, B] }],
      want: [],
    },
    {
      name: 'sets the keepalive',
      from: [observedPeer(key(1), { keepaliveSeconds: 0 })],
      want: [{ publicKey: key(1), keepaliveSeconds: 25 }],
    },
    {
      name: 'removes a preshared key',
      from: [observedPeer(key(1), { hasPresharedKey: true })],
      want: [{ publicKey: key(1), clearPresharedKey: true }],
    },
    {
      name: 'keeps the endpoint of a peer that moved',
      from: [observedPeer(key(1), { endpoint: AWAY })],
      memory: { annotated: new Map([[key(1), HOME]]) },
      want: [],
    },
    { name: 'keeps it after a start, too', from: [observedPeer(key(1), { endpoint: AWAY })], want: [] },
    {
      name: 'keeps it until the handshake is 180 s old',
      from: [observedPeer(key(1), { endpoint: AWAY, latestHandshakeSeconds: 820 })],
      want: [],
    },
    {
      name: 'sets the announced endpoint after that',
      from: [observedPeer(key(1), { endpoint: AWAY, latestHandshakeSeconds: 819 })],
      want: [{ publicKey: key(1), endpoint: HOME }],
    },
    {
      name: 'sets the announced endpoint of a peer that never answered',
      from: [observedPeer(key(1), { endpoint: AWAY, latestHandshakeSeconds: undefined })],
      want: [{ publicKey: key(1), endpoint: HOME }],
    },
    {
      name: 'sets the endpoint of a new annotation',
      from: [observedPeer(key(1), { endpoint: AWAY })],
      memory: { annotated: new Map([[key(1), '192.0.2.77:51820']]) },
      want: [{ publicKey: key(1), endpoint: HOME }],
    },
    {
      name: 'changes nothing of a silent peer with the announced endpoint',
      from: [observedPeer(key(1), { latestHandshakeSeconds: undefined })],
      want: [],
    },
    {
      name: 'sets a missing endpoint',
      from: [observedPeer(key(1), { endpoint: undefined })],
      want: [{ publicKey: key(1), endpoint: HOME }],
    },
    {
      name: 'keeps the endpoint of a seeded peer',
      from: [observedPeer(key(1), { endpoint: AWAY, latestHandshakeSeconds: undefined })],
      to: [{ ...peer, endpoint: undefined }],
      want: [],
    },
    {
      name: 'removes before it sets, in the order of keys',
      from: [observedPeer(key(9)), observedPeer(key(8))],
      to: [{ ...peer, publicKey: key(2), allowedIps: [B] }, peer],
      want: [
        { publicKey: key(8), remove: true },
        { publicKey: key(9), remove: true },
        expect.objectContaining({ publicKey: key(1) }),
        expect.objectContaining({ publicKey: key(2) }),
      ],
    },
  ])('$name', ({ from, to = [peer], memory: more, want }) => {
    expect(diffDevice(withPeers(...from), { ...desired, peers: to }, { ...memory, ...more }).peers).toEqual(want);
  });
});

/** The result of a diff in the kernel. A block moves to the peer that was set last. */
function apply({ device, link, routes }: ObservedDevice, diff: DeviceDiff, to: DesiredDevice): ObservedDevice {
  const peers = new Map(device.peers.map((each) => [each.publicKey, each]));
  for (const change of diff.peers) {
    if (change.remove === true) {
      peers.delete(change.publicKey);
      continue;
    }
    const { publicKey, endpoint, allowedIps, keepaliveSeconds, clearPresharedKey } = change;
    const before =
      peers.get(publicKey) ??
      observedPeer(publicKey, {
        endpoint: undefined,
        allowedIps: [],
        latestHandshakeSeconds: undefined,
        keepaliveSeconds: 0,
      });
    if (allowedIps !== undefined) {
      for (const [other, each] of peers)
        peers.set(other, { ...each, allowedIps: each.allowedIps.filter((text) => !allowedIps.includes(text)) });
    }
    peers.set(publicKey, {
      ...before,
      endpoint: endpoint ?? before.endpoint,
      allowedIps: allowedIps ?? before.allowedIps,
      keepaliveSeconds: keepaliveSeconds ?? before.keepaliveSeconds,
      hasPresharedKey: clearPresharedKey === true ? false : before.hasPresharedKey,
    });
  }
  const isIn = (list: readonly LinkAddress[], { ip, prefixLength }: LinkAddress) =>
    list.some((each) => each.ip === ip && each.prefixLength === prefixLength);
  const gone = [
    ...diff.routes.replace.map(({ destination }) => destination),
    ...diff.routes.delete.map(({ destination }) => destination),
  ];
  return {
    device: {
      ...device,
      peers: [...peers.values()],
      publicKey: diff.setsKey ? to.publicKey : device.publicKey,
      listenPort: diff.listenPort ?? device.listenPort,
    },
    link: {
      ...link,
      ...diff.link,
      addresses: [...link.addresses.filter((each) => !isIn(diff.addresses.delete, each)), ...diff.addresses.add],
    },
    routes: [
      ...routes.filter(({ destination }) => !gone.includes(destination)),
      ...diff.routes.add,
      ...diff.routes.replace,
    ],
  };
}

const BLOCKS = [A, B, '10.4.3.0/24', 'fd00:4:0:1::/64'];
const keys = fc.constantFrom(key(1), key(2), key(3), key(4));
/** Each block has at most one peer, as in the kernel and in the desired state. */
const peerBlocks = fc
  .tuple(...BLOCKS.map(() => fc.option(keys, { nil: undefined })))
  .map((owners) => (publicKey: string) => BLOCKS.filter((_, i) => owners[i] === publicKey));
const endpoint = fc.constantFrom(HOME, AWAY);
const anyPeers = fc
  .tuple(
    fc.uniqueArray(
      fc.record({
        publicKey: keys,
        endpoint: fc.option(endpoint, { nil: undefined }),
        handshake: fc.constantFrom(undefined, 10, 990),
        keepaliveSeconds: fc.constantFrom(0, 25),
        hasPresharedKey: fc.boolean(),
      }),
      { selector: (each) => each.publicKey },
    ),
    peerBlocks,
  )
  .map(([list, blocksOf]) =>
    list.map(({ handshake, ...each }) =>
      observedPeer(each.publicKey, {
        ...each,
        latestHandshakeSeconds: handshake,
        allowedIps: blocksOf(each.publicKey),
      }),
    ),
  );
const wantedPeers = fc
  .tuple(fc.uniqueArray(fc.record({ publicKey: keys, endpoint }), { selector: (each) => each.publicKey }), peerBlocks)
  .map(([list, blocksOf]) =>
    list.map((each): DesiredPeer => ({ ...each, node: 'n', allowedIps: blocksOf(each.publicKey) })),
  );
const ips = fc.uniqueArray(fc.constantFrom('10.2.1.1', '10.2.1.2', 'fd00:2::1'));
const destinations = fc.uniqueArray(fc.constantFrom(SUBNET, '10.5.0.0/16', 'fd00:4::/48'));

const anyObserved: fc.Arbitrary<ObservedDevice> = fc
  .record({
    peers: anyPeers,
    publicKey: fc.constantFrom(undefined, key(200), key(201)),
    listenPort: fc.constantFrom(0, 51_820),
    link: fc.record({
      up: fc.boolean(),
      mtuBytes: fc.constantFrom(1380, 1420),
      alias: fc.constantFrom('', 'semaphore-wireguard c2'),
    }),
    addresses: fc.uniqueArray(
      fc.constantFrom(
        { ip: '10.2.1.1', prefixLength: 24 },
        { ip: '10.2.1.1', prefixLength: 32 },
        { ip: 'fd00:2::1', prefixLength: 64 },
        { ip: 'fd00:2::1', prefixLength: 128 },
      ),
    ),
    routes: fc.uniqueArray(
      fc.record({
        destination: fc.constantFrom(SUBNET, '10.5.0.0/16', '10.6.0.0/16'),
        device: fc.constantFrom(DEVICE, 'wg-old'),
        protocol: fc.constant(routeProtocol),
      }),
      { selector: (each) => each.destination },
    ),
  })
  .map(({ peers, publicKey, listenPort, link, addresses, routes }) => ({
    device: observedDevice(peers, { publicKey, listenPort }),
    link: observedLink({ ...link, addresses }),
    routes,
  }));
const anyDesired: fc.Arbitrary<DesiredDevice> = fc
  .record({ peers: wantedPeers, addresses: ips, routes: destinations })
  .map((some) => ({ ...desired, ...some }));
const anyMemory = fc
  .array(fc.tuple(keys, endpoint))
  .map((known): EndpointMemory => ({ ...memory, annotated: new Map(known) }));

const blocksByKey = (peers: readonly { readonly publicKey: string; readonly allowedIps: readonly string[] }[]) =>
  Object.fromEntries(peers.map(({ publicKey, allowedIps }) => [publicKey, allowedIps.toSorted(compareCidrs)]));

describe('for any observed and desired device', () => {
  it('a diff turns one into the other, and the next diff is empty', () => {
    fc.assert(
      fc.property(anyObserved, anyDesired, anyMemory, (from, to, known) => {
        const after = apply(from, diffDevice(from, to, known), to);
        const remembered = {
          ...known,
          annotated: new Map(to.peers?.map((each) => [each.publicKey, each.endpoint ?? ''])),
        };
        expect(diffDevice(after, to, remembered)).toEqual(NOTHING);
        expect(blocksByKey(after.device.peers)).toEqual(blocksByKey(to.peers ?? []));
        const { publicKey, listenPort } = after.device;
        expect({
          publicKey,
          listenPort,
          mtuBytes: after.link.mtuBytes,
          alias: after.link.alias,
          up: after.link.up,
        }).toEqual({ publicKey: to.publicKey, listenPort: 51_820, mtuBytes: 1420, alias: to.alias, up: true });
        expect(after.link.addresses.map(({ ip }) => ip).toSorted()).toEqual(to.addresses.toSorted());
        expect(
          after.routes
            .filter(({ device }) => device === DEVICE)
            .map(({ destination }) => destination)
            .toSorted(),
        ).toEqual(to.routes.toSorted());
      }),
    );
  });

  it('no order changes the diff', () => {
    fc.assert(
      fc.property(anyObserved, anyDesired, anyMemory, (from, to, known) => {
        const turned: ObservedDevice = {
          device: {
            ...from.device,
            peers: from.device.peers
              .map((each) => ({ ...each, allowedIps: each.allowedIps.toReversed() }))
              .toReversed(),
          },
          link: { ...from.link, addresses: from.link.addresses.toReversed() },
          routes: from.routes.toReversed(),
        };
        const turnedTo = {
          ...to,
          peers: to.peers?.toReversed(),
          addresses: to.addresses.toReversed(),
          routes: to.routes.toReversed(),
        };
        expect(diffDevice(turned, turnedTo, known)).toEqual(diffDevice(from, to, known));
      }),
    );
  });

  it('a peer without a difference is not named', () => {
    fc.assert(
      fc.property(anyObserved, anyDesired, (from, to) => {
        const equal = observedPeer(key(50), { allowedIps: ['10.4.50.0/24'] });
        const diff = diffDevice(
          { ...from, device: { ...from.device, peers: [...from.device.peers, equal] } },
          {
            ...to,
            peers: [
              ...(to.peers ?? []),
              { node: 'n50', publicKey: key(50), endpoint: HOME, allowedIps: ['10.4.50.0/24'] },
            ],
          },
          memory,
        );
        expect(diff.peers.map(({ publicKey }) => publicKey)).not.toContain(key(50));
      }),
    );
  });
});
