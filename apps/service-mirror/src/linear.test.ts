import { Codec, endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import { superlinearAt } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { globalSlices } from './global-slices.ts';
import { mergeDefinitions } from './merge-definitions.ts';
import { readService } from './read-service.ts';
import { readSlice } from './read-slice.ts';

const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);
const rules = { addresses: { allowed: undefined, local: [] }, isLocal: false, isLocalFirst: () => false };

const many = <T>(bytes: number, one: (i: number) => T): readonly T[] => Array.from({ length: bytes / 16 }, (_, i) => one(i));

const service = (ports: readonly object[]) =>
  services.objectFromJson({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop', uid: 'u' }, spec: { type: 'ClusterIP', clusterIP: '10.96.0.1', ports } });

const slice = (fields: object) =>
  slices.objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-a', namespace: 'shop', uid: 'u', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ...fields,
  });

const port = (i: number) => ({ name: `p${i}`, port: 1 + (i % 65_535), protocol: 'TCP' });
const address = (i: number): string => `10.${i >>> 16}.${(i >>> 8) & 255}.${i & 255}`;

const twoClusters = (bytes: number) =>
  ['c1', 'c2'].map((cluster, createdAt) => ({ cluster, createdAt, definition: readService(service(many(bytes, (i) => ({ ...port(i), name: `${cluster}-${i}` }))), rules).value!.definition }));

const merged = (bytes: number) => {
  const { definition } = readService(service(many(bytes, port)), rules).value!;
  const { value } = readSlice(slice({ ports: many(bytes, (i) => ({ ...port(i), name: `x${i}` })) }), rules);
  return [{ cluster: 'c2', isLocal: false, slices: [value!] }, { service: 'web', definition, portNames: new Map(), zones: undefined }] as const;
};

it.each<{ name: string; input: (bytes: number) => unknown; work: (input: never) => unknown }>([
  { name: 'a slice of endpoints', input: (bytes) => slice({ endpoints: many(bytes, (i) => ({ addresses: [address(i)] })) }), work: (one: ReturnType<typeof slice>) => readSlice(one, rules) },
  { name: 'an endpoint of addresses', input: (bytes) => slice({ endpoints: [{ addresses: many(bytes, address) }] }), work: (one: ReturnType<typeof slice>) => readSlice(one, rules) },
  { name: 'an endpoint of refused addresses', input: (bytes) => slice({ endpoints: [{ addresses: many(bytes, () => '127.0.0.1') }] }), work: (one: ReturnType<typeof slice>) => readSlice(one, rules) },
  { name: 'a slice of ports', input: (bytes) => slice({ ports: many(bytes, port) }), work: (one: ReturnType<typeof slice>) => readSlice(one, rules) },
  { name: 'a Service of ports', input: (bytes) => service(many(bytes, port)), work: (one: ReturnType<typeof service>) => readService(one, rules) },
  { name: 'a merge of two Services', input: twoClusters, work: (both: ReturnType<typeof twoClusters>) => mergeDefinitions(both) },
  { name: 'a slice in a global Service', input: merged, work: ([source, frame]: ReturnType<typeof merged>) => globalSlices(source, frame) },
])('$name costs by its size, up to 1 MB', ({ input, work }) => {
  expect(superlinearAt({ input, work: work as (given: unknown) => unknown })).toBeUndefined();
}, 60_000);
