import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { Codec, endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import { type AddressRules, mustParseCidr } from '@kube-semaphore/net';
import type { Change } from '../../src/endpoints/desired/diff/change.ts';
import type { ClusterDiagnostic } from '../../src/endpoints/desired/diagnostic.ts';
import type { Stale } from '../../src/endpoints/desired/merged/stale-endpoints.ts';
import type { McsChange } from '../../src/imports/desired/changes.ts';
import { exportPart, NO_PART } from '../../src/imports/desired/export-part.ts';
import type { DesiredSlice } from '../../src/endpoints/desired/objects.ts';
import type { LocalDerived, LocalImport } from '../../src/imports/desired/observed.ts';
import type { ObservedService } from '../../src/endpoints/desired/observed.ts';
import type { Family, Reading, SourceService, SourceSlice } from '../../src/endpoints/desired/source.ts';
import { ImportReconciler } from '../../src/imports/reconciler.ts';
import {
  GLOBAL,
  globalClustersAnnotation,
  globalKey,
  globalServiceLabel,
  globalServiceName,
  IMPORT,
  importKey,
  importNameLabel,
  managedByLabel,
  mirroredServiceLabel,
  mirrorKey,
  mirrorPrefixLabel,
  mirrorServiceName,
  serviceNameProblem,
  sourceAnnotation,
  sliceManager,
} from '../../src/names.ts';
import { planText, type RemotePlan } from '../../src/plan.ts';
import { ServiceReconciler } from '../../src/services/reconciler.ts';
import { readExportedService } from '../../src/imports/remote/read-export.ts';
import { readService } from '../../src/endpoints/remote/read-service.ts';
import { readSlice } from '../../src/endpoints/remote/read-slice.ts';
import { ServiceKeys } from '../../src/services/service-keys.ts';
import { skippedIn } from '../../src/endpoints/remote/slices.ts';
import { heldSlices } from '../../src/endpoints/remote/stored.ts';
import { Targets } from '../../src/services/targets.ts';
import { noDecisions, plainCluster } from './plain-cluster.ts';

/** What one cluster has of the Service, which is selected for mirrors and global Services, and exported. */
export type PlannedCluster = {
  /** Undefined: it has no such Service. */
  readonly service: KubeObject | undefined;
  readonly slices: readonly KubeObject[];
  /** The names of slices that its last list was missing, and that are held. */
  readonly held: ReadonlySet<string>;
  readonly isKnown: boolean;
  readonly stale: Stale;
};

/** What a plan of the cluster `c1` sees. */
export type PlannedWorld = {
  /** Of the Service in all clusters. */
  readonly namespace: string;
  readonly name: string;
  readonly clusters: ReadonlyMap<string, PlannedCluster>;
  /** Those of the remotes. Two alike: the older Service gets the name of the mirror. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly families: readonly Family[] | undefined;
  /** How many Services and exports a remote may have. */
  readonly limit: number;
  /**
   * What has the local names: nothing, objects of others, a global Service with a part of all unknown clusters, what was made
   * of the Services that all clusters had once, or all objects, without slices, deleted and waiting for a finalizer.
   */
  readonly present: 'nothing' | 'foreign' | 'global' | 'once' | 'terminating';
  /** `serviceSync` and `endpointSliceSync`. */
  readonly sync: boolean;
  readonly mcs: { readonly isAllowed: boolean; readonly hasNamespace: boolean };
};

/** The cluster in which the plan is made. */
export const LOCAL = 'c1';

const mirrorNamespace = 'sys-semaphore';
const codecs = { service: new Codec(serviceKind), slice: new Codec(endpointSliceKind) };
const anywhere: AddressRules = { allowed: undefined, local: [] };
const restricted: AddressRules = {
  allowed: [mustParseCidr('10.4.0.0/16'), mustParseCidr('fd04::/16')],
  local: [mustParseCidr('10.4.8.0/24')],
  services: [mustParseCidr('10.4.7.0/24')],
};

export type Skipped = Diagnostic & { readonly cluster: string; readonly subject: string };

export type Planned = {
  readonly text: string;
  readonly skipped: readonly Skipped[];
  /** All that the local cluster would have. */
  readonly slices: { readonly [kind in 'mirror' | 'global' | 'import']: readonly DesiredSlice[] };
  /** Held slices, as `c2/name`, that lost all usable addresses to listed ones: no store has them any more. */
  readonly dropped: ReadonlySet<string>;
  /** The names of Services that it would not have any more. */
  readonly deleted: ReadonlySet<string>;
};

/** Plans by the code of the program, without its watches. */
export function planOf(world: PlannedWorld): Planned {
  const { namespace, name, clusters, prefixes } = world;
  const sources = Array.from(clusters, ([cluster, of]) => sourceOf(cluster, of, world));
  const skipped: Skipped[] = sources.flatMap((source) => source.skipped);
  const diagnose = (subject: string, diagnostics: readonly ClusterDiagnostic[]): void => {
    for (const { cluster, ...each } of diagnostics)
      skipped.push({ cluster: [GLOBAL, IMPORT].includes(cluster) ? LOCAL : cluster, subject, ...each });
  };
  const services = servicesOf(world, sources, diagnose);
  const mirrors = [...prefixes.keys()].flatMap((cluster) => services.plan(mirrorKey(cluster, namespace, name)));
  const globals = services.plan(globalKey(namespace, name));
  const imports = importsOf(world, sources, diagnose).plan(importKey(namespace, name));
  const text = planText({
    missingNamespace: undefined,
    changes: [...mirrors, ...globals],
    importChanges: imports,
    refusals: { refused: [], unknown: { count: 0, reasons: [] } },
    remotes: Array.from(clusters, ([cluster, { isKnown, held }]): RemotePlan => ({
      cluster,
      reached: isKnown,
      failure: undefined,
      forbidden: !isKnown && cluster === LOCAL,
      heldDeletions: held.size,
      unmatched: [],
      skipped: skipped.filter((each) => each.cluster === cluster),
      services: [],
    })),
    exports: [],
    orphans: [],
  });
  return {
    text,
    skipped,
    slices: {
      mirror: written(mirrors),
      global: written(globals),
      import: written(imports.map(({ change }) => change)),
    },
    dropped: new Set(sources.flatMap((source) => source.dropped)),
    deleted: new Set(
      [...mirrors, ...globals].flatMap((change) => (change.kind === 'delete-service' ? change.from.name : [])),
    ),
  };
}

const written = (changes: readonly (Change | McsChange)[]): readonly DesiredSlice[] =>
  changes.flatMap((change) => (change.kind === 'create-slice' ? change.to : []));

type Source = {
  readonly cluster: string;
  readonly of: PlannedCluster;
  readonly isLocal: boolean;
  readonly service: SourceService | undefined;
  readonly slices: readonly SourceSlice[];
  readonly dropped: readonly string[];
  readonly exported: ReturnType<typeof readExportedService>;
  readonly exportedSlices: readonly Reading<SourceSlice>[];
  readonly skipped: readonly Skipped[];
};

function sourceOf(cluster: string, of: PlannedCluster, { namespace, name }: PlannedWorld): Source {
  const isLocal = cluster === LOCAL;
  const rules = { addresses: isLocal ? anywhere : restricted, isLocal };
  // Without a UID, it would be one that no list has shown.
  const raw =
    of.service &&
    codecs.service.objectFromJson({ ...of.service, metadata: { ...of.service.metadata, uid: `${cluster}-${name}` } });
  const service = raw && readService(raw, { isLocalFirst: () => false });
  const slices = of.slices.map((slice) => codecs.slice.objectFromJson(slice));
  const readings = (isAnonymous: boolean) =>
    withoutClaims(
      slices.map((slice) => ({ slice: slice.metadata.name, ...readSlice(slice, { ...rules, isAnonymous }) })),
      of.held,
    );
  const read = readings(false);
  return {
    cluster,
    of,
    isLocal,
    service: service?.value,
    slices: read.flatMap(({ value }) => value ?? []),
    dropped: slices.flatMap(({ metadata }) =>
      read.some(({ slice }) => slice === metadata.name) ? [] : `${cluster}/${metadata.name}`,
    ),
    exported: readExportedService(raw),
    exportedSlices: readings(true).map(({ slice, value, skipped }) => ({
      value,
      skipped: skippedIn({ namespace, name: slice, skipped }),
    })),
    skipped: [
      ...(service?.skipped ?? []).map((each) => ({ cluster, subject: `service ${namespace}/${name}`, ...each })),
      ...read.flatMap(({ slice, skipped }) =>
        skipped.map((each) => ({ cluster, subject: `slice ${namespace}/${slice}`, ...each })),
      ),
    ],
  };
}

/** As a store has them: held ones without what the others have. */
function withoutClaims<R extends Reading<SourceSlice> & { readonly slice: string }>(
  readings: readonly R[],
  held: ReadonlySet<string>,
): readonly R[] {
  const claims = readings.filter(({ slice }) => !held.has(slice)).flatMap(heldSlices.claims);
  return readings.flatMap((reading) => {
    if (!held.has(reading.slice)) return [reading];
    let left: R | undefined = reading;
    for (const address of claims)
      if (left !== undefined && heldSlices.claims(left).includes(address))
        left = heldSlices.withoutClaim(left, address);
    return left === undefined ? [] : [left];
  });
}

type Diagnose = (subject: string, diagnostics: readonly ClusterDiagnostic[]) => void;

function servicesOf(world: PlannedWorld, sources: readonly Source[], diagnose: Diagnose): ServiceReconciler {
  const { prefixes, families, limit, sync } = world;
  const settings = {
    mirrorNamespace,
    local: { name: LOCAL, properties: new Map() },
    serviceSync: sync,
    global: { slicesSync: sync, hints: 'labelled', clusterOrder: new Map() },
  } as unknown as ConstructorParameters<typeof Targets>[0]['settings'];
  const remotes = {
    all: Array.from(prefixes, ([name, prefix]) => ({
      settings: { name, prefix, properties: new Map<never, never>() },
    })),
  };
  const local = localOf(world);
  const keys = new ServiceKeys({
    remotes,
    options: { maxRemoteServices: limit },
    local,
    metrics: { remoteOverBudget: { set: () => {} } } as never,
  });
  const clusters = sources.map(({ cluster, of, isLocal, service, slices }) => {
    const view = { known: of.isKnown, service: of.isKnown ? service : undefined, slices, skipped: [] };
    const found = { view: () => view };
    const uses = isLocal ? (['global'] as const) : (['mirror', 'global'] as const);
    if (service !== undefined && of.isKnown)
      for (const use of uses) keys.changed(service, { cluster, use, isRemoved: false });
    return {
      cluster,
      settled: true,
      stale: of.stale,
      source: (use: 'mirror' | 'global') => (uses.some((each) => each === use) ? found : undefined),
    };
  });
  const targets = new Targets({
    settings,
    remotes,
    local,
    keys,
    clusters: { all: clusters, families, get: (name) => clusters.find(({ cluster }) => cluster === name) },
    ...plainCluster(),
  });
  return new ServiceReconciler({
    local: { ...local, isSynced: () => true, slice: () => undefined, endpoints: () => undefined },
    decisions: noDecisions,
    targets,
    keys,
    write: () => Promise.reject(new Error('a plan writes nothing')),
    clusters: { diagnose },
  });
}

function localOf({ namespace, name, clusters, prefixes, present }: PlannedWorld) {
  const global = globalServiceName(namespace, name);
  const unknown = [...clusters].flatMap(([cluster, { isKnown }]) => (isKnown ? [] : [cluster]));
  const globalOf = (parts: readonly string[]) => ({
    labels: { [globalServiceLabel]: 'true' },
    annotations: {
      [sourceAnnotation]: globalKey(namespace, name),
      [globalClustersAnnotation]: parts.join(','),
    },
  });
  const marksOf = (local: string): Pick<ObservedService, 'labels' | 'annotations'> | undefined => {
    if (present === 'nothing' || serviceNameProblem(local) !== undefined) return undefined;
    if (present === 'foreign') return { labels: {}, annotations: {} };
    if (local === global) return globalOf(present === 'once' ? [...clusters.keys()] : unknown);
    const [cluster, prefix] = [...prefixes].find((of) => mirrorServiceName(of[1], namespace, name) === local) ?? [];
    if (present === 'global' || cluster === undefined || prefix === undefined) return undefined;
    return {
      labels: { [mirroredServiceLabel]: 'true', [mirrorPrefixLabel]: prefix },
      annotations: { [sourceAnnotation]: mirrorKey(cluster, namespace, name) },
    };
  };
  const service = (local: string): ObservedService | undefined => {
    const marks = marksOf(local);
    return marks && { ...observedService(local, { isTerminating: present === 'terminating' }), ...marks };
  };
  return { service, slices: () => [] };
}

/** A Service with an address, which may wait for a finalizer. */
const observedService = (name: string, { isTerminating }: { readonly isTerminating: boolean }): ObservedService => ({
  name,
  uid: 'u',
  resourceVersion: '1',
  createdAt: 0,
  labels: {},
  annotations: {},
  definition: {
    headless: false,
    families: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 80, appProtocol: undefined }],
    affinitySeconds: undefined,
    publishNotReadyAddresses: false,
  },
  familyPolicy: 'SingleStack',
  isPlain: true,
  isTerminating,
  ownerReferences: [],
  finalizers: isTerminating ? ['example.com/wait'] : [],
});

