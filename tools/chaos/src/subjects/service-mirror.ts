import { createHash } from 'node:crypto';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { deployedCrds, endpointSlice, service } from '@kube-semaphore/testkit';
import { inNamespace, startObjects, type Writes } from '../objects.ts';
import type { Change, Name, State, Subject, View } from '../subject.ts';
import {
  changedExport,
  EXPORTS,
  IMPORTS,
  isOfImport,
  observedImports,
  STAYING_DERIVED,
  STAYING_IMPORT,
  stayingExports,
  wantedImports,
} from './imports.ts';

const MIRRORS = 'sys-semaphore';
const [SERVICES, SLICES] = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'] as const;
const [LOCAL_SERVICES, LOCAL_SLICES] = [inNamespace(SERVICES, MIRRORS), inNamespace(SLICES, MIRRORS)];
const SOURCE = 'mirror-svc-source';
const SERVICE_NAME = 'kubernetes.io/service-name';

/** What the config file allows of each remote. */
const ranges: Readonly<Record<string, readonly string[]>> = { c2: ['10.4.', 'fd00:4:'], c3: ['10.5.', 'fd00:5:'] };

const NAMESPACES = ['shop', 'pay'];

/** Few, so that exports of several clusters have one name. */
const EXPORTED = ['shop'];

/** What the label `mirror` of a Service, and `global`, are: by its name, so that its slices have the same labels. */
const kinds: Readonly<Record<string, { readonly mirror: boolean; readonly global: boolean; readonly bare?: boolean }>> =
  {
    web: { mirror: true, global: false },
    api: { mirror: true, global: false },
    db: { mirror: true, global: false },
    [`long-${'x'.repeat(50)}`]: { mirror: true, global: false },
    // Without a selector: other clients write its slices, without its labels.
    bare: { mirror: true, global: false, bare: true },
    all: { mirror: false, global: true },
    near: { mirror: false, global: true },
    both: { mirror: true, global: true },
  };

type Endpoint = {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly hostname?: string;
  readonly targetRef?: { readonly kind: string; readonly name: string };
  readonly hints?: { readonly forZones: readonly { readonly name: string }[] };
};
type Slice = KubeObject & { readonly addressType: string; readonly endpoints?: readonly Endpoint[] | null };
type Spec = {
  readonly type: string;
  readonly clusterIP?: string;
  readonly selector?: object;
  readonly ports?: readonly { readonly [field: string]: unknown }[];
  readonly ipFamilies?: readonly string[];
  readonly sessionAffinity?: string;
  readonly publishNotReadyAddresses?: boolean;
};

const labelsOf = (name: string): Record<string, string | null> => {
  const { mirror, global } = kinds[name]!;
  return { mirror: mirror ? 'true' : null, global: global ? 'true' : null, near: name === 'near' ? 'true' : null };
};

/** A change of one Service; a global one is the same everywhere, so no cluster is overruled. */
function serviceChange(dice: Dice, place: { cluster: Name; namespace: string; name: string }): Change {
  const { cluster, namespace, name } = place;
  const { global, bare = false } = kinds[name]!;
  const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 };
  const ports = dice.pick([
    [http],
    [{ ...http, port: 81 }],
    [http, { name: 'dns', protocol: 'UDP', port: 53, targetPort: 'dns' }],
    [{ ...http, appProtocol: 'kubernetes.io/h2c' }],
  ]);
  const various = {
    clusterIP: dice.integer(1, 4) === 1 ? 'None' : null,
    ports,
    sessionAffinity: dice.pick(['None', 'None', 'ClientIP']),
    publishNotReadyAddresses: dice.integer(1, 4) === 1,
    ipFamilyPolicy: dice.pick(['SingleStack', 'PreferDualStack']),
  };
  const object = service({
    name,
    namespace,
    selector: bare ? null : { app: name },
    spec: global ? { ports: [http] } : various,
  });
  const unlabelled = !global && dice.integer(1, 8) === 1;
  const labels = { ...labelsOf(name), ...(unlabelled && { mirror: null }) };
  return {
    cluster,
    collection: inNamespace(SERVICES, namespace),
    name,
    object: dice.integer(1, 4) === 1 ? null : { ...object, metadata: { ...object.metadata, labels } },
  };
}

