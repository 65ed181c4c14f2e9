import { Codec, endpointSliceKind } from '@kube-semaphore/kube-objects';
import { mustParseCidr } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import { addressesOf } from '../desired/compact.ts';
import { readSlice } from './read-slice.ts';

const codec = new Codec(endpointSliceKind);
const rules = {
  addresses: { allowed: [mustParseCidr('10.4.0.0/16'), mustParseCidr('::/0')], local: [mustParseCidr('10.4.9.0/24')] },
  isLocal: false,
};
const unlimited = { addresses: { allowed: undefined, local: [] }, isLocal: false };

type Parts = {
  readonly name?: string;
  readonly ports?: readonly object[];
  readonly endpoints?: readonly object[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly addressType?: string;
  readonly addresses?: readonly string[];
};

const http = { name: 'http', port: 8080, protocol: 'TCP' };

const sliceOf = ({
  name = 'web-a',
  labels = { 'kubernetes.io/service-name': 'web' },
  addressType = 'IPv4',
  addresses = [],
  ports = [http],
  endpoints,
}: Parts) =>
  codec.objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name, uid: 'u', labels },
    addressType,
    endpoints:
      endpoints ??
      addresses.map((address) => ({
        addresses: [address],
        nodeName: 'n1',
        zone: 'z1',
        hints: { forZones: [{ name: 'z1' }] },
      })),
    ports,
  });

