import { type EndpointSlice, endpointSliceKind, Codec, type Service, serviceKind } from '@kube-semaphore/kube-objects';
import { parseCidr } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import { addressesOf } from '../desired/compact.ts';
import { readService } from './read-service.ts';
import { readSlice } from './read-slice.ts';

const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1' };
const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);

const service = (spec: object, labels = {}): Service =>
  services.objectFromJson({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, labels },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      ...spec,
    },
  });

const slice = (fields: object, labels: object = { 'kubernetes.io/service-name': 'web' }): EndpointSlice =>
  slices.objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels },
    addressType: 'IPv4',
    endpoints: [],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    ...fields,
  });

const rules = { isLocalFirst: () => false };
const blocks = ['10.0.0.0/8', 'fd00::/8'].map(parseCidr).flatMap((cidr) => (cidr.ok ? [cidr.value] : []));
const sliceRules = { addresses: { allowed: blocks, local: [] }, isLocal: false };
const reasons = (skipped: readonly { readonly reason: string }[]) => skipped.map(({ reason }) => reason);

describe('readService', () => {
  it.each([
    { name: 'an ExternalName', spec: { type: 'ExternalName', externalName: 'x' }, want: ['external-name'] },
    { name: 'port 70000', spec: { ports: [{ port: 70_000 }] }, want: ['bad-port'] },
    { name: 'an invalid port name', spec: { ports: [{ name: 'A b', port: 80 }] }, want: ['bad-port'] },
    { name: 'an invalid target port', spec: { ports: [{ port: 80, targetPort: '8080x-' }] }, want: ['bad-port'] },
    { name: 'an invalid appProtocol', spec: { ports: [{ port: 80, appProtocol: 'a b' }] }, want: ['bad-port'] },
    {
      name: 'more than 1000 ports',
      spec: { ports: Array.from({ length: 1_001 }, (_, i) => ({ name: `p${i}`, port: i + 1 })) },
      want: ['too-large'],
    },
    { name: 'an unknown protocol', spec: { ports: [{ port: 80, protocol: 'QUIC' }] }, want: ['bad-port'] },
  ])('skips $name', ({ spec, want }) => {
    const { value, skipped } = readService(service(spec), rules);
    expect({ value, reasons: reasons(skipped) }).toEqual({ value: undefined, reasons: want });
  });

  it.each([
    { name: 'another namespace', with: { namespaces: ['db'] }, want: ['namespace-not-mirrored'] },
    { name: 'its namespace', with: { namespaces: ['db', 'shop'] }, want: [] },
    {
      name: 'another importer',
      with: { importer: { name: 'c9', properties: new Map() } },
      want: ['not-exported-to-us'],
    },
    { name: 'one that it is exported to', with: { importer: { name: 'c1', properties: new Map() } }, want: [] },
  ])('uses a Service only for the namespaces and clusters that the rules name: $name', ({ with: more, want }) => {
    const exportedTo = service({});
    const annotations = { 'semaphore.uw.io/export-to': 'c1' };
    const given = { ...exportedTo, metadata: { ...exportedTo.metadata, annotations } };
    const { value, skipped } = readService(given, { ...rules, ...more });
    expect({ reasons: reasons(skipped), isUsed: value !== undefined }).toEqual({
      reasons: want,
      isUsed: want.length === 0,
    });
  });

  it.each([
    { ipFamilies: ['IPv4', 'IPv6'], want: ['IPv6'], skips: [] },
    { ipFamilies: ['IPv4'], want: undefined, skips: ['other-family'] },
  ])('has only the families of the remote that are used: $ipFamilies', ({ ipFamilies, want, skips }) => {
    const addresses = { families: [6] as const, allowed: undefined, local: [] };
    const { value, skipped } = readService(service({ ipFamilies }), { ...rules, addresses });
    expect({ families: value?.definition.families, reasons: reasons(skipped) }).toEqual({
      families: want,
      reasons: skips,
    });
  });

  it.each(['mirrored-svc', 'global-svc'])('ignores our own objects, by the label %s', (label) => {
    expect(readService(service({}, { [label]: 'true' }), rules)).toEqual({ value: undefined, skipped: [] });
  });

  it.each([
    { name: 'none', spec: {}, want: undefined },
    {
      name: 'its value',
      spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } },
      want: 60,
    },
    { name: 'the default without a value', spec: { sessionAffinity: 'ClientIP' }, want: 10_800 },
    {
      name: 'the default for an invalid value',
      spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 90_000 } } },
      want: 10_800,
    },
  ])('takes as affinity $name', ({ spec, want }) => {
    expect(readService(service(spec), rules).value?.definition.affinitySeconds).toBe(want);
  });
});

