import { describe, expect, it } from 'vitest';
import { annotationPatch, clashesWith, mtuWarning, ownEndpoint, readOwnNode } from './own-node.ts';
import { cidr, key, observedLink } from '../../../test/support/builders.ts';

const addresses = [
  { type: 'Hostname', address: 'n1' },
  { type: 'ExternalIP', address: '198.51.100.1' },
  { type: 'InternalIP', address: '192.0.2.1' },
  { type: 'InternalIP', address: '2001:DB8:0::1' },
];

describe('readOwnNode', () => {
  it('reads addresses, podCIDRs, and what an administrator wrote', () => {
    expect(
      readOwnNode({
        metadata: { annotations: { 'wireguard.semaphore.uw.io/endpoint-address': '203.0.113.7' } },
        spec: { podCIDR: '10.2.1.0/24', podCIDRs: ['10.2.1.0/24', 'fd00:2::/64'] },
        status: { conditions: [], addresses },
      }),
    ).toEqual({
      internalIps: ['192.0.2.1', '2001:db8::1'],
      externalIps: ['198.51.100.1'],
      endpointAddress: '203.0.113.7',
      podCidrs: [cidr('10.2.1.0/24'), cidr('fd00:2::/64')],
    });
  });

  it('reads the single podCIDR of old servers, and skips invalid addresses', () => {
    expect(
      readOwnNode({
        metadata: { annotations: {} },
        spec: { podCIDR: '10.2.1.0/24', podCIDRs: [] },
        status: { conditions: [], addresses: [{ type: 'InternalIP', address: 'n1' }] },
      }),
    ).toEqual({
      internalIps: [],
      externalIps: [],
      endpointAddress: undefined,
      podCidrs: [cidr('10.2.1.0/24')],
    });
  });
});

describe('ownEndpoint', () => {
  const both = {
    internalIps: ['192.0.2.1', '2001:db8::1'],
    externalIps: ['198.51.100.1', '2001:db8:1::1'],
    endpointAddress: undefined,
    podCidrs: [],
  };
  const settings = {
    listenPort: 51_820,
    endpointFamily: undefined,
    endpointFrom: 'internalIP',
    dialOut: false,
  } as const;

  it.each([
    { name: 'the first address, as Go', node: both, family: undefined, want: '192.0.2.1:51820' },
    {
      name: 'the first address, even if it is IPv6',
      node: { ...both, internalIps: ['2001:db8::1', '192.0.2.1'] },
      family: undefined,
      want: '[2001:db8::1]:51820',
    },
    { name: 'that of the configured family', node: both, family: 6, want: '[2001:db8::1]:51820' },
    {
      name: 'one that other hosts can reach',
      node: { ...both, internalIps: ['169.254.0.1', '192.0.2.1'] },
      family: undefined,
      want: '192.0.2.1:51820',
    },
  ] as const)('is $name', ({ node, family, want }) => {
    expect(ownEndpoint(node, { ...settings, endpointFamily: family })).toMatchObject({
      ok: true,
      value: { text: want },
    });
  });

  it.each([
    { chosen: undefined, family: undefined, want: '198.51.100.1:51820' },
    { chosen: undefined, family: 6, want: '[2001:db8:1::1]:51820' },
    { chosen: '203.0.113.7', family: undefined, want: '203.0.113.7:51820' },
    { chosen: '203.0.113.7:4500', family: 4, want: '203.0.113.7:4500' },
    { chosen: '2001:DB8:0::7', family: undefined, want: '[2001:db8::7]:51820' },
    { chosen: '[2001:db8::7]:4500', family: 6, want: '[2001:db8::7]:4500' },
  ] as const)('is an ExternalIP, or what an administrator wrote: $want', ({ chosen, family, want }) => {
    const node = { ...both, endpointAddress: chosen };
    const external = { ...settings, endpointFrom: 'externalIP', endpointFamily: family } as const;
    expect(ownEndpoint(node, external)).toMatchObject({ ok: true, value: { text: want } });
  });

  it.each([
    { name: 'its annotation says so', chosen: 'none', dialOut: false, value: 'dial-out' },
    { name: 'the file says so', chosen: undefined, dialOut: true, value: 'dial-out' },
    {
      name: 'the file says so, unless its annotation has one',
      chosen: '203.0.113.7',
      dialOut: true,
      value: { port: 51_820 },
    },
  ])('is nowhere if $name', ({ chosen, dialOut, value }) => {
    expect(ownEndpoint({ ...both, endpointAddress: chosen }, { ...settings, dialOut })).toMatchObject({
      ok: true,
      value,
    });
  });

  const annotation = 'its annotation wireguard.semaphore.uw.io/endpoint-address';

  it.each([
    {
      name: 'without an address of the family',
      node: { ...both, internalIps: ['192.0.2.1'] },
      family: 6,
      want: 'the Node has no InternalIP of IPv6',
    },
    {
      name: 'where an administrator wrote no address',
      node: { ...both, endpointAddress: 'vpn.example:51820' },
      family: undefined,
      want: `${annotation} is neither an IP address, nor one with a port, nor none`,
    },
    {
      name: 'where an administrator wrote one that is not a node’s',
      node: { ...both, endpointAddress: '127.0.0.1' },
      family: undefined,
      want: `${annotation} has 127.0.0.1, which is not the address of a single node`,
    },
    {
      name: 'where an administrator wrote one of another family',
      node: { ...both, endpointAddress: '192.0.2.9' },
      family: 6,
      want: `${annotation} has 192.0.2.9, which is not of IPv6, the endpointFamily`,
    },
  ] as const)('is missing $name', ({ node, family, want }) => {
    expect(ownEndpoint(node, { ...settings, endpointFamily: family })).toEqual({ ok: false, reason: want });
  });
});