function sliceChange(
  dice: Dice,
  { cluster, namespace, name }: { cluster: Name; namespace: string; name: string },
): Change {
  const addressType = dice.pick(['IPv4', 'IPv4', 'IPv6'] as const);
  const [four, six] = ranges[cluster] ?? ['10.1.', 'fd00:1:'];
  const address = () => {
    const last = dice.integer(1, 20);
    if (addressType === 'IPv6') return `${six}:${last}`;
    return dice.integer(1, 10) === 1 ? `10.9.0.${last}` : `${four}1.${last}`;
  };
  const endpoint = (): Endpoint => ({
    addresses: [address()],
    conditions: dice.pick([
      {},
      { ready: true, serving: true, terminating: false },
      { ready: false, serving: false, terminating: false },
      { ready: false, serving: true, terminating: true },
    ]),
    ...dice.pick([
      {},
      {},
      { hostname: `host-${dice.integer(1, 9)}` },
      { targetRef: { kind: 'Pod', name: `pod-${dice.integer(1, 9)}` } },
    ]),
  });
  const sliceName = `${name}-${dice.pick(['a', 'b', 'c'])}-${addressType.toLowerCase()}`;
  const labels = kinds[name]!.bare === true ? { 'endpointslice.kubernetes.io/managed-by': 'someone' } : labelsOf(name);
  const endpoints = Array.from({ length: dice.integer(0, 4) }, endpoint);
  const object = endpointSlice({ name: sliceName, namespace, service: name, addressType, endpoints });
  const collection = inNamespace(SLICES, namespace);
  return dice.integer(1, 4) === 1
    ? { cluster, collection, name: sliceName, object: null }
    : {
        cluster,
        collection,
        name: sliceName,
        object: { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } },
      };
}

/** Sources that stay, with their ready address; beside them, slices come and go. */
const stays = (['c2', 'c3'] as const).flatMap((cluster) => [
  { cluster, name: 'stays', labels: { mirror: 'true' }, makes: `${cluster}-shop-73736d-stays` },
  { cluster, name: 'stays-too', labels: { global: 'true' }, makes: 'gl-shop-73736d-stays-too' },
]);
const addressOf = (cluster: string): string => `${ranges[cluster]![0]}0.1`;

const staying: readonly Change[] = [
  ...stayingExports((cluster) => addressOf(cluster)),
  ...stays.flatMap(({ cluster, name, labels }): Change[] => [
    { cluster, collection: inNamespace(SERVICES, 'shop'), name, object: service({ name, namespace: 'shop', labels }) },
    {
      cluster,
      collection: inNamespace(SLICES, 'shop'),
      name: `${name}-0`,
      object: endpointSlice({
        name: `${name}-0`,
        namespace: 'shop',
        service: name,
        labels,
        endpoints: [addressOf(cluster)],
      }),
    },
  ]),
  // A source whose mirror would have the name of a foreign Service.
  {
    cluster: 'c2',
    collection: inNamespace(SERVICES, 'shop'),
    name: 'taken',
    object: service({ name: 'taken', namespace: 'shop', labels: { mirror: 'true' } }),
  },
  ...['foreign', 'c2-shop-73736d-taken'].flatMap((name): Change[] => [
    { cluster: 'c1', collection: LOCAL_SERVICES, name, object: service({ name, namespace: MIRRORS }) },
    {
      cluster: 'c1',
      collection: LOCAL_SLICES,
      name: `${name}-0`,
      object: endpointSlice({ name: `${name}-0`, namespace: MIRRORS, service: name, endpoints: ['192.0.2.1'] }),
    },
  ]),
];

/** What clients see of a Service: docs/service-mirror.md#what-is-copied. */
function definitionOf({ spec }: KubeObject): object {
  const { clusterIP, ports, ipFamilies, sessionAffinity, publishNotReadyAddresses = false } = spec as Spec;
  return { headless: clusterIP === 'None', ports, ipFamilies, sessionAffinity, unready: publishNotReadyAddresses };
}

const byText = (all: readonly object[]): readonly string[] => all.map((each) => JSON.stringify(each)).toSorted();

const endpointOf = ({ addresses, conditions, hostname, hints }: Endpoint): object => ({
  addresses,
  conditions: [conditions?.ready, conditions?.serving, conditions?.terminating],
  hostname: hostname ?? '',
  zones: hints?.forZones.map(({ name }) => name) ?? [],
});

/** An endpoint as it must be here; none if an address isn't allowed. */
function wantedEndpoint(
  endpoint: Endpoint,
  cluster: string,
  { headless, zone }: { headless: boolean; zone?: string },
): object[] {
  const { addresses, conditions = {}, targetRef } = endpoint;
  const allowed = ranges[cluster];
  if (allowed !== undefined && !addresses.every((each) => allowed.some((range) => each.startsWith(range)))) return [];
  const { ready = true, serving = ready, terminating = false } = conditions;
  const hostname = endpoint.hostname ?? (headless && targetRef?.kind === 'Pod' ? targetRef.name : undefined);
  return [
    endpointOf({
      addresses,
      conditions: { ready, serving, terminating },
      ...(hostname !== undefined && { hostname }),
      ...(zone !== undefined && { hints: { forZones: [{ name: zone }] } }),
    }),
  ];
}

