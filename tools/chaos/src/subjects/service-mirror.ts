import { createHash } from 'node:crypto';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { deployedCrds } from '@kube-semaphore/testkit';
import { inNamespace, startObjects, type Writes } from '../sites/objects.ts';
import {
  CLOCKS_MS,
  remotes as allRemotes,
  type Settings,
  SHORT_PAUSES_MS,
  type State,
  type Subject,
  type View,
} from '../subject.ts';
import {
  EXPORTS,
  IMPORTS,
  isOfImport,
  observedImports,
  STAYING_DERIVED,
  STAYING_IMPORT,
  wantedImports,
} from './imports.ts';
import {
  CONFIG_MAPS,
  inForce,
  inOrder,
  isExportedHere,
  localProperties,
  meshOf,
  settings,
  shownOrder,
  shownOrderOf,
  type SourceEndpoint,
  wishOf,
} from './orders.ts';
import {
  addressOf,
  changedSource,
  type Endpoint,
  EXPORTED,
  LOCAL_SERVICES,
  LOCAL_SLICES,
  MIRRORS,
  NAMESPACES,
  ranges,
  SERVICES,
  type Slice,
  SLICES,
  type Spec,
  staying,
  stays,
} from './sources.ts';

const SOURCE = 'mirror-svc-source';
const STANDBY = 'mirror-svc-standby';
const SERVICE_NAME = 'kubernetes.io/service-name';

/** What clients see of a Service: docs/service-mirror.md#what-is-copied. */
function definitionOf({ spec }: KubeObject) {
  const { clusterIP, ports, ipFamilies, sessionAffinity, publishNotReadyAddresses = false } = spec as Spec;
  return { headless: clusterIP === 'None', ports, ipFamilies, sessionAffinity, unready: publishNotReadyAddresses };
}

const byText = (all: readonly object[]): readonly string[] => all.map((each) => JSON.stringify(each)).toSorted();

/** An endpoint that is there. */
const endpointOf = ({ addresses, conditions, hostname = '', hints }: Endpoint): object => ({
  addresses,
  conditions: [conditions?.ready, conditions?.serving, conditions?.terminating],
  hostname,
  zones: hints?.forZones.map(({ name }) => name) ?? [],
});

/** The same of one that must be. */
const wantedEndpoint = ({
  addresses,
  ready,
  serving,
  terminating,
  hostname = '',
  zones = [],
}: SourceEndpoint): object => ({
  addresses,
  conditions: [ready, serving, terminating],
  hostname,
  zones,
});

/** Endpoints that are allowed here, with conditions as they are meant. */
const allowedEndpoints = (
  { endpoints }: Pick<Slice, 'endpoints'>,
  cluster: string,
  headless: boolean,
): readonly SourceEndpoint[] =>
  (endpoints ?? []).flatMap((endpoint) => {
    const { addresses, conditions = {}, targetRef } = endpoint;
    const allowed = ranges[cluster];
    if (allowed !== undefined && !addresses.every((each) => allowed.some((range) => each.startsWith(range)))) return [];
    const { ready = true, serving = ready, terminating = false } = conditions;
    const hostname = endpoint.hostname ?? (headless && targetRef?.kind === 'Pod' ? targetRef.name : undefined);
    return [{ addresses, ready, serving, terminating, hostname }];
  });

const textsOf = (endpoints: readonly SourceEndpoint[]): readonly string[] => byText(endpoints.map(wantedEndpoint));

type Part = { readonly cluster: string; readonly source: KubeObject; readonly slices: readonly KubeObject[] };

/** The slices of one source in a local Service: docs/service-mirror.md#names-of-objects. */
function slicesOf({ cluster, source, slices }: Part, { local, label }: { local: string; label: 'mirror' | 'global' }) {
  const { namespace, name } = source.metadata;
  const spec = source['spec'] as Spec;
  return (slices as readonly Slice[])
    .filter(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        metadata.labels?.[SERVICE_NAME] === name &&
        (metadata.labels?.[label] === 'true' || spec.selector === undefined),
    )
    .map((slice) => {
      const id = `${cluster}/${namespace}/${slice.metadata.name}`;
      return {
        key: `${local}-${createHash('sha256').update(id).digest('hex').slice(0, 20)}`,
        source: id,
        cluster,
        addressType: slice.addressType,
        ports: slice['ports'],
        endpoints: allowedEndpoints(slice, cluster, spec.clusterIP === 'None'),
      };
    });
}

