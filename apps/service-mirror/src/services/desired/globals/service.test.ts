import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as arbitrary from '../../../../test/arbitraries.ts';
import type { ClusterDiagnostic } from '../../../endpoints/desired/diagnostic.ts';
import type { DesiredObjects } from '../../../endpoints/desired/objects.ts';
import { diffService } from '../../../endpoints/desired/diff/service.ts';
import { diffSlices } from '../../../endpoints/desired/diff/slices.ts';
import { familySpec } from '../../../endpoints/desired/families.ts';
import { desiredGlobal, type GlobalInput, type GlobalParticipant } from './service.ts';
import { retainedOf, NOTHING_RETAINED } from '../../../endpoints/desired/merged/retained.ts';
import type { ObservedService, ObservedSlice } from '../../../endpoints/desired/observed.ts';
import type { Definition, Endpoint, ServicePort, SourceSlice } from '../../../endpoints/desired/source.ts';
import type { Stale } from '../../../endpoints/desired/merged/stale-endpoints.ts';

const http: ServicePort = { name: 'http', protocol: 'TCP', port: 80, targetPort: undefined, appProtocol: undefined };
const web: Definition = {
  headless: false,
  families: ['IPv4'],
  ports: [http],
  affinitySeconds: undefined,
  publishNotReadyAddresses: false,
};
const pod: Endpoint = {
  address: '10.4.0.1',
  otherAddresses: undefined,
  conditions: { ready: true, serving: true, terminating: false },
  hostname: 'web-0',
  nodeName: 'n1',
  zone: 'a',
  zones: undefined,
};

type Parts = {
  readonly definition?: Partial<Definition>;
  readonly slicePorts?: readonly string[];
  readonly localFirst?: boolean;
  readonly stale?: Stale;
};

/** A cluster with one slice of one endpoint; c1 is the local one, and has the oldest Service. */
function cluster(
  name: string,
  { definition = {}, slicePorts = ['http'], localFirst = false, stale = 'no' }: Parts = {},
): GlobalParticipant {
  const ports = slicePorts.map(
    (port) => ({ name: port, protocol: 'TCP', port: 8080, appProtocol: undefined }) as const,
  );
  const slice: SourceSlice = {
    uid: 'u',
    namespace: 'shop',
    name: 'web-x',
    service: 'web',
    family: 'IPv4',
    ports,
    endpoints: [pod],
  };
  const service = {
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    createdAt: Number(name.slice(1)),
    definition: { ...web, ...definition },
    hasSelector: true,
    localFirst,
  };
  return { cluster: name, isLocal: name === 'c1', service, slices: [slice], stale };
}

const nothing: GlobalInput = {
  namespace: 'shop',
  name: 'web',
  participants: [],
  retained: NOTHING_RETAINED,
  zones: ['b', 'a'],
  hints: 'labelled',
  routing: { local: 'c1', properties: new Map(), order: undefined, hasAllZones: true, down: new Map(), nowMs: 0 },
};
const global = (input: Partial<GlobalInput>) => desiredGlobal({ ...nothing, ...input });

/** The desired objects, for inputs that want some. */
function objects(input: Partial<GlobalInput>): DesiredObjects {
  const { wanted } = global(input);
  if (typeof wanted === 'string') throw new Error(`the global Service is ${wanted}`);
  return wanted;
}