describe('readSlice', () => {
  it.each([
    { address: '10.4.0.1', want: [] },
    { address: '10.4.0.256', want: ['bad-address'] },
    { address: '127.0.0.1', want: ['bad-address'] },
    { address: '169.254.169.254', want: ['bad-address'] },
    { address: 'fd00::1', want: ['bad-address'] },
    { address: '192.168.0.1', want: ['address-not-allowed'] },
  ])('finds $want in an endpoint at $address, and keeps its neighbour', ({ address, want }) => {
    const { value, skipped } = readSlice(
      slice({ endpoints: [{ addresses: [address] }, { addresses: ['10.4.0.9'] }] }),
      sliceRules,
    );
    expect(reasons(skipped)).toEqual(want);
    const kept = want.length === 0 ? [[address], ['10.4.0.9']] : [['10.4.0.9']];
    expect(value?.endpoints.map(addressesOf)).toEqual(kept);
  });

  it.each([
    { name: 'without a Service', labels: {} },
    {
      name: 'of our own',
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
      },
    },
  ])('ignores a slice $name', ({ labels }) => {
    expect(readSlice(slice({}, labels), sliceRules)).toEqual({ value: undefined, skipped: [] });
  });

  it('reports a slice of host names as expected', () => {
    expect(readSlice(slice({ addressType: 'FQDN' }), sliceRules)).toMatchObject({
      value: undefined,
      skipped: [{ kind: 'expected', reason: 'host-names' }],
    });
  });

  it('reads node and zone of the local cluster only', () => {
    const endpoints = [{ addresses: ['10.4.0.1'], nodeName: 'n1', zone: 'z1' }];
    expect(readSlice(slice({ endpoints }), sliceRules).value?.endpoints[0]).toMatchObject({
      nodeName: undefined,
      zone: undefined,
    });
    expect(readSlice(slice({ endpoints }), { ...sliceRules, isLocal: true }).value?.endpoints[0]).toMatchObject({
      nodeName: 'n1',
      zone: 'z1',
    });
  });

  it.each([
    { name: 'name', port: { name: 'A b', port: 80 } },
    { name: 'protocol', port: { port: 80, protocol: 'QUIC' } },
    { name: 'appProtocol', port: { port: 80, appProtocol: 'example.com/a/b' } },
  ])('skips a slice with an invalid port $name', ({ port }) => {
    expect(reasons(readSlice(slice({ ports: [port] }), sliceRules).skipped)).toEqual(['bad-port']);
  });

  it.each(['http', 'kubernetes.io/h2c', 'example.com/My_Own'])('accepts the appProtocol %s', (appProtocol) => {
    expect(
      readService(service({ ports: [{ port: 80, appProtocol }] }), rules).value?.definition.ports[0]?.appProtocol,
    ).toBe(appProtocol);
    expect(readSlice(slice({ ports: [{ port: 80, appProtocol }] }), sliceRules).value?.ports[0]?.appProtocol).toBe(
      appProtocol,
    );
  });

  it('reads an endpoint without its invalid hostname, and keeps a valid one', () => {
    const endpoints = [
      { addresses: ['10.4.0.1'], hostname: 'Bad_Host' },
      { addresses: ['10.4.0.2'], hostname: 'db-0' },
    ];
    const { value, skipped } = readSlice(slice({ endpoints }), sliceRules);
    expect(value?.endpoints.map(({ hostname }) => hostname)).toEqual([undefined, 'db-0']);
    expect(skipped).toEqual([
      { kind: 'problem', reason: 'bad-hostname', detail: 'the hostname of 10.4.0.1 is not valid' },
    ]);
  });
});