describe('an endpoint of a remote slice', () => {
  it.each([
    { address: '127.0.0.1', reason: 'bad-address' },
    { address: '169.254.169.254', reason: 'bad-address' },
    { address: '0.0.0.0', reason: 'bad-address' },
    { address: '224.0.0.1', reason: 'bad-address' },
    { address: '010.4.0.1', reason: 'bad-address' },
    { address: 'fd00::1', reason: 'bad-address' },
    { address: 'web.example.com', reason: 'bad-address' },
    { address: '192.0.2.1', reason: 'address-not-allowed' },
    { address: '10.4.9.1', reason: 'address-not-allowed' },
    { address: '::1', addressType: 'IPv6', reason: 'bad-address' },
    { address: 'fe80::1', addressType: 'IPv6', reason: 'bad-address' },
    { address: '::', addressType: 'IPv6', reason: 'bad-address' },
  ])('is skipped alone if it is $address ($addressType)', ({ address, addressType = 'IPv4', reason }) => {
    const good = addressType === 'IPv4' ? '10.4.0.1' : 'fd00::7';
    const { value, skipped } = readSlice(sliceOf({ addressType, addresses: [address, good] }), rules);
    expect(value?.endpoints.map(addressesOf)).toEqual([[good]]);
    expect(skipped).toMatchObject([{ kind: 'problem', reason }]);
  });

  it.each([
    {
      addressType: 'IPv4',
      addresses: [
        '0.0.0.1',
        '224.0.1.1',
        '239.255.255.250',
        '240.0.0.1',
        '255.255.255.255',
        '100.100.100.200',
        '168.63.129.16',
      ],
    },
    {
      addressType: 'IPv6',
      addresses: [
        '::a9fe:a9fe',
        'ff05::1',
        '64:ff9b::a9fe:a9fe',
        '64:ff9b:1::a9fe:a9fe',
        '2002:a9fe:a9fe::1',
        'fd00:ec2::254',
        '100::1',
      ],
    },
  ])(
    'is skipped if no Pod has such an address ($addressType), even without allowed CIDRs',
    ({ addressType, addresses }) => {
      const { value, skipped } = readSlice(sliceOf({ addressType, addresses }), unlimited);
      expect(value?.endpoints).toEqual([]);
      expect(skipped.map(({ kind }) => kind)).toEqual(addresses.map(() => 'problem'));
    },
  );

  it.each([
    { addressType: 'IPv4', addresses: ['10.4.0.1'], want: undefined, reasons: ['other-family'] },
    { addressType: 'IPv6', addresses: ['fd00::7'], want: [['fd00::7']], reasons: [] },
  ])('is used if families has its family: $addressType', ({ addressType, addresses, want, reasons }) => {
    const only6 = { ...rules, addresses: { ...rules.addresses, families: [6] as const } };
    const { value, skipped } = readSlice(sliceOf({ addressType, addresses }), only6);
    expect(value?.endpoints.map(addressesOf)).toEqual(want);
    expect(skipped.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual(reasons.map((each) => `expected ${each}`));
  });

  it('may have any address if it is local', () => {
    expect(
      readSlice(sliceOf({ addresses: ['240.0.0.1', '192.0.2.1'] }), { ...rules, isLocal: true }).value?.endpoints,
    ).toHaveLength(2);
  });

  it('has neither the node nor the zone of another cluster', () => {
    const [remote] = readSlice(sliceOf({ addresses: ['10.4.0.1'] }), rules).value!.endpoints;
    expect(remote).toMatchObject({ nodeName: undefined, zone: undefined });
    const [local] = readSlice(sliceOf({ addresses: ['10.4.0.1'] }), { ...rules, isLocal: true }).value!.endpoints;
    expect(local).toMatchObject({ nodeName: 'n1', zone: 'z1' });
  });
});

describe('the Pod of an endpoint', () => {
  const podsOf = (endpoint: object, how: { readonly isLocal?: boolean; readonly isAnonymous?: boolean } = {}) =>
    readSlice(sliceOf({ endpoints: [{ addresses: ['10.4.0.1'], ...endpoint }] }), { ...rules, ...how }).value!.pods;

  it.each([
    { name: 'has its name', targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-1' }, want: ['web-1'] },
    { name: 'is not a Node', targetRef: { kind: 'Node', name: 'n1' }, want: undefined },
    { name: 'has no name of several labels', targetRef: { kind: 'Pod', name: 'db-0.db' }, want: undefined },
    { name: 'has no name that is too long', targetRef: { kind: 'Pod', name: 'x'.repeat(64) }, want: undefined },
  ])('$name, in a remote cluster and in the local one', ({ targetRef, want }) => {
    expect([podsOf({ targetRef }), podsOf({ targetRef }, { isLocal: true })]).toEqual([want, want]);
  });

  it('does not matter beside a hostname, or for ServiceImports', () => {
    const targetRef = { kind: 'Pod', name: 'web-1' };
    expect(podsOf({ targetRef, hostname: 'db-0' })).toBeUndefined();
    expect(podsOf({ targetRef }, { isAnonymous: true })).toBeUndefined();
  });

  it('is in the place of its endpoint', () => {
    const endpoints = ['10.4.0.3', '127.0.0.1', '10.4.0.1', '10.4.0.2'].map((address, i) => ({
      addresses: [address],
      ...(address !== '10.4.0.1' && { targetRef: { kind: 'Pod', name: `web-${i}` } }),
    }));
    const { value } = readSlice(sliceOf({ endpoints }), rules);
    expect(value!.endpoints.map(({ address }) => address)).toEqual(['10.4.0.1', '10.4.0.2', '10.4.0.3']);
    expect(value!.pods).toEqual(['', 'web-3', 'web-0']);
  });
});

describe('the node of an endpoint', () => {
  const nodesOf = (nodeName: string, hasNodes?: boolean) =>
    readSlice(sliceOf({ endpoints: [{ addresses: ['10.4.0.1'], nodeName }] }), {
      ...rules,
      ...(hasNodes && { hasNodes }),
    }).value!.nodes;

  it('is kept beside it, where it is wanted', () => {
    expect([nodesOf('m1', true), nodesOf('m1')]).toEqual([['m1'], undefined]);
  });

  it.each(['', 'M 1', 'x'.repeat(254)])('is none if no Node can have the name %j', (name) => {
    expect(nodesOf(name, true)).toEqual(['']);
  });

  it('is in the place of its endpoint', () => {
    const endpoints = ['10.4.0.3', '127.0.0.1', '10.4.0.1'].map((address, i) => ({
      addresses: [address],
      nodeName: `m${i}`,
    }));
    const { value } = readSlice(sliceOf({ endpoints }), { ...rules, hasNodes: true });
    expect([value!.endpoints.map(({ address }) => address), value!.nodes]).toEqual([
      ['10.4.0.1', '10.4.0.3'],
      ['m2', 'm0'],
    ]);
  });
});

describe('the conditions of an endpoint', () => {
  it.each([
    { conditions: undefined, want: { ready: true, serving: true, terminating: false } },
    { conditions: {}, want: { ready: true, serving: true, terminating: false } },
    { conditions: { ready: false }, want: { ready: false, serving: false, terminating: false } },
    {
      conditions: { ready: false, serving: true, terminating: true },
      want: { ready: false, serving: true, terminating: true },
    },
  ])('are explicit: $conditions', ({ conditions, want }) => {
    const { value } = readSlice(sliceOf({ endpoints: [{ addresses: ['10.4.0.1'], conditions }] }), rules);
    expect(value!.endpoints.map((endpoint) => endpoint.conditions)).toEqual([want]);
  });
});

describe('the endpoints of a slice', () => {
  it('have all their addresses that are valid, in order', () => {
    const endpoints = [{ addresses: ['127.0.0.1', '10.4.0.2', '10.4.9.1', '10.4.0.3', '10.4.0.1'] }];
    const { value } = readSlice(sliceOf({ endpoints }), rules);
    expect(value!.endpoints.map(addressesOf)).toEqual([['10.4.0.2', '10.4.0.3', '10.4.0.1']]);
  });

  const known = readSlice(sliceOf({ addresses: ['10.4.0.1', '10.4.0.2'] }), rules).value!.endpoints;

  it('are the known ones if they are the same', () => {
    const again = readSlice(sliceOf({ addresses: ['10.4.0.2', '10.4.0.1'] }), rules, known);
    expect(again.value!.endpoints).toBe(known);
  });

  it('are its own if one differs', () => {
    const { value } = readSlice(sliceOf({ addresses: ['10.4.0.1', '10.4.0.3'] }), rules, known);
    expect(value!.endpoints.map(addressesOf)).toEqual([['10.4.0.1'], ['10.4.0.3']]);
  });
});

describe('the ports of a slice', () => {
  it.each([
    { name: 'above 65535', port: { ...http, name: 'bad', port: 65_536 } },
    { name: 'below 1', port: { ...http, name: 'bad', port: 0 } },
    { name: 'below 0', port: { ...http, name: 'bad', port: -1 } },
    { name: 'of a protocol that Services do not have', port: { ...http, name: 'bad', protocol: 'ICMP' } },
    { name: 'with a name that is not a DNS label', port: { ...http, name: 'a"b' } },
    { name: 'with the name of another', port: { ...http, port: 8081 } },
    { name: 'with an illegal appProtocol', port: { ...http, name: 'bad', appProtocol: 'a b' } },
  ])('skip one $name, and keep the others', ({ port }) => {
    const { value, skipped } = readSlice(
      sliceOf({ addresses: ['10.4.0.1'], ports: [http, port, { ...http, name: 'admin', port: 1 }] }),
      rules,
    );
    expect(value?.ports.map(({ name, port: number }) => `${name} ${number}`)).toEqual(['http 8080', 'admin 1']);
    expect(skipped).toMatchObject([{ kind: 'problem', reason: 'bad-port' }]);
  });

  it('may be all ports, without a number', () => {
    expect(readSlice(sliceOf({ ports: [{ name: 'all', protocol: 'TCP' }] }), rules).value?.ports).toMatchObject([
      { name: 'all', port: undefined },
    ]);
  });

  it('skip the slice if none of them is usable', () => {
    expect(readSlice(sliceOf({ addresses: ['10.4.0.1'], ports: [{ ...http, port: 70_000 }] }), rules)).toMatchObject({
      value: undefined,
      skipped: [{ reason: 'bad-port' }],
    });
  });
});

describe('a slice', () => {
  it.each<{ name: string; parts: Parts; skipped: readonly string[] }>([
    { name: 'of host names', parts: { addressType: 'FQDN', addresses: ['web.example.com'] }, skipped: ['host-names'] },
    { name: 'of no Service', parts: { labels: {} }, skipped: [] },
    {
      name: 'of ours',
      parts: { labels: { 'kubernetes.io/service-name': 'web', 'mirrored-svc': 'true' } },
      skipped: [],
    },
    { name: 'of an unknown family', parts: { addressType: 'IPv8' }, skipped: ['bad-family'] },
    { name: 'with a name that is not valid', parts: { name: 'a/b' }, skipped: ['bad-name'] },
    {
      name: 'of 1001 ports',
      parts: { ports: Array.from({ length: 1_001 }, (_, i) => ({ ...http, name: `p${i}` })) },
      skipped: ['too-large'],
    },
    {
      name: 'of 10100 addresses',
      parts: {
        endpoints: Array.from({ length: 101 }, () => ({
          addresses: Array.from({ length: 100 }, (_, i) => `10.4.0.${i}`),
        })),
      },
      skipped: ['too-large'],
    },
    {
      name: 'of 1000 endpoints with 101 ports',
      parts: {
        addresses: Array.from({ length: 1_000 }, (_, i) => `10.4.${i >> 8}.${i & 255}`),
        ports: Array.from({ length: 101 }, (_, i) => ({ ...http, name: `p${i}` })),
      },
      skipped: ['too-large'],
    },
    {
      name: 'of a Service whose name is not valid',
      parts: { labels: { 'kubernetes.io/service-name': 'A_b' } },
      skipped: ['bad-name'],
    },
  ])('$name is not a source', ({ parts, skipped }) => {
    const reading = readSlice(sliceOf(parts), rules);
    expect(reading.value).toBeUndefined();
    expect(reading.skipped.map(({ reason }) => reason)).toEqual(skipped);
  });
});
