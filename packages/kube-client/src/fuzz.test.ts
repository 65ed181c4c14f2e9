import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import {
  blockAffinityKind,
  Codec,
  DecodeError,
  endpointsKind,
  endpointSliceKind,
  FrameSplitter,
  globalNetworkSetKind,
  ipamBlockKind,
  type Kind,
  leaseKind,
  nodeKind,
  parseJson,
  podKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import {
  answers,
  endpointSlice,
  fuzz,
  type FuzzTarget,
  mutateBytes,
  mutateJson,
  mutateProtobuf,
  node,
  pod,
  service,
} from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';

const isExpected = (error: unknown): boolean => error instanceof DecodeError;

const labels = { app: 'web', 'semaphore.uw.systems/name': 'web' };
const builtIns: readonly { kind: Kind; objects: Parameters<typeof answers>[0] }[] = [
  {
    kind: podKind,
    objects: [pod({ name: 'a', labels, ips: ['10.0.0.1', 'fd00::1'] }), pod({ name: 'b', sizeBytes: 4_000 })],
  },
  {
    kind: serviceKind,
    objects: [service({ name: 'web', labels, annotations: labels }), service({ name: 'db', headless: true })],
  },
  {
    kind: endpointSliceKind,
    objects: [endpointSlice({ name: 'web-1', service: 'web', endpoints: ['10.0.0.1', '10.0.0.2'] })],
  },
  {
    kind: nodeKind,
    objects: [node({ name: 'n1', annotations: labels, podCIDRs: ['10.4.0.0/24'], internalIPs: ['192.0.2.1'] })],
  },
  { kind: endpointsKind, objects: [endpoints('web', [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }]), endpoints('db', [])] },
];

function endpoints(name: string, addresses: readonly object[]): KubeObject {
  const subsets = addresses.length === 0 ? [] : [{ addresses, ports: [{ port: 80 }] }];
  return { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, labels, annotations: labels }, subsets };
}

const times = { acquireTime: '2026-01-01T00:00:00.000000Z', renewTime: '2026-01-01T00:00:01.000000Z' };

/** Kinds that we only read as JSON, even if the API server has protobuf. */
const onlyJson: readonly { kind: Kind; spec: object }[] = [
  { kind: leaseKind, spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 1, ...times } },
  { kind: globalNetworkSetKind('projectcalico.org/v3'), spec: { nets: ['10.0.0.1/32', 'fd00::1/128'] } },
  { kind: blockAffinityKind, spec: { cidr: '10.0.0.0/26', node: 'n1', state: 'confirmed', deleted: 'false' } },
  {
    kind: ipamBlockKind,
    spec: {
      cidr: '10.0.0.0/26',
      affinity: 'host:n1',
      allocations: [0, null],
      attributes: [{ secondary: { node: 'n2' } }],
    },
  },
];

const fromProtobuf = builtIns.flatMap(({ kind, objects }): { name: string; target: FuzzTarget }[] => {
  const codec = new Codec(kind);
  const { page, events } = answers(objects).protobuf;
  const common = { mutate: mutateProtobuf, isExpected };
  return [
    {
      name: `a page of ${kind.plural} in protobuf`,
      target: { ...common, seeds: [page], run: (bytes) => codec.pageFromProtobuf(bytes) },
    },
    // Each follows its length.
    {
      name: `an event of ${kind.plural} in protobuf`,
      target: {
        ...common,
        seeds: events.map((event) => event.subarray(4)),
        run: (bytes) => codec.eventFromProtobuf(bytes, 0, bytes.length),
      },
    },
  ];
});

const jsonAnswers = [
  ...builtIns.map(({ kind, objects }) => ({ kind, ...answers(objects).json })),
  ...onlyJson.map(({ kind, spec }) => {
    const apiVersion = `${kind.group}/${kind.version}`;
    const object = {
      apiVersion,
      kind: kind.kind,
      metadata: {
        name: 'a',
        uid: 'u',
        resourceVersion: '1',
        labels,
        ownerReferences: [{ uid: 'o' }],
        finalizers: ['f'],
      },
      spec,
    };
    const list = { apiVersion, kind: `${kind.kind}List`, metadata: { resourceVersion: '1' }, items: [object] };
    return {
      kind,
      page: Buffer.from(JSON.stringify(list)),
      events: [Buffer.from(JSON.stringify({ type: 'ADDED', object }))],
    };
  }),
];

const fromJson = jsonAnswers.flatMap(({ kind, page, events }): { name: string; target: FuzzTarget }[] => {
  const codec = new Codec(kind);
  const common = { mutate: mutateJson, isExpected };
  return [
    {
      name: `a page of ${kind.plural} in JSON`,
      target: { ...common, seeds: [page], run: (bytes) => codec.pageFromJson(parseJson(bytes)) },
    },
    {
      name: `an event of ${kind.plural} in JSON`,
      target: { ...common, seeds: events, run: (bytes) => codec.eventFromJson(parseJson(bytes)) },
    },
  ];
});

const MAX_FRAME_BYTES = 8 * 1024 * 1024;

/** Splits a stream into chunks, with sizes from the bytes of the stream itself. */
function framesOf(framing: 'length-prefix' | 'newline', stream: Buffer): readonly number[] {
  const splitter = new FrameSplitter(framing, { maxFrameBytes: MAX_FRAME_BYTES });
  const lengths: number[] = [];
  for (let from = 0; from < stream.length;) {
    const until = from + 1 + (stream[from]! << 4);
    splitter.push(stream.subarray(from, until), (_, start, end) => lengths.push(end - start));
    from = until;
  }
  return lengths;
}

const pods = answers([pod({ name: 'a', ips: ['10.0.0.1'] }), pod({ name: 'b', sizeBytes: 4_000 })]);
const frames = (['length-prefix', 'newline'] as const).map((framing): { name: string; target: FuzzTarget } => ({
  name: `frames by ${framing}`,
  target: {
    seeds: [Buffer.concat(framing === 'newline' ? pods.json.events : pods.protobuf.events)],
    mutate: mutateBytes,
    run: (stream) => framesOf(framing, stream),
    isExpected,
  },
}));

it.each([...fromProtobuf, ...fromJson, ...frames])(
  '$name is read or refused, in linear time and a bounded heap',
  async ({ target }) => {
    expect(await fuzz(target)).toMatchObject({ runs: expect.any(Number) });
  },
);