describe('desiredGlobal', () => {
  it('merges the Services of all clusters, with the slices of each', () => {
    const { service, slices } = objects({ participants: [cluster('c2'), cluster('c1')] });
    expect(service).toEqual({
      name: 'gl-shop-73736d-web',
      labels: { 'global-svc': 'true' },
      annotations: { 'mirror-svc-source': 'global/shop/web', 'global-svc-clusters': 'c1,c2' },
      definition: web,
    });
    const labels = {
      'mirrored-endpoint-slice': 'true',
      'kubernetes.io/service-name': 'gl-shop-73736d-web',
      'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
    };
    const common = { family: 'IPv4', ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: undefined }] };
    const byCluster = slices.toSorted((a, b) =>
      a.annotations['mirror-svc-source']! < b.annotations['mirror-svc-source']! ? -1 : 1,
    );
    expect(byCluster).toEqual([
      {
        ...common,
        name: expect.stringMatching(/^gl-shop-73736d-web-[0-9a-f]{20}$/),
        labels: { ...labels, 'mirror-endpointslice-sync-name': 'c1' },
        annotations: { 'mirror-svc-source': 'c1/shop/web-x' },
        endpoints: [pod],
      },
      {
        ...common,
        name: expect.stringMatching(/^gl-shop-73736d-web-[0-9a-f]{20}$/),
        labels: { ...labels, 'mirror-endpointslice-sync-name': 'c2' },
        annotations: { 'mirror-svc-source': 'c2/shop/web-x' },
        endpoints: [{ ...pod, nodeName: undefined, zone: undefined }],
      },
    ]);
    expect(slices.map(({ name }) => name)).toEqual(slices.map(({ name }) => name).toSorted());
  });

  it('wants nothing if no cluster has the Service', () => {
    expect(global({})).toEqual({ wanted: 'nothing', diagnostics: [] });
  });

  it('labels the slices of a headless Service, whatever the own Service of a cluster is', () => {
    const { service, slices } = objects({
      participants: [cluster('c1', { definition: { headless: true } }), cluster('c2')],
    });
    expect(service.definition.headless).toBe(true);
    expect(slices.map(({ labels }) => labels['service.kubernetes.io/headless'])).toEqual(['', '']);
  });

  it('lists overruled clusters, sorted, on the Service', () => {
    const overruled = { definition: { affinitySeconds: 60, headless: true } };
    const { wanted, diagnostics } = global({
      participants: [cluster('c3', overruled), cluster('c1'), cluster('c2', overruled)],
    });
    expect(wanted).toMatchObject({ service: { annotations: { 'global-svc-conflicts': 'c2,c3' } } });
    expect(diagnostics.map(({ cluster: name, reason }) => `${name} ${reason}`)).toEqual([
      'c2 headless-conflict',
      'c2 affinity-conflict',
      'c3 headless-conflict',
      'c3 affinity-conflict',
    ]);
  });

  type PortRow = {
    name: string;
    ports: readonly ServicePort[];
    slicePorts: readonly string[];
    want: readonly string[] | undefined;
    conflict?: string;
  };

  /** Of c2, whose Service is younger. */
  it.each<PortRow>([
    { name: 'renames the ports of slices', ports: [{ ...http, name: 'web' }], slicePorts: ['web'], want: ['http'] },
    {
      name: 'drops the ports of slices',
      ports: [http, { ...http, name: 'admin', port: 81 }, { ...http, name: '', port: 82 }],
      slicePorts: ['http', 'admin', ''],
      want: ['http', 'admin'],
    },
    {
      name: 'skips a slice without any port of the Service',
      ports: [{ ...http, port: 81 }],
      slicePorts: ['http'],
      want: undefined,
    },
    { name: 'keeps a slice that has no ports', ports: [http], slicePorts: [], want: [] },
    {
      name: 'keeps a port that its own Service does not list yet',
      ports: [http],
      slicePorts: ['http', 'admin'],
      want: ['http', 'admin'],
    },
    {
      name: 'drops such a port if its name is one of the global Service, and says so',
      ports: [{ ...http, name: 'web' }],
      slicePorts: ['http', 'web'],
      want: ['http'],
      conflict:
        "1 of the 2 ports of its slice shop/web-x are skipped: its Service lacks the name, and another cluster's has it",
    },
  ])('$name', ({ ports, slicePorts, want, conflict }) => {
    const { wanted, diagnostics } = global({
      participants: [cluster('c1'), cluster('c2', { definition: { ports }, slicePorts })],
    });
    const slices = wanted === 'nothing' || wanted === 'unknown' ? [] : wanted.slices;
    const own = slices.find(({ labels }) => labels['mirror-endpointslice-sync-name'] === 'c2');
    expect(own?.ports.map(({ name }) => name)).toEqual(want);
    const left = diagnostics.filter(({ reason }) => reason === 'slice-portless');
    expect(left).toEqual(
      want === undefined
        ? [
            {
              cluster: 'c2',
              kind: 'problem',
              reason: 'slice-portless',
              detail: 'its slice shop/web-x has no port of the Service',
            },
          ]
        : [],
    );
    const conflicts = diagnostics.filter(({ detail }) => detail.includes('of its slice'));
    expect(conflicts).toEqual(
      conflict === undefined ? [] : [{ cluster: 'c2', kind: 'problem', reason: 'port-conflict', detail: conflict }],
    );
  });

  const hinted = { c1: ['a', 'b'], c2: ['remote'] };
  const unhinted = { c1: undefined, c2: undefined };
  const auto = { 'service.kubernetes.io/topology-aware-hints': 'auto', 'service.kubernetes.io/topology-mode': 'auto' };

  it.each([
    {
      name: 'routes everywhere if no Service asks for local-first',
      asks: [],
      hints: 'labelled',
      zones: unhinted,
      annotations: {},
    },
    {
      name: 'routes to local endpoints first if the oldest asks for it',
      asks: ['c1'],
      hints: 'labelled',
      zones: hinted,
      annotations: auto,
    },
    {
      name: 'routes everywhere if only a younger one asks',
      asks: ['c2'],
      hints: 'labelled',
      zones: unhinted,
      annotations: {},
    },
    { name: 'has hints on every Service, like Go programs', asks: [], hints: 'always', zones: hinted, annotations: {} },
  ] as const)('$name', ({ asks, hints, zones, annotations }) => {
    const participants = ['c1', 'c2'].map((name) => cluster(name, { localFirst: asks.some((each) => each === name) }));
    const { service, slices } = objects({ participants, hints });
    expect(
      Object.fromEntries(
        slices.map(({ labels, endpoints }) => [labels['mirror-endpointslice-sync-name'], endpoints[0]!.zones]),
      ),
    ).toEqual(zones);
    expect(Object.entries(service.annotations).filter(([key]) => key.includes('topology'))).toEqual(
      Object.entries(annotations),
    );
  });

  it('uses other clusters if one is stale, which keeps its part', () => {
    const { service, slices } = objects({
      participants: [cluster('c1'), cluster('c2', { stale: 'unready' }), cluster('c3', { stale: 'remove' })],
    });
    expect(service.annotations['global-svc-clusters']).toBe('c1,c2,c3');
    const ready = slices.map(({ labels, endpoints }) => [
      labels['mirror-endpointslice-sync-name'],
      endpoints[0]!.conditions.ready,
    ]);
    expect(Object.fromEntries(ready)).toEqual({ c1: true, c2: false });
  });
});