/** The slices of one source in a local Service: docs/service-mirror.md#names-of-objects. */
function wantedSlices(
  { cluster, source, slices }: { cluster: string; source: KubeObject; slices: readonly KubeObject[] },
  { local, label }: { local: string; label: 'mirror' | 'global' },
): [string, object][] {
  const { namespace, name, labels } = source.metadata;
  const spec = source['spec'] as Spec;
  const zone = label === 'global' && labels?.['near'] === 'true' ? (cluster === 'c1' ? 'z1' : 'remote') : undefined;
  const own = (slices as readonly Slice[]).filter(
    ({ metadata }) =>
      metadata.namespace === namespace &&
      metadata.labels?.[SERVICE_NAME] === name &&
      (metadata.labels?.[label] === 'true' || spec.selector === undefined),
  );
  return own.map(({ metadata, addressType, endpoints, ports }) => {
    const id = `${cluster}/${namespace}/${metadata.name}`;
    const of = { headless: spec.clusterIP === 'None', ...(zone !== undefined && { zone }) };
    const wantedEndpoints = (endpoints ?? []).flatMap((endpoint) => wantedEndpoint(endpoint, cluster, of));
    const hash = createHash('sha256').update(id).digest('hex').slice(0, 20);
    return [`${local}-${hash}`, { service: local, source: id, addressType, ports, endpoints: byText(wantedEndpoints) }];
  });
}

/** The endpoints of a slice of an export. */
const importedEndpoints = (
  { endpoints }: Pick<Slice, 'endpoints'>,
  cluster: string,
  headless: boolean,
): readonly string[] =>
  byText((endpoints ?? []).flatMap((endpoint) => wantedEndpoint(endpoint, cluster, { headless })));

function wanted(state: State, remotes: readonly string[]): View {
  const view: Record<string, object> = {};
  // While a remote is out of the file, what imports have of it stays, and nothing says any more what that is.
  if (remotes.length === 2)
    Object.assign(
      view,
      wantedImports(state, ['c1', ...remotes], { namespaces: EXPORTED, endpointsOf: importedEndpoints }),
    );
  for (const cluster of ['c1', ...remotes]) {
    const { [SERVICES]: services = [], [SLICES]: slices = [] } = state[cluster]!;
    for (const source of services) {
      const { namespace = '', name, labels = {} } = source.metadata;
      if ((source['spec'] as Spec).type === 'ExternalName' || namespace === MIRRORS) continue;
      for (const label of ['mirror', 'global'] as const) {
        const local = `${label === 'global' ? 'gl' : cluster}-${namespace}-73736d-${name}`;
        if (labels[label] !== 'true' || (label === 'mirror' && cluster === 'c1')) continue;
        if (local.length > 63 || local === 'c2-shop-73736d-taken') continue;
        const before = view[local] as { clusters?: string } | undefined;
        view[local] =
          label === 'mirror'
            ? { source: `${cluster}/${namespace}/${name}`, clusters: '', ...definitionOf(source) }
            : {
                source: `global/${namespace}/${name}`,
                clusters: [before?.clusters ?? [], cluster].flat().join(','),
                ...definitionOf(source),
              };
        Object.assign(view, Object.fromEntries(wantedSlices({ cluster, source, slices }, { local, label })));
      }
    }
  }
  return view;
}

/** Of clusters that left the file, everything stays as it is, and so do global Services that only they have. */
function observed(objects: Readonly<Record<string, readonly KubeObject[]>>, remotes: readonly string[]): View {
  const isOfFile = (source: string): boolean => ['c1', ...remotes].includes(source.split('/')[0]!);
  const ours = (objects[SLICES] as readonly Slice[]).filter(isOurs);
  const slices = ours
    .filter((slice) => !isOfImport(slice))
    .map((slice): [string, object] => [
      slice.metadata.name,
      {
        service: slice.metadata.labels?.[SERVICE_NAME],
        source: slice.metadata.annotations?.[SOURCE] ?? '',
        addressType: slice.addressType,
        ports: slice['ports'],
        endpoints: byText((slice.endpoints ?? []).map(endpointOf)),
      },
    ]);
  const services = objects[LOCAL_SERVICES]!.filter(isOurs).map((object): [string, object] => {
    const { name, annotations = {} } = object.metadata;
    const { [SOURCE]: source = '', 'global-svc-clusters': clusters = '' } = annotations;
    return [name, { source, clusters, ...definitionOf(object) }];
  });
  const isSeen = ([, { source, clusters }]: [string, { source?: string; clusters?: string }]): boolean =>
    source!.startsWith('global/') ? clusters!.split(',').some(isOfFile) : isOfFile(source!);
  const imports = observedImports(
    { imports: objects[IMPORTS]!, exports: objects[EXPORTS]!, derived: objects[LOCAL_SERVICES]!, slices: ours },
    (endpoint) => JSON.stringify(endpointOf(endpoint as Endpoint)),
  );
  return { ...Object.fromEntries([...services, ...slices].filter(isSeen)), ...(remotes.length === 2 && imports) };
}