/** The oldest first, then by the cluster's name. */
const byAge = (a: Part, b: Part): number => createdMs(a) - createdMs(b) || (a.cluster < b.cluster ? -1 : 1);
const createdMs = ({ source: { metadata } }: Part): number =>
  Date.parse((metadata as KubeObject['metadata'] & { creationTimestamp: string }).creationTimestamp);

function wanted(state: State, remotes: readonly string[], said: Settings): View {
  const clusters = ['c1', ...remotes];
  const mesh = meshOf(state, allRemotes, { said, namespace: MIRRORS });
  const view: Record<string, object> = {};
  // While a remote is out of the file, what imports have of it stays, and nothing says any more what that is.
  if (remotes.length === allRemotes.length)
    Object.assign(
      view,
      wantedImports(state, clusters, { namespaces: EXPORTED, endpointsOf: allowedEndpoints, textsOf, mesh }),
    );
  const parts = clusters.flatMap((cluster) => {
    const { [SERVICES]: services = [], [SLICES]: slices = [] } = state[cluster]!;
    const { [cluster]: namespaces = NAMESPACES } = mesh.namespaces;
    return services
      .filter(({ metadata, spec }) => metadata.namespace !== MIRRORS && (spec as Spec).type !== 'ExternalName')
      .filter(({ metadata }) => cluster === 'c1' || namespaces.includes(metadata.namespace!))
      .filter((source) => isExportedHere(source, cluster))
      .map((source): Part => ({ cluster, source, slices }));
  });
  const nameOf = ({ source: { metadata } }: Part): string => `${metadata.namespace}-73736d-${metadata.name}`;
  const isLabelled = ({ source }: Part, label: string): boolean => source.metadata.labels?.[label] === 'true';
  for (const part of parts.filter((each) => each.cluster !== 'c1' && isLabelled(each, 'mirror'))) {
    const { cluster, source } = part;
    const local = `${cluster}-${nameOf(part)}`;
    if (local.length > 63 || local === 'c2-shop-73736d-taken') continue;
    const { namespace, name } = source.metadata;
    view[local] = { source: `${cluster}/${namespace}/${name}`, clusters: '', order: '', ...definitionOf(source) };
    for (const slice of slicesOf(part, { local, label: 'mirror' })) view[slice.key] = sliceView(slice, local);
  }
  for (const [name, all] of Map.groupBy(
    parts.filter((each) => isLabelled(each, 'global')),
    nameOf,
  )) {
    const [{ source }] = all.toSorted(byAge) as [Part];
    const local = `gl-${name}`;
    if (local.length > 63) continue;
    const at = `${source.metadata.namespace}/${source.metadata.name}`;
    const wish = inForce(mesh, 'global', { at, wish: wishOf(source) });
    const members = all.map(({ cluster }) => cluster);
    view[local] = {
      source: `global/${at}`,
      clusters: members.join(),
      order: shownOrder(wish),
      ...definitionOf(source),
    };
    const slices = all.flatMap((part) => slicesOf(part, { local, label: 'global' }));
    const { headless } = definitionOf(source);
    const hinted = source.metadata.labels?.['near'] === 'true';
    for (const slice of inOrder(slices, { ...wish, clusters: members, headless, hinted }, mesh))
      view[slice.key] = sliceView(slice, local);
  }
  return view;
}

const sliceView = (
  {
    source,
    addressType,
    ports,
    endpoints,
    standby = false,
  }: ReturnType<typeof slicesOf>[number] & { readonly standby?: boolean },
  local: string,
): object => ({ service: local, source, addressType, ports, standby, endpoints: textsOf(endpoints) });

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
        standby: STANDBY in (slice.metadata.annotations ?? {}),
        endpoints: byText((slice.endpoints ?? []).map(endpointOf)),
      },
    ]);
  const services = objects[LOCAL_SERVICES]!.filter(isOurs).map((object): [string, object] => {
    const { name, annotations = {} } = object.metadata;
    const { [SOURCE]: source = '', 'global-svc-clusters': clusters = '' } = annotations;
    return [name, { source, clusters, order: shownOrderOf(object), ...definitionOf(object) }];
  });
  const isSeen = ([, { source, clusters }]: [string, { source?: string; clusters?: string }]): boolean =>
    source!.startsWith('global/') ? clusters!.split(',').some(isOfFile) : isOfFile(source!);
  const imports = observedImports(
    { imports: objects[IMPORTS]!, exports: objects[EXPORTS]!, derived: objects[LOCAL_SERVICES]!, slices: ours },
    (endpoint) => JSON.stringify(endpointOf(endpoint as Endpoint)),
  );
  return {
    ...Object.fromEntries([...services, ...slices].filter(isSeen)),
    ...(remotes.length === allRemotes.length && imports),
  };
}