const isUnknown = { c2: { cluster: 'c2', isLocal: false } };

describe('desiredGlobal, while a cluster is unknown', () => {
  const both = [cluster('c1'), cluster('c2', { definition: { affinitySeconds: 60 } })];

  it('retains the definition, and reports what waits', () => {
    const retained = retainedOf(observed(objects({ participants: both })), [isUnknown.c2]);
    const admin = { ...http, name: 'admin', port: 81 };
    const changed = cluster('c1', { definition: { ports: [http, admin], headless: true } });
    const { wanted, diagnostics } = global({ participants: [changed], retained });
    expect(wanted).toMatchObject({
      service: { definition: web, annotations: { 'global-svc-clusters': 'c1,c2', 'global-svc-conflicts': 'c1,c2' } },
    });
    expect(diagnostics.map(({ cluster: name, reason }) => `${name} ${reason}`)).toEqual([
      'c1 headless-conflict',
      'c1 port-waits',
    ]);
  });

  it('retains the Service when the last known cluster leaves', () => {
    const before = objects({ participants: both });
    const { service, slices } = objects({ retained: retainedOf(observed(before), [isUnknown.c2]) });
    expect(service).toEqual({
      ...before.service,
      annotations: { ...before.service.annotations, 'global-svc-clusters': 'c2' },
    });
    expect(slices).toEqual(before.slices.filter(({ labels }) => labels['mirror-endpointslice-sync-name'] === 'c2'));
  });

  it('creates a deleted Service again from what is known', () => {
    const { slices } = observed(objects({ participants: both }));
    const { service } = objects({
      participants: [cluster('c1')],
      retained: retainedOf({ service: undefined, slices }, [isUnknown.c2]),
    });
    expect(service.annotations['global-svc-clusters']).toBe('c1,c2');
  });

  it('is unknown if the Service is gone and only unknown clusters have it', () => {
    const { slices } = observed(objects({ participants: both }));
    expect(global({ retained: retainedOf({ service: undefined, slices }, [isUnknown.c2]) })).toEqual({
      wanted: 'unknown',
      diagnostics: [],
    });
  });

  it('changes the hints of all endpoints or of none', () => {
    const retained = retainedOf(observed(objects({ participants: both, hints: 'always' })), [isUnknown.c2]);
    const zonesWith = (hints: GlobalInput['hints']) =>
      objects({ participants: [cluster('c1')], retained, hints }).slices.map(({ endpoints }) =>
        endpoints[0]!.zones?.join(),
      );
    expect(zonesWith('labelled')).toEqual([undefined, undefined]);
    expect(new Set(zonesWith('always'))).toEqual(new Set(['a,b', 'remote']));
  });

  it('counts a relabelled slice once', () => {
    const { service, slices } = observed(objects({ participants: both }));
    const relabelled = slices.map((slice) => ({
      ...slice,
      labels: { ...slice.labels, 'mirror-endpointslice-sync-name': 'c2' },
    }));
    const after = objects({
      participants: [cluster('c1')],
      retained: retainedOf({ service, slices: relabelled }, [isUnknown.c2]),
    });
    expect(new Set(after.slices.map(({ labels }) => labels['mirror-endpointslice-sync-name']))).toEqual(
      new Set(['c1', 'c2']),
    );
    expect(after.slices).toHaveLength(2);
  });
});

