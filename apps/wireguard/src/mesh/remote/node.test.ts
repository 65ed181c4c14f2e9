import type { Node } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NodeRules, readNode } from './node.ts';
import { cidr, key } from '../../../test/support/builders.ts';

const rules: NodeRules = {
  local: 'c1',
  podSubnets: [cidr('10.4.0.0/16'), cidr('fd00:4::/48')],
  allowedIpsFrom: 'podCIDRs',
  endpoints: {
    podSubnets: [cidr('10.4.0.0/16'), cidr('fd00:4::/48'), cidr('10.5.0.0/16')],
    allowedEndpoints: undefined,
    ownIps: new Set(['192.0.2.200', '2001:db8::200']),
  },
  dialsOut: false,
};
const limited: NodeRules = { ...rules, endpoints: { ...rules.endpoints, allowedEndpoints: [cidr('192.0.2.0/24')] } };

const KEY = 'c1.wireguard.semaphore.uw.io/pubKey';
const ENDPOINT = 'c1.wireguard.semaphore.uw.io/endpoint';
const PLANES = 'c1.wireguard.semaphore.uw.io/planes';
const annotations = { [KEY]: key(1), [ENDPOINT]: '192.0.2.1:51820' };

type Given = {
  readonly nodeName?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly conditions?: Node['status']['conditions'];
};

const node = (given: Given = {}): Node => ({
  metadata: {
    name: given.nodeName ?? 'n1',
    namespace: '',
    uid: 'u1',
    resourceVersion: '7',
    creationTimestamp: 1_000,
    labels: {},
    annotations: given.annotations ?? annotations,
  },
  spec: { podCIDR: given.podCIDR ?? '', podCIDRs: given.podCIDRs ?? ['10.4.1.0/24'] },
  status: { conditions: given.conditions ?? [], addresses: [] },
});

const good = {
  uid: 'u1',
  name: 'n1',
  createdMs: 1_000,
  readyUntilMs: 0,
  publicKey: key(1),
  endpoint: '192.0.2.1:51820',
  podCidrs: [cidr('10.4.1.0/24')],
};

/** What of a Node is skipped, as `reason: detail`. */
const skipped = (given: Given, by = rules) =>
  readNode(node(given), by).skipped.map(({ reason, detail }) => `${reason}: ${detail}`);