describe('mtuWarning', () => {
  const links = [
    observedLink(),
    observedLink({ name: 'eth0', mtuBytes: 1500, addresses: [{ ip: '192.0.2.1', prefixLength: 24 }] }),
  ];

  it.each([
    { name: 'nothing if packets fit', ip: '192.0.2.1', mtuBytes: 1420, want: undefined },
    {
      name: 'that packets are too long',
      ip: '192.0.2.1',
      mtuBytes: 1421,
      want: 'long packets may be lost: wireguard.c2 has the MTU 1421; eth0 carries at most 1420',
    },
    { name: 'nothing about an address that no link has', ip: '192.0.2.2', mtuBytes: 9000, want: undefined },
  ])('says $name', ({ ip, mtuBytes, want }) => {
    expect(mtuWarning(ip, links, { device: 'wireguard.c2', mtuBytes })).toBe(want);
  });
});

describe('clashesWith', () => {
  const node = { internalIps: ['192.0.2.1', '2001:db8::1'], podCidrs: [cidr('10.2.1.0/24'), cidr('fd00:2::/64')] };

  it.each([
    { name: 'nothing if nothing overlaps', podSubnets: ['10.4.0.0/16', 'fd00:4::/48'], want: [] },
    {
      name: 'our pods',
      podSubnets: ['10.0.0.0/8'],
      want: ["the pod subnet 10.0.0.0/8 of c2 overlaps with our own Node's 10.2.1.0/24"],
    },
    {
      name: 'a part of our pods',
      podSubnets: ['10.2.1.128/25'],
      want: ["the pod subnet 10.2.1.128/25 of c2 overlaps with our own Node's 10.2.1.0/24"],
    },
    {
      name: 'our own address',
      podSubnets: ['2001:db8::/32'],
      want: ["the pod subnet 2001:db8::/32 of c2 contains our own Node's address 2001:db8::1"],
    },
  ])('finds $name', ({ podSubnets, want }) => {
    expect(clashesWith(node, { name: 'c2', podSubnets: podSubnets.map(cidr) })).toEqual(want);
  });
});

describe('annotationPatch', () => {
  const [pubKey, endpoint] = ['c2.wireguard.semaphore.uw.io/pubKey', 'c2.wireguard.semaphore.uw.io/endpoint'];
  const planes = 'c2.wireguard.semaphore.uw.io/planes';
  const announced = [{ remote: 'c2', publicKey: key(1), endpoint: '192.0.2.1:51820' }];
  const said = { [pubKey]: key(1), [endpoint]: '192.0.2.1:51820' };
  const c3 = { 'c3.wireguard.semaphore.uw.io/pubKey': key(3) };

  it.each([
    { name: 'sets all on a new Node', annotations: {}, withdrawn: [], want: said },
    { name: 'is empty if nothing differs', annotations: said, withdrawn: [], want: undefined },
    {
      name: 'sets only what differs',
      annotations: { ...said, [endpoint]: '192.0.2.2:51820' },
      withdrawn: [],
      want: { [endpoint]: '192.0.2.1:51820' },
    },
    { name: 'keeps annotations of others', annotations: { ...said, ...c3, note: 'x' }, withdrawn: [], want: undefined },
    {
      name: 'removes the annotations of a withdrawn remote',
      annotations: { ...said, ...c3 },
      withdrawn: ['c3'],
      want: { 'c3.wireguard.semaphore.uw.io/pubKey': null },
    },
    { name: 'keeps what is announced, even if it is withdrawn', annotations: said, withdrawn: ['c2'], want: undefined },
    {
      name: 'removes the planes of a node that has one device now',
      annotations: { ...said, [planes]: '51820,51920' },
      withdrawn: [],
      want: { [planes]: null },
    },
  ])('$name', ({ annotations, withdrawn, want }) => {
    expect(annotationPatch(annotations, { announced, withdrawn })).toEqual(want);
  });

  it('removes the endpoint of a node that dials out now', () => {
    const dialing = { announced: [{ remote: 'c2', publicKey: key(1) }], withdrawn: [] };
    expect(annotationPatch({ ...said, [planes]: '51820,51920' }, dialing)).toEqual({
      [endpoint]: null,
      [planes]: null,
    });
    expect(annotationPatch({ [pubKey]: key(1) }, dialing)).toBeUndefined();
  });

  it('sets the planes in the same patch', () => {
    const both = announced.map((each) => ({ ...each, planes: '51820,51920' }));
    expect(annotationPatch({}, { announced: both, withdrawn: [] })).toEqual({ ...said, [planes]: '51820,51920' });
  });
});