/** What the API server has after a write. */
function observed({ service, slices }: DesiredObjects): { service: ObservedService; slices: readonly ObservedSlice[] } {
  const { ipFamilyPolicy, ipFamilies } = familySpec(service.definition.families);
  // It has one family, whatever a Service prefers.
  const definition = { ...service.definition, families: ipFamilies };
  const identity = {
    uid: 'u',
    resourceVersion: '1',
    createdAt: 0,
    isPlain: true,
    isTerminating: false,
    ownerReferences: [],
    finalizers: [],
  };
  return {
    service: { ...service, ...identity, definition, familyPolicy: ipFamilyPolicy },
    slices: slices.map((slice) => ({ ...slice, uid: slice.name, resourceVersion: '1', owners: ['u'] })),
  };
}

describe('desiredGlobal, whatever the clusters have', () => {
  const participant = (name: string, staleness: fc.Arbitrary<Stale>): fc.Arbitrary<GlobalParticipant> =>
    fc.record({
      cluster: fc.constant(name),
      isLocal: fc.constant(name === 'c1'),
      service: arbitrary.service({ namespace: 'shop', name: 'web' }),
      slices: fc.uniqueArray(arbitrary.slice({ namespace: 'shop', service: 'web' }), {
        selector: (slice) => slice.name,
      }),
      stale: name === 'c1' ? fc.constant('no' as const) : staleness,
    });
  const inputs = (staleness: fc.Arbitrary<Stale> = fc.constantFrom('no', 'unready', 'remove')) =>
    fc.record({
      namespace: fc.constant('shop'),
      name: fc.constant('web'),
      participants: fc
        .tuple(...['c1', 'c2', 'c3'].map((name) => participant(name, staleness)))
        .chain((all) => fc.subarray([...all], { minLength: 1 })),
      retained: fc.constant(NOTHING_RETAINED),
      zones: fc.uniqueArray(fc.constantFrom('a', 'b', 'remote')),
      hints: fc.constantFrom('labelled' as const, 'always' as const),
      routing: fc.constant(nothing.routing),
    });
  const shuffled = <T>(items: readonly T[]) => fc.shuffledSubarray([...items], { minLength: items.length });

  it('does not depend on order', () => {
    const orders = inputs().chain((input) =>
      fc.record({
        input: fc.constant(input),
        participants: fc
          .tuple(...input.participants.map((each) => shuffled(each.slices).map((slices) => ({ ...each, slices }))))
          .chain(shuffled),
        zones: shuffled(input.zones),
      }),
    );
    fc.assert(
      fc.property(orders, ({ input, ...order }) => {
        const { slicesOf, ...all } = desiredGlobal(input);
        const { slicesOf: inThisOrder, ...again } = desiredGlobal({ ...input, ...order });
        expect(again).toEqual(all);
        const [one] = input.participants;
        expect(one && inThisOrder?.(one)).toEqual(one && slicesOf?.(one));
      }),
    );
  });

  it('has nothing of an order without one, whatever is known of clusters, Nodes and time', () => {
    const properties = new Map([['c1', new Map([['region', 'eu']])]]);
    fc.assert(
      fc.property(inputs(), fc.boolean(), (input, hasAllZones) => {
        const routing = { ...nothing.routing, properties, hasAllZones, down: new Map([['*', 0]]), nowMs: 9 };
        const { state, ...wanted } = desiredGlobal({ ...input, routing });
        expect(JSON.stringify({ ...wanted, state })).toBe(JSON.stringify(desiredGlobal(input)));
        expect(state).toBeUndefined();
        const { service, slices } = objects(input);
        const keys = [service, ...slices].flatMap(({ annotations }) => Object.keys(annotations));
        expect(keys.filter((key) => key.startsWith('semaphore') || key.includes('standby'))).toEqual([]);
      }),
    );
  });

  it('has a slice with its own name for each source slice, or a diagnostic', () => {
    fc.assert(
      fc.property(inputs(fc.constantFrom('no', 'unready')), (input) => {
        const { slices } = objects(input);
        const isLeft = ({ reason, detail }: ClusterDiagnostic) =>
          reason === 'slice-portless' || (reason === 'bad-port' && detail.endsWith('so it is skipped'));
        const left = desiredGlobal(input).diagnostics.filter(isLeft).length;
        expect(new Set(slices.map(({ name }) => name)).size).toBe(slices.length);
        expect(slices.length + left).toBe(input.participants.flatMap((each) => each.slices).length);
      }),
    );
  });

  it('has hints on all endpoints or on none, and a node only of the local cluster', () => {
    fc.assert(
      fc.property(inputs(), (input) => {
        const participants = input.participants.map((each) => ({
          ...each,
          slices: each.slices.map((slice) => ({
            ...slice,
            endpoints: slice.endpoints.map((endpoint) => ({ ...endpoint, nodeName: 'n', zone: 'z' })),
          })),
        }));
        const endpoints = objects({ ...input, participants }).slices.flatMap((slice) =>
          slice.endpoints.map((endpoint) => ({ ...endpoint, cluster: slice.labels['mirror-endpointslice-sync-name'] })),
        );
        expect(new Set(endpoints.map(({ zones }) => zones === undefined)).size).toBeLessThanOrEqual(1);
        for (const { cluster: name, nodeName, zone, zones } of endpoints) {
          expect([nodeName, zone]).toEqual(name === 'c1' ? ['n', 'z'] : [undefined, undefined]);
          expect(zones === undefined || zones.includes('remote') === (name !== 'c1')).toBe(true);
        }
      }),
    );
  });

  it('loses exactly the slices of a cluster that leaves', () => {
    const agreed = fc
      .tuple(inputs(fc.constant('no')), arbitrary.definition, fc.nat(2))
      .map(([input, definition, leaving]) => ({
        input: {
          ...input,
          participants: input.participants.map((each) => ({
            ...each,
            service: { ...each.service, definition, localFirst: true },
          })),
        },
        leaving: input.participants[leaving % input.participants.length]!.cluster,
      }));
    fc.assert(
      fc.property(agreed, ({ input, leaving }) => {
        const stay = input.participants.filter((each) => each.cluster !== leaving);
        fc.pre(stay.length > 0);
        const [before, after] = [objects(input), objects({ ...input, participants: stay })];
        expect(after.slices).toEqual(
          before.slices.filter(({ labels }) => labels['mirror-endpointslice-sync-name'] !== leaving),
        );
        expect(after.service.definition).toEqual(before.service.definition);
      }),
    );
  });

  it('never removes the last ready endpoint because of staleness', () => {
    const isReady = ({ conditions }: Endpoint) => conditions.ready !== false;
    fc.assert(
      fc.property(inputs(), (input) => {
        const fresh = objects({ ...input, participants: input.participants.map((each) => ({ ...each, stale: 'no' })) });
        const places = ({ slices }: DesiredObjects) =>
          new Set(
            slices
              .filter(({ endpoints }) => endpoints.some(isReady))
              .flatMap(({ family, ports }) => [
                family,
                ...ports.map((port) => `${family} ${port.protocol} ${port.name}`),
              ]),
          );
        expect(places(objects(input))).toEqual(places(fresh));
      }),
    );
  });

  it('changes nothing when clusters become unknown', () => {
    fc.assert(
      fc.property(inputs(fc.constant('no')), fc.subarray(['c1', 'c2', 'c3']), (input, unknown) => {
        const there = observed(objects(input));
        const retained = retainedOf(
          there,
          unknown.map((name) => ({ cluster: name, isLocal: name === 'c1' })),
        );
        const after = objects({
          ...input,
          participants: input.participants.filter((each) => !unknown.includes(each.cluster)),
          retained,
        });
        expect(diffService(there.service, after.service)).toBeUndefined();
        expect(diffSlices(there.slices, after.slices, { name: after.service.name, uid: 'u' })).toEqual({
          writes: [],
          deletes: [],
        });
      }),
    );
  });
});
