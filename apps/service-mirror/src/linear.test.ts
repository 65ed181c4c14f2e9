import { Codec, endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import { superlinearAt } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { globalSlices } from './endpoints/desired/merged/slices.ts';
import { mergeDefinitions, type Participant } from './endpoints/desired/merged/merge-definitions.ts';
import { readService } from './endpoints/remote/read-service.ts';
import { readSlice } from './endpoints/remote/read-slice.ts';

const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);
const rules = { addresses: { allowed: undefined, local: [] }, isLocal: false, isLocalFirst: () => false };

const many = <T>(bytes: number, one: (i: number) => T): readonly T[] =>
  Array.from({ length: bytes / 16 }, (_, i) => one(i));

// Objects as the codec returns them, but larger than its limits.
const metadata = { name: 'web-a', namespace: 'shop', uid: 'u', labels: { 'kubernetes.io/service-name': 'web' } };
const spec = { type: 'ClusterIP', clusterIP: '10.96.0.1', ports: [{ port: 80 }] };
const [oneService, oneSlice] = [
  services.objectFromJson({ apiVersion: 'v1', kind: 'Service', metadata: { ...metadata, name: 'web' }, spec }),
  slices.objectFromJson({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [{ port: 80 }],
  }),
];
const [oneServicePort] = oneService.spec.ports;
const [oneEndpoint, oneSlicePort] = [oneSlice.endpoints[0]!, oneSlice.ports[0]!];

const service = (ports: readonly Port[]) => ({
  ...oneService,
  spec: { ...oneService.spec, ports: ports.map((each) => ({ ...oneServicePort!, ...each })) },
});

const slice = ({
  endpoints = [],
  ports = [],
}: {
  endpoints?: readonly (readonly string[])[];
  ports?: readonly Port[];
}) => ({
  ...oneSlice,
  endpoints: endpoints.map((addresses) => ({ ...oneEndpoint, addresses })),
  ports: ports.map((each) => ({ ...oneSlicePort, ...each })),
});

type Port = { readonly name: string; readonly port: number; readonly protocol: string };

const port = (i: number) => ({ name: `p${i}`, port: 1 + (i % 65_535), protocol: 'TCP' });
const address = (i: number): string => `10.${i >>> 16}.${(i >>> 8) & 255}.${i & 255}`;

/** Definitions with more ports than one Service can have. */
const definitionOf = (bytes: number, prefix: string): Participant['definition'] => {
  const { definition } = readService(oneService, rules).value!;
  const [one] = definition.ports;
  return {
    ...definition,
    ports: many(bytes, (i) => ({ ...one!, ...port(i), name: `${prefix}${i}`, protocol: 'TCP' })),
  };
};

const twoClusters = (bytes: number) =>
  ['c1', 'c2'].map((cluster, createdAt) => ({ cluster, createdAt, definition: definitionOf(bytes, `${cluster}-`) }));

const merged = (bytes: number) => {
  const { value } = readSlice(oneSlice, rules);
  const ports = many(bytes, (i) => ({ ...value!.ports[0]!, ...port(i), name: `x${i}`, protocol: 'TCP' as const }));
  const frame = { service: 'web', definition: definitionOf(bytes, 'p'), portNames: new Map(), zones: undefined };
  return [{ cluster: 'c2', isLocal: false, slices: [{ ...value!, ports }] }, frame] as const;
};

it.each<{ name: string; input: (bytes: number) => unknown; work: (input: never) => unknown }>([
  {
    name: 'a slice of endpoints',
    input: (bytes) => slice({ endpoints: many(bytes, (i) => [address(i)]) }),
    work: (one: ReturnType<typeof slice>) => readSlice(one, rules),
  },
  {
    name: 'an endpoint of addresses',
    input: (bytes) => slice({ endpoints: [many(bytes, address)] }),
    work: (one: ReturnType<typeof slice>) => readSlice(one, rules),
  },
  {
    name: 'an endpoint of refused addresses',
    input: (bytes) => slice({ endpoints: [many(bytes, () => '127.0.0.1')] }),
    work: (one: ReturnType<typeof slice>) => readSlice(one, rules),
  },
  {
    name: 'a slice of ports',
    input: (bytes) => slice({ ports: many(bytes, port) }),
    work: (one: ReturnType<typeof slice>) => readSlice(one, rules),
  },
  {
    name: 'a Service of ports',
    input: (bytes) => service(many(bytes, port)),
    work: (one: ReturnType<typeof service>) => readService(one, rules),
  },
  {
    name: 'a merge of two Services',
    input: twoClusters,
    work: (both: ReturnType<typeof twoClusters>) => mergeDefinitions(both),
  },
  {
    name: 'a slice in a global Service',
    input: merged,
    work: ([source, frame]: ReturnType<typeof merged>) => globalSlices(source, frame),
  },
])('$name costs time in proportion to its size, up to 1 MB', ({ input, work }) => {
  expect(superlinearAt({ input, work: work as (given: unknown) => unknown })).toBeUndefined();
});
