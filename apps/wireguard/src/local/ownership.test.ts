import { describe, expect, it } from 'vitest';
import {
  displacedDevices,
  type NodeDevices,
  type OwnershipRules,
  ownershipOf,
  orphanDevices,
  takenPorts,
} from './ownership.ts';
import { key, observedDevice, observedLink, observedPeer } from '../../test/support/builders.ts';

const c2 = { name: 'c2', device: 'wireguard.c2', listenPort: 51_820 };
const rules: OwnershipRules = { knownKeys: new Set([key(200)]), userspace: 'auto' };

/** A node with devices: name, alias, and the public key of those that speak WireGuard. */
const having = (...list: readonly (readonly [name: string, alias: string, publicKey?: string])[]): NodeDevices => ({
  links: list.map(([name, alias]) => observedLink({ name, alias })),
  devices: list.flatMap(([name, , publicKey]) =>
    publicKey === undefined ? [] : [observedDevice([], { name, publicKey })],
  ),
});

describe('ownershipOf', () => {
  it.each([
    { name: 'absent', node: having(['eth0', '']), want: { kind: 'absent' } },
    {
      name: 'ours by its mark',
      node: having(['wireguard.c2', 'semaphore-wireguard c2', key(7)]),
      want: { kind: 'ours' },
    },
    {
      name: 'ours before it speaks WireGuard',
      node: having(['wireguard.c2', 'semaphore-wireguard c2']),
      want: { kind: 'ours' },
    },
    { name: 'adopted by its key', node: having(['wireguard.c2', '', key(200)]), want: { kind: 'adopted' } },
    {
      name: 'foreign by its key',
      node: having(['wireguard.c2', '', key(7)]),
      want: { kind: 'foreign', reason: 'wireguard.c2 has neither our mark nor our key' },
    },
    {
      name: 'foreign with another alias',
      node: having(['wireguard.c2', 'mine', key(7)]),
      want: { kind: 'foreign', reason: 'wireguard.c2 has neither our mark nor our key' },
    },
    {
      name: 'another remote’s',
      node: having(['wireguard.c2', 'semaphore-wireguard c3', key(200)]),
      want: { kind: 'foreign', reason: 'wireguard.c2 leads to c3' },
    },
    {
      name: 'no WireGuard',
      node: having(['wireguard.c2', '']),
      want: { kind: 'foreign', reason: 'wireguard.c2 is a device, and no WireGuard' },
    },
  ])('finds a device $name', ({ node, want }) => {
    expect(ownershipOf(c2, node, rules)).toEqual(want);
  });

  it.each([
    { name: 'one that wireguard-go made for us', kind: 'tun', peers: [], userspace: 'auto', want: 'adopted' },
    {
      name: 'none of wireguard-go where that is not wanted',
      kind: 'tun',
      peers: [],
      userspace: 'never',
      want: 'foreign',
    },
    {
      name: 'none that somebody has given a peer',
      kind: 'tun',
      peers: [observedPeer(key(1))],
      userspace: 'auto',
      want: 'foreign',
    },
    {
      name: 'none of the kernel, which we make ourselves',
      kind: 'wireguard',
      peers: [],
      userspace: 'auto',
      want: 'foreign',
    },
  ] as const)('takes, of those without a key, $name', ({ kind, peers, userspace, want }) => {
    const node: NodeDevices = {
      links: [observedLink({ alias: '', kind })],
      devices: [observedDevice(peers, { publicKey: undefined })],
    };
    expect(ownershipOf(c2, node, { ...rules, userspace }).kind).toBe(want);
  });

  it.each([
    { name: 'awaited: a wireguard-go may be just starting', kind: 'tun', userspace: 'auto', want: 'awaited' },
    { name: 'foreign where wireguard-go is not wanted', kind: 'tun', userspace: 'never', want: 'foreign' },
    { name: 'foreign if it can be no wireguard-go’s', kind: 'veth', userspace: 'auto', want: 'foreign' },
  ] as const)('finds a device that speaks no WireGuard $name', ({ kind, userspace, want }) => {
    const node: NodeDevices = { links: [observedLink({ alias: '', kind })], devices: [] };
    expect(ownershipOf(c2, node, { ...rules, userspace }).kind).toBe(want);
  });
});

describe('orphanDevices', () => {
  it('are ours of remotes that left the config, and others only by name', () => {
    const node = having(
      ['wireguard.c3', 'semaphore-wireguard c3', key(3)],
      ['wg-b', 'semaphore-wireguard c2', key(2)],
      ['wireguard.c2', 'semaphore-wireguard c2', key(1)],
      ['wireguard.go', '', key(4)],
      ['wireguard.cali', '', key(5)],
      ['wireguard.tap', ''],
      ['wg0', '', key(6)],
      ['eth0', ''],
    );
    expect(orphanDevices(node, [c2])).toEqual({ ours: ['wg-b', 'wireguard.c3'], unmarked: ['wireguard.go'] });
  });

  it('are none where each device is that of a remote, marked or to be adopted', () => {
    expect(orphanDevices(having(['wireguard.c2', '', key(200)]), [c2])).toEqual({ ours: [], unmarked: [] });
  });

  it('has a device that is marked for another remote than it is for now', () => {
    expect(orphanDevices(having(['wireguard.c2', 'semaphore-wireguard c3', key(1)]), [c2])).toEqual({
      ours: ['wireguard.c2'],
      unmarked: [],
    });
  });
});

describe('takenPorts', () => {
  it('names who has them', () => {
    expect(takenPorts(having(['wireguard.c2', '', key(1)], ['wireguard.cali', '', key(2)]), [c2])).toEqual([
      'port 51820 of wireguard.c2 is that of wireguard.cali',
    ]);
  });

  it('overlooks devices of ours, which are told another port soon', () => {
    expect(
      takenPorts(having(['wireguard.c2', '', key(1)]), [
        { ...c2, listenPort: 51_821 },
        { device: 'wireguard.c3', listenPort: 51_820 },
      ]),
    ).toEqual([]);
  });
});

describe('displacedDevices', () => {
  const port = (name: string, listenPort: number) => observedDevice([], { name, listenPort });
  const node = {
    links: having(['wireguard.c2', 'semaphore-wireguard c2'], ['wireguard.c3', 'semaphore-wireguard c3']).links,
    devices: [port('wireguard.c2', 1), port('wireguard.c3', 2)],
  };
  const wanting = (c2Port: number, c3Port: number) => [
    { device: 'wireguard.c2', listenPort: c2Port },
    { device: 'wireguard.c3', listenPort: c3Port },
  ];

  it.each([
    { name: 'none where all have their port', remotes: wanting(1, 2), want: [] },
    { name: 'none that gets a port which nobody has', remotes: wanting(1, 3), want: [] },
    { name: 'both that change places', remotes: wanting(2, 1), want: ['wireguard.c2', 'wireguard.c3'] },
    { name: 'the one in the way of another', remotes: wanting(2, 3), want: ['wireguard.c3'] },
  ])('are $name', ({ remotes, want }) => {
    expect(displacedDevices(node, remotes)).toEqual(want);
    expect(displacedDevices({ ...node, links: [] }, remotes)).toEqual([]);
  });
});