describe('readNode', () => {
  it.each(['100.100.100.0/24', '100.100.100.200/32', 'fd00:ec2::/64', 'fd00:ec2::254/128'])(
    'gives no Node %s with a metadata service, even in a pod subnet',
    (range) => {
      const wide = { ...rules, podSubnets: [...rules.podSubnets, cidr('100.64.0.0/10'), cidr('fd00::/16')] };
      const given = { podCIDRs: ['10.4.1.0/24', range] };
      expect(readNode(node(given), wide).node).toEqual(good);
      expect(skipped(given, wide)).toEqual([expect.stringMatching(/^bad-cidr: .* a cloud’s metadata service$/)]);
    },
  );

  it('reads a candidate for a peer', () => {
    expect(readNode(node(), rules)).toEqual({ node: good, skipped: [] });
  });

  it.each([
    { podCIDRs: ['10.4.1.0/24', 'fd00:4::/64'], want: ['fd00:4::/64'], why: [] },
    { podCIDRs: ['10.4.1.0/24'], want: [], why: ['no-cidr: the Node has no podCIDRs of ipv6'] },
    {
      podCIDRs: ['10.4.1.0/24', 'fd00:5::/64'],
      want: [],
      why: ['outside-pod-subnet: fd00:5::/64 is in no pod subnet'],
    },
  ])('takes the podCIDRs of the families alone, and any endpoint: $podCIDRs', ({ podCIDRs, want, why }) => {
    const only6: NodeRules = { ...rules, families: [6], podSubnets: [cidr('fd00:4::/48')] };
    expect(readNode(node({ podCIDRs }), only6).node).toEqual({ ...good, podCidrs: want.map(cidr) });
    expect(skipped({ podCIDRs }, only6)).toEqual(why);
  });

  it.each([
    { name: 'plane 0', planes: '51820,51920', want: 0 },
    { name: 'plane 1', planes: '51920,51820', want: 1 },
    { name: 'one device, if an older release announces another port', planes: '1,2', want: undefined },
  ])('reads by its port what a Node announces: $name', ({ planes, want }) => {
    const reading = readNode(node({ annotations: { ...annotations, [PLANES]: planes } }), rules);
    expect(reading).toEqual({ node: { ...good, ...(want !== undefined && { plane: want }) }, skipped: [] });
  });

  it.each(['2', '51820', '51820,51820', '51820,0', '51820,51920,1', ' 51820,51920'])(
    'takes a Node with the planes %j for one with one device',
    (planes) => {
      const given = { annotations: { ...annotations, [PLANES]: planes } };
      expect(readNode(node(given), rules).node).toEqual(good);
      expect(skipped(given)).toEqual(['bad-planes: its planes are not two ports']);
    },
  );

  it.each([
    { name: 'for ever, if it is', status: 'True', want: Infinity },
    { name: 'when it was told that it is not', status: 'False', want: 7_000 },
    { name: 'when its node was lost', status: 'Unknown', want: 7_000 },
  ])('reads until when it was Ready: $name', ({ status, want }) => {
    const other = { type: 'DiskPressure', status: 'True', lastTransitionTime: 9_000 };
    const conditions = [other, { type: 'Ready', status, lastTransitionTime: 7_000 }];
    expect(readNode(node({ conditions }), rules).node).toEqual({ ...good, readyUntilMs: want });
  });

  it.each([
    { name: 'every family', podCIDRs: ['10.4.1.0/24', 'fd00:4:0:1::/64'], want: ['10.4.1.0/24', 'fd00:4:0:1::/64'] },
    { name: 'the single podCIDR of old servers', podCIDR: '10.4.1.0/24', podCIDRs: [], want: ['10.4.1.0/24'] },
    { name: 'without host bits', podCIDRs: ['10.4.1.7/24'], want: ['10.4.1.0/24'] },
    { name: 'a whole pod subnet', podCIDRs: ['10.4.0.0/16'], want: ['10.4.0.0/16'] },
    { name: 'without duplicates', podCIDRs: ['10.4.1.0/24', '10.4.1.0/24'], want: ['10.4.1.0/24'] },
    { name: 'without one in another', podCIDRs: ['10.4.1.64/26', '10.4.1.0/24'], want: ['10.4.1.0/24'] },
  ])('reads CIDRs: $name', ({ want, ...given }) => {
    expect(readNode(node(given), rules)).toEqual({ node: { ...good, podCidrs: want.map(cidr) }, skipped: [] });
  });

  it.each([
    {
      name: 'a malformed one',
      podCIDRs: ['10.4.1.0/24', '10.4.2.0/99'],
      want: /^bad-cidr: "10\.4\.2\.0\/99" is not a valid CIDR/,
    },
    {
      name: 'one outside of the pod subnets',
      podCIDRs: ['10.5.1.0/24', '10.4.1.0/24'],
      want: /^outside-pod-subnet: 10\.5\.1\.0\/24 is in no pod subnet$/,
    },
    {
      name: 'everything',
      podCIDRs: ['10.4.1.0/24', '0.0.0.0/0'],
      want: /^outside-pod-subnet: 0\.0\.0\.0\/0 is in no pod subnet$/,
    },
    {
      name: 'more than a pod subnet',
      podCIDRs: ['10.4.1.0/24', '10.4.0.0/15'],
      want: /^outside-pod-subnet: 10\.4\.0\.0\/15 /,
    },
    {
      name: 'a thousand bad ones',
      podCIDRs: [...Array.from({ length: 1_000 }, () => 'x'), '10.4.1.0/24'],
      want: /^bad-cidr: .*; and 999 more$/,
    },
  ])('skips of the CIDRs $name, and keeps the others', ({ podCIDRs, want }) => {
    expect(readNode(node({ podCIDRs }), rules).node).toEqual(good);
    expect(skipped({ podCIDRs })).toEqual([expect.stringMatching(want)]);
  });

  it('reads a candidate without CIDRs, and reports it', () => {
    expect(readNode(node({ podCIDRs: [] }), rules).node).toEqual({ ...good, podCidrs: [] });
    expect(skipped({ podCIDRs: [] })).toEqual(['no-cidr: the Node has no podCIDRs']);
  });

  it('ignores podCIDRs where Calico’s blocks are used', () => {
    expect(readNode(node({ podCIDRs: ['x'] }), { ...rules, allowedIpsFrom: 'calico-blocks' })).toEqual({
      node: { ...good, podCidrs: [] },
      skipped: [],
    });
  });

  it('takes a Node with a key alone for one that dials out', () => {
    const dialing = node({ annotations: { [KEY]: key(1), [PLANES]: '51820,51920' } });
    expect(readNode(dialing, rules)).toEqual({ node: { ...good, endpoint: undefined }, skipped: [] });
    expect(readNode(dialing, { ...rules, dialsOut: true })).toEqual({
      node: { ...good, endpoint: undefined },
      skipped: [expect.objectContaining({ kind: 'problem', reason: 'both-dial-out' })],
    });
    expect(readNode(node(), { ...rules, dialsOut: true }).skipped).toEqual([]);
  });

  it('reports Nodes without our annotations as expected', () => {
    const reading = readNode(node({ annotations: { 'c3.wireguard.semaphore.uw.io/pubKey': key(1) } }), rules);
    expect(reading).toEqual({
      node: undefined,
      skipped: [expect.objectContaining({ kind: 'expected', reason: 'not-annotated' })],
    });
  });

  it.each([
    {
      name: 'an endpoint alone',
      annotations: { [ENDPOINT]: '192.0.2.1:51820' },
      want: /^half-annotated: .*public key is missing$/,
    },
    { name: 'an empty key', annotations: { ...annotations, [KEY]: '' }, want: /^bad-key: / },
    { name: 'a key that is too short', annotations: { ...annotations, [KEY]: 'YWJj' }, want: /^bad-key: / },
    { name: 'a key with a line break', annotations: { ...annotations, [KEY]: `${key(1)}\n` }, want: /^bad-key: / },
    { name: 'a key of zeros', annotations: { ...annotations, [KEY]: `${'A'.repeat(43)}=` }, want: /^bad-key: / },
    {
      name: 'a key of 200 kB',
      annotations: { ...annotations, [KEY]: 'A'.repeat(200_000) },
      want: /^bad-key: .{1,200}$/,
    },
  ])('makes no peer of $name', ({ annotations: given, want }) => {
    expect(readNode(node({ annotations: given }), rules).node).toBeUndefined();
    expect(skipped({ annotations: given })).toEqual([expect.stringMatching(want)]);
  });

  it.each([
    { endpoint: '[2001:DB8:0::1]:51820', want: '[2001:db8::1]:51820' },
    { endpoint: '10.0.0.1:1', want: '10.0.0.1:1' },
    { endpoint: '10.0.0.1:65535', want: '10.0.0.1:65535' },
  ])('accepts the endpoint $endpoint', ({ endpoint, want }) => {
    expect(readNode(node({ annotations: { ...annotations, [ENDPOINT]: endpoint } }), rules)).toMatchObject({
      node: { endpoint: want },
      skipped: [],
    });
  });

  it.each([
    { name: 'a host name', endpoint: 'example.com:51820', want: /^bad-endpoint: .*names are not looked up$/ },
    { name: 'port 70000', endpoint: '192.0.2.1:70000', want: /^bad-endpoint: / },
    { name: 'port 0', endpoint: '192.0.2.1:0', want: /^bad-endpoint: .*its port is 0$/ },
    { name: 'no port', endpoint: '192.0.2.1', want: /^bad-endpoint: / },
    { name: 'no address', endpoint: ':51820', want: /^bad-endpoint: .*it has no address$/ },
    { name: 'IPv6 without brackets', endpoint: '2001:db8::1:51820', want: /^bad-endpoint: / },
    { name: 'a zone', endpoint: '[fe80::1%eth0]:51820', want: /^bad-endpoint: / },
    { name: 'octal', endpoint: '192.0.2.010:51820', want: /^bad-endpoint: / },
    { name: 'IPv4 mapped to IPv6', endpoint: '[::ffff:127.0.0.1]:51820', want: /^bad-endpoint: / },
    { name: '200 kB', endpoint: `${'a'.repeat(200_000)}:51820`, want: /^bad-endpoint: .{1,300}$/ },
    { name: '200 kB of digits', endpoint: '1'.repeat(200_000), want: /^bad-endpoint: .{1,300}$/ },
    { name: 'the unspecified address', endpoint: '0.0.0.0:51820', want: /^refused-endpoint: .*is unspecified$/ },
    { name: 'the unspecified address of IPv6', endpoint: '[::]:51820', want: /^refused-endpoint: .*is unspecified$/ },
    { name: 'loopback', endpoint: '127.1.2.3:51820', want: /^refused-endpoint: .*is loopback$/ },
    { name: 'loopback of IPv6', endpoint: '[::1]:51820', want: /^refused-endpoint: .*is loopback$/ },
    { name: 'link-local', endpoint: '169.254.169.254:80', want: /^refused-endpoint: .*is link-local$/ },
    { name: 'link-local of IPv6', endpoint: '[fe80::1]:51820', want: /^refused-endpoint: .*is link-local$/ },
    { name: 'multicast', endpoint: '239.1.2.3:51820', want: /^refused-endpoint: .*is multicast$/ },
    { name: 'multicast of IPv6', endpoint: '[ff05::1]:51820', want: /^refused-endpoint: .*is multicast$/ },
    { name: 'broadcast', endpoint: '255.255.255.255:51820', want: /^refused-endpoint: .*is broadcast$/ },
    {
      name: 'a metadata service',
      endpoint: '100.100.100.200:80',
      want: /^refused-endpoint: .*is a cloud’s metadata service$/,
    },
    {
      name: 'a metadata service of IPv6',
      endpoint: '[fd00:ec2::254]:80',
      want: /^refused-endpoint: .*is a cloud’s metadata service$/,
    },
    {
      name: 'a metadata service behind NAT64',
      endpoint: '[64:ff9b::a9fe:a9fe]:80',
      want: /^refused-endpoint: .*is an IPv4 address behind a translator or tunnel$/,
    },
    { name: 'our own address', endpoint: '192.0.2.200:1', want: /^refused-endpoint: .*is our own$/ },
    { name: 'our own of IPv6', endpoint: '[2001:db8::200]:1', want: /^refused-endpoint: .*is our own$/ },
    {
      name: 'a pod of its cluster',
      endpoint: '10.4.1.1:51820',
      want: /^refused-endpoint: .*is in the pod subnet 10\.4\.0\.0\/16$/,
    },
    {
      name: 'a pod of another remote',
      endpoint: '10.5.1.1:51820',
      want: /^refused-endpoint: .*is in the pod subnet 10\.5\.0\.0\/16$/,
    },
  ])('makes no peer of an endpoint with $name', ({ endpoint, want }) => {
    const given = { annotations: { ...annotations, [ENDPOINT]: endpoint } };
    expect(readNode(node(given), rules).node).toBeUndefined();
    expect(skipped(given)).toEqual([expect.stringMatching(want)]);
  });

  it('refuses endpoints outside of the allowed CIDRs', () => {
    expect(readNode(node(), limited).node).toEqual(good);
    expect(skipped({ annotations: { ...annotations, [ENDPOINT]: '198.51.100.1:51820' } }, limited)).toEqual([
      'refused-endpoint: its endpoint 198.51.100.1:51820 is refused: 198.51.100.1 is in no allowed endpoint CIDR',
    ]);
  });

  it('makes no peer of an invalid name', () => {
    expect(readNode(node({ nodeName: 'n1\n' }), rules)).toEqual({
      node: undefined,
      skipped: [expect.objectContaining({ kind: 'problem', reason: 'bad-name' })],
    });
  });

  it('reports everything that is wrong with a Node', () => {
    const given = { nodeName: 'n1\n', annotations: { [KEY]: 'x', [ENDPOINT]: 'x' }, podCIDRs: ['x', '1.0.0.0/8'] };
    expect(skipped(given).map((text) => text.split(':')[0])).toEqual([
      'bad-name',
      'bad-key',
      'bad-endpoint',
      'bad-cidr',
      'outside-pod-subnet',
    ]);
  });

  it('never has a CIDR outside of the pod subnets, nor an endpoint without an address, for any Node', () => {
    const nasty = fc.oneof(
      fc.string(),
      fc.ipV4().map((ip) => `${ip}:1`),
      fc.ipV6().map((ip) => `[${ip}]:1`),
      fc.constant('192.0.2.1:51820'),
    );
    const cidrs = fc.array(
      fc.oneof(
        fc.string(),
        fc
          .tuple(fc.constantFrom('10.4.1.0', '10.5.0.0', '0.0.0.0', 'fd00:4::', '::'), fc.nat(40))
          .map(([ip, length]) => `${ip}/${length}`),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constant(key(1))), nasty, cidrs, (publicKey, endpoint, podCIDRs) => {
        const { node: candidate } = readNode(
          node({ annotations: { [KEY]: publicKey, [ENDPOINT]: endpoint }, podCIDRs }),
          rules,
        );
        if (candidate === undefined) return;
        expect(candidate.endpoint).toMatch(/^(?:[\d.]+|\[[0-9a-f:]+\]):\d+$/);
        for (const { text } of candidate.podCidrs) expect(text).toMatch(/^(?:10\.4\.|fd00:4:)/);
      }),
    );
  });
});
