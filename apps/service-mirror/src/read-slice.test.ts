import { Codec, endpointSliceKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { readSlice } from './read-slice.ts';

const codec = new Codec(endpointSliceKind);
const rules = { isAllowed: (ip: string) => ip.startsWith('10.4.') || ip.includes(':'), isLocal: false };

type Parts = { readonly labels?: Readonly<Record<string, string>>; readonly addressType?: string; readonly addresses?: readonly string[] };

const sliceOf = ({ labels = { 'kubernetes.io/service-name': 'web' }, addressType = 'IPv4', addresses = [] }: Parts) =>
  codec.objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: 'web-a', uid: 'u', labels },
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address], nodeName: 'n1', zone: 'z1', hints: { forZones: [{ name: 'z1' }] } })),
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
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
    { address: '::1', addressType: 'IPv6', reason: 'bad-address' },
    { address: 'fe80::1', addressType: 'IPv6', reason: 'bad-address' },
    { address: '::', addressType: 'IPv6', reason: 'bad-address' },
  ])('is left out alone if it is $address ($addressType)', ({ address, addressType = 'IPv4', reason }) => {
    const good = addressType === 'IPv4' ? '10.4.0.1' : 'fd00::7';
    const { value, skipped } = readSlice(sliceOf({ addressType, addresses: [address, good] }), rules);
    expect(value?.endpoints.map(({ addresses }) => addresses)).toEqual([[good]]);
    expect(skipped).toMatchObject([{ kind: 'problem', reason }]);
  });

  it('has neither node nor zone, which are those of another cluster', () => {
    const [remote] = readSlice(sliceOf({ addresses: ['10.4.0.1'] }), rules).value!.endpoints;
    expect(remote).toMatchObject({ nodeName: undefined, zone: undefined });
    const [local] = readSlice(sliceOf({ addresses: ['10.4.0.1'] }), { ...rules, isLocal: true }).value!.endpoints;
    expect(local).toMatchObject({ nodeName: 'n1', zone: 'z1' });
  });
});

describe('a slice', () => {
  it.each<{ name: string; parts: Parts; skipped: readonly string[] }>([
    { name: 'of names', parts: { addressType: 'FQDN', addresses: ['web.example.com'] }, skipped: [] },
    { name: 'of no Service', parts: { labels: {} }, skipped: [] },
    { name: 'of ours', parts: { labels: { 'kubernetes.io/service-name': 'web', 'mirrored-svc': 'true' } }, skipped: [] },
    { name: 'of a family that we do not know', parts: { addressType: 'IPv8' }, skipped: ['bad-family'] },
    { name: 'of a Service whose name is none', parts: { labels: { 'kubernetes.io/service-name': 'A_b' } }, skipped: ['bad-name'] },
  ])('$name is no source', ({ parts, skipped }) => {
    const reading = readSlice(sliceOf(parts), rules);
    expect(reading.value).toBeUndefined();
    expect(reading.skipped.map(({ reason }) => reason)).toEqual(skipped);
  });
});