function importsOf(
  { namespace, name, families, limit, present, mcs }: PlannedWorld,
  sources: readonly Source[],
  diagnose: Diagnose,
): ImportReconciler {
  const all = sources.map(({ cluster, of, isLocal, exported: service, exportedSlices: slices }) => ({
    cluster,
    synced: of.isKnown,
    part: () => {
      if (!of.isKnown || of.service === undefined) return NO_PART;
      const exported = { createdAt: 0, labels: {}, annotations: {} };
      const overLimit = isLocal || limit > 0 ? undefined : limit;
      return exportPart({ exported, cluster, isLocal, stale: of.stale, overLimit, service, slices });
    },
  }));
  const local = sources.find(({ isLocal }) => isLocal)!;
  const isTerminating = present === 'terminating';
  const labels = isTerminating ? { [managedByLabel]: sliceManager, [importNameLabel]: name } : {};
  const derived: LocalDerived = {
    ...observedService('derived', { isTerminating }),
    labels,
    namespace,
    ips: ['10.96.0.1'],
    internalTrafficPolicy: 'Cluster',
  };
  const spec = { ...derived.definition, type: 'ClusterSetIP', ips: derived.ips } as unknown as LocalImport['spec'];
  const existing: LocalImport = { ...derived, name, spec, clusters: [], conditions: [], sliceObjects: '' };
  const serviceImport = present === 'foreign' || isTerminating ? existing : undefined;
  const service = isTerminating ? derived : undefined;
  return new ImportReconciler({
    settings: { mcs: mcsOf(mcs.isAllowed), mirrorNamespace, local: { name: LOCAL, properties: new Map() } },
    remotes: { all: [] },
    imports: {
      isSynced: () => true,
      hasNamespace: () => mcs.hasNamespace,
      import: () => serviceImport,
      service: () => service,
      slice: () => undefined,
      observed: () => ({ serviceImport, service, slices: [], misplaced: [] }),
    },
    decisions: noDecisions,
    clusters: {
      all,
      get: (cluster) => all.find((each) => each.cluster === cluster),
      has: (cluster) => sources.some((each) => each.cluster === cluster),
      diagnose,
      local: {
        synced: local.of.isKnown,
        exports: { own: () => undefined },
        services: { service: () => local.exported },
      },
    },
    families: () => families,
    ...plainCluster(),
    writes: {
      write: () => Promise.reject(new Error('a plan writes nothing')),
      writeConditions: () => Promise.reject(new Error('a plan writes nothing')),
    },
  });
}

const mcsOf = (isAllowed: boolean) =>
  ({
    derivedServices: 'namespace',
    namespaces: isAllowed ? ['default'] : ['other'],
    exportedLabelPrefixes: undefined,
    localFirst: false,
    clusterOrder: new Map(),
  }) as const;