const isOurs = ({ metadata: { annotations = {}, labels = {} } }: KubeObject): boolean =>
  SOURCE in annotations || labels['app.kubernetes.io/managed-by'] === 'semaphore-service-mirror';

const writes: Writes = {
  targets: [LOCAL_SERVICES, SLICES, IMPORTS, EXPORTS],
  observed,
  isOurs,
  isSource: ({ metadata }) => metadata.namespace !== MIRRORS,
  edited: ({ kind, endpoints }) =>
    kind === 'ServiceImport'
      ? { spec: { ports: [{ name: 'edited', protocol: 'TCP', port: 9 }] } }
      : kind === 'EndpointSlice' || endpoints !== undefined
        ? { endpoints: [{ addresses: ['192.0.2.99'], conditions: { ready: true } }] }
        : { spec: { sessionAffinity: 'ClientIP' } },
  always: {
    [LOCAL_SERVICES]: {
      expected: [...stays.map(({ makes }) => makes), STAYING_DERIVED],
      of: ({ metadata }) => [metadata.name],
    },
    [inNamespace(IMPORTS, 'shop')]: { expected: [STAYING_IMPORT], of: ({ metadata }) => [metadata.name] },
    [LOCAL_SLICES]: {
      expected: [
        ...stays.map(({ cluster, makes }) => `${makes} ${addressOf(cluster)}`),
        ...['c2', 'c3'].map((cluster) => `${STAYING_DERIVED} ${addressOf(cluster)}`),
      ],
      of: (slice) =>
        ((slice as Slice).endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready !== false)
          .flatMap(({ addresses }) =>
            addresses.map((address) => `${slice.metadata.labels?.[SERVICE_NAME]} ${address}`),
          ),
    },
  },
};

export const serviceMirror: Subject = {
  app: 'service-mirror',
  prefix: 'semaphore_service_mirror',
  rights: {
    local: ['service-mirror/base', 'service-mirror/components/global', 'service-mirror/components/mcs'],
    remote: ['service-mirror/remote', 'service-mirror/components/remote-mcs'],
  },
  elects: true,
  crds: deployedCrds('service-mirror/mcs'),
  namespaces: [MIRRORS, ...NAMESPACES],
  flags: [],
  configFlag: 'config',
  config: (local, remotes) => ({
    global: {
      mirrorSvcLabelSelector: 'mirror=true',
      globalSvcLabelSelector: 'global=true',
      globalSvcRoutingStrategyLabel: 'near=true',
      globalSvcHints: 'labelled',
      mirrorNamespace: MIRRORS,
      serviceSync: true,
      endpointSliceSync: true,
    },
    mcs: { namespaces: NAMESPACES, derivedServices: 'mirrorNamespace' },
    localCluster: { name: 'c1', zones: ['z1'], kubeConfigPath: local },
    remoteClusters: Object.entries(remotes).map(([name, kubeConfigPath]) => ({
      name,
      servicePrefix: name,
      kubeConfigPath,
      allowedPodCIDRs: ranges[name]!.map((range) => (range.includes(':') ? `${range}:/32` : `${range}0.0/16`)),
    })),
  }),
  staying,
  sources: [SERVICES, SLICES, EXPORTS],
  resources: ['services', 'endpointslices', 'serviceimports', 'serviceexports'],
  change(dice) {
    if (dice.integer(1, 5) < 3)
      return changedExport(dice, { namespaces: EXPORTED, subnet: (cluster) => ranges[cluster]?.[0] ?? '10.1.' });
    const name = dice.pick(Object.keys(kinds));
    const cluster = kinds[name]!.global ? dice.pick(['c1', 'c2', 'c3']) : dice.pick(['c2', 'c3']);
    const place = { cluster, namespace: dice.pick(NAMESPACES), name };
    return dice.integer(1, 3) === 1 ? serviceChange(dice, place) : sliceChange(dice, place);
  },
  breaks: [],
  wanted,
  site: (clusters, input) => startObjects(writes, clusters, input),
  secrets: [],
  metrics: (_wanted, remotes) =>
    remotes.length < 2 ? [] : [['skipped_objects', { remote: 'c2', reason: 'name-taken', kind: 'problem' }, 1]],
};