const isOurs = ({ metadata: { annotations = {}, labels = {} } }: KubeObject): boolean =>
  SOURCE in annotations || labels['app.kubernetes.io/managed-by'] === 'semaphore-service-mirror';

const writes: Writes = {
  targets: [LOCAL_SERVICES, SLICES, IMPORTS, EXPORTS],
  observed,
  isOurs,
  isSource: ({ metadata }) => metadata.namespace !== MIRRORS,
  edited: ({ kind, endpoints, addressType }) =>
    kind === 'ServiceImport'
      ? { spec: { ports: [{ name: 'edited', protocol: 'TCP', port: 9 }] } }
      : kind === 'EndpointSlice' || endpoints !== undefined
        ? {
            endpoints: [
              { addresses: [addressType === 'IPv6' ? 'fd00::99' : '192.0.2.99'], conditions: { ready: true } },
            ],
          }
        : { spec: { sessionAffinity: 'ClientIP' } },
  always: {
    [LOCAL_SERVICES]: {
      expected: [...stays.map(({ makes }) => makes), STAYING_DERIVED],
      of: ({ metadata }) => [metadata.name],
    },
    [inNamespace(IMPORTS, 'shop')]: { expected: [STAYING_IMPORT], of: ({ metadata }) => [metadata.name] },
    [LOCAL_SLICES]: {
      // In an order, or drained, an address may be a standby; but some cluster is ready all the time.
      expected: [
        ...stays.map(({ cluster, makes }) => `${makes} ${addressOf(cluster)}`),
        ...allRemotes.map((cluster) => `${STAYING_DERIVED} ${addressOf(cluster)}`),
        ...new Set([...stays.map(({ makes }) => makes), STAYING_DERIVED].map((name) => `${name} is ready`)),
      ],
      of: (slice) =>
        ((slice as Slice).endpoints ?? []).flatMap(({ addresses, conditions }) => {
          const name = slice.metadata.labels?.[SERVICE_NAME];
          const ready = conditions?.ready === false ? [] : [`${name} is ready`];
          return conditions?.serving === false ? [] : [...ready, ...addresses.map((address) => `${name} ${address}`)];
        }),
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
  owns: true,
  elects: true,
  crds: deployedCrds('service-mirror/mcs'),
  namespaces: [MIRRORS, ...NAMESPACES],
  flags: [],
  configFlag: 'config',
  config: (local, remotes, { remotes: ofRemotes, rest }) => ({
    global: {
      mirrorSvcLabelSelector: 'mirror=true',
      globalSvcLabelSelector: 'global=true',
      globalSvcRoutingStrategyLabel: 'near=true',
      globalSvcHints: 'labelled',
      mirrorNamespace: MIRRORS,
      serviceSync: true,
      endpointSliceSync: true,
      ...rest['global'],
    },
    mcs: { namespaces: NAMESPACES, derivedServices: 'mirrorNamespace', ...rest['mcs'] },
    localCluster: { name: 'c1', zones: ['z1'], kubeConfigPath: local, ...localProperties },
    remoteClusters: Object.entries(remotes).map(([name, kubeConfigPath]) => ({
      name,
      servicePrefix: name,
      kubeConfigPath,
      allowedPodCIDRs: ranges[name]!.map((range) => (range.includes(':') ? `${range}:/32` : `${range}0.0/16`)),
      ...ofRemotes[name],
    })),
  }),
  staying,
  settings,
  sources: [SERVICES, SLICES, EXPORTS, CONFIG_MAPS],
  resources: ['services', 'endpointslices', 'serviceimports', 'serviceexports'],
  change: changedSource,
  pausesMs: SHORT_PAUSES_MS,
  clocksMs: CLOCKS_MS,
  breaks: [],
  wanted,
  site: (clusters, input) => startObjects(writes, clusters, input),
  secrets: [],
  metrics: (_wanted, remotes) =>
    !remotes.includes('c2') ? [] : [['skipped_objects', { remote: 'c2', reason: 'name-taken', kind: 'problem' }, 1]],
};
