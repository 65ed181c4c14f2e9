import { describe, expect, it } from 'vitest';
import { deviceOf } from './observe.ts';
import { type OwnershipRules, ownershipOf } from './ownership.ts';
import { key, observedDevice, observedLink, observedNode, observedPeer } from '../../../test/support/builders.ts';

const c2 = { name: 'c2', device: 'wireguard.c2' };
const rules: OwnershipRules = { knownKeys: new Set([key(200)]), userspace: 'auto' };

describe('ownershipOf', () => {
  it.each([
    { name: 'absent', node: observedNode(['eth0', '']), want: { kind: 'absent' } },
    {
      name: 'ours by its mark',
      node: observedNode(['wireguard.c2', 'semaphore-wireguard c2', key(7)]),
      want: { kind: 'ours' },
    },
    {
      name: 'ours before it speaks WireGuard',
      node: observedNode(['wireguard.c2', 'semaphore-wireguard c2']),
      want: { kind: 'ours' },
    },
    { name: 'adopted by its key', node: observedNode(['wireguard.c2', '', key(200)]), want: { kind: 'adopted' } },
    {
      name: 'foreign by its key',
      node: observedNode(['wireguard.c2', '', key(7)]),
      want: { kind: 'foreign', reason: 'wireguard.c2 has neither our mark nor our key' },
    },
    {
      name: 'foreign with another alias',
      node: observedNode(['wireguard.c2', 'mine', key(7)]),
      want: { kind: 'foreign', reason: 'wireguard.c2 has neither our mark nor our key' },
    },
    {
      name: 'foreign with the mark of another remote',
      node: observedNode(['wireguard.c2', 'semaphore-wireguard c3', key(200)]),
      want: { kind: 'foreign', reason: 'wireguard.c2 leads to c3' },
    },
    {
      name: 'foreign without WireGuard',
      node: observedNode(['wireguard.c2', '']),
      want: { kind: 'foreign', reason: 'wireguard.c2 is not a WireGuard device' },
    },
  ])('finds a device $name', ({ node, want }) => {
    expect(ownershipOf(c2, deviceOf(node, c2.device), rules)).toEqual(want);
  });

  it.each([
    { name: 'one that wireguard-go created for us', kind: 'tun', peers: [], userspace: 'auto', want: 'adopted' },
    {
      name: 'none of wireguard-go if -userspace is never',
      kind: 'tun',
      peers: [],
      userspace: 'never',
      want: 'foreign',
    },
    {
      name: 'none with a peer',
      kind: 'tun',
      peers: [observedPeer(key(1))],
      userspace: 'auto',
      want: 'foreign',
    },
    {
      name: 'none of the kernel, which we create ourselves',
      kind: 'wireguard',
      peers: [],
      userspace: 'auto',
      want: 'foreign',
    },
  ] as const)('adopts, of devices without a key, $name', ({ kind, peers, userspace, want }) => {
    const device = observedDevice(peers, { publicKey: undefined });
    const link = observedLink({ alias: '', kind });
    expect(ownershipOf(c2, { device, link }, { ...rules, userspace }).kind).toBe(want);
  });

  it.each([
    { name: 'awaited if a wireguard-go may be starting', kind: 'tun', userspace: 'auto', want: 'awaited' },
    { name: 'foreign if -userspace is never', kind: 'tun', userspace: 'never', want: 'foreign' },
    { name: 'foreign if it is not a TUN device', kind: 'veth', userspace: 'auto', want: 'foreign' },
  ] as const)('finds a device that does not speak WireGuard $name', ({ kind, userspace, want }) => {
    const link = observedLink({ alias: '', kind });
    expect(ownershipOf(c2, { device: undefined, link }, { ...rules, userspace }).kind).toBe(want);
  });
});
