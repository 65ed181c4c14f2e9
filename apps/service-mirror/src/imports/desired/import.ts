import {
  derivedServiceAnnotation,
  importKey,
  importNameLabel,
  managedByLabel,
  sliceManager,
  sourceAnnotation,
} from '../../names.ts';
import { type ClusterDiagnostic, problemOf } from '../../endpoints/desired/diagnostic.ts';
import { withExported } from '../../endpoints/desired/diff/marks.ts';
import { oldestFirst } from '../../endpoints/desired/merged/merge-definitions.ts';
import type { Stale } from '../../endpoints/desired/merged/stale-endpoints.ts';
import type { Decision } from '../../endpoints/desired/merged/decision.ts';
import { shortPortNames } from '../../endpoints/desired/port-names.ts';
import type { PortNames } from '../../endpoints/desired/merged/merge-ports.ts';
import { memoize } from '@kube-semaphore/memoize';
import { LOCAL_FIRST } from '../../endpoints/desired/routing/order.ts';
import { routedSlices, type RoutingContext, type RoutingState } from '../../endpoints/desired/routing/route.ts';
import { localFirstAnnotations, routingHints } from '../../endpoints/desired/routing/routing-hints.ts';
import { type RoutingWish, wishAnnotations } from '../../endpoints/desired/routing/wish.ts';
import type { Family, SourceSlice } from '../../endpoints/desired/source.ts';
import {
  type ConflictContext,
  conflictCondition,
  type DesiredCondition,
  exportConditions,
  type OwnExport,
} from './conditions.ts';
import type { Export, ExportedDefinition } from './export.ts';
import { importedAnnotations, importedLabels } from './exported-keys.ts';
import { type MergedExports, mergeExports, retainExports } from './merge-exports.ts';
import type { DerivedService, DesiredImport, ImportObjects, ImportSpec } from './objects.ts';
import type { OrphanParts, RetainedExports } from './retained.ts';
import { importSlices, isOfHeadless } from './slices.ts';

/** A cluster with a valid export. */
export type Exporter = Export & {
  readonly isLocal: boolean;
  readonly stale: Stale;
  /** Those of its Service, in any order. */
  readonly slices: readonly SourceSlice[];
};

/** Where the Service with the address of a ClusterSetIP import is, and its slices. Those of a headless one are beside it. */
type Placement = { readonly namespace: string; readonly derived: string };

/** Everything that decides about a ServiceImport. No order in it matters. */
export type ImportInput = {
  readonly namespace: string;
  readonly name: string;
  /** The known clusters with a valid export, including the local one. */
  readonly exporters: readonly Exporter[];
  readonly retained: RetainedExports;
  readonly orphans: OrphanParts;
  /** The local cluster's export, valid or not; undefined if it has none, or isn't known. */
  readonly own: (OwnExport & Pick<ConflictContext, 'present'>) | undefined;
  /** Beginnings of exported labels and annotations that the import may have; undefined: all that aren't reserved. */
  readonly prefixes: readonly string[] | undefined;
  /** The families that Services of the local cluster may have; undefined if unknown. */
  readonly families: readonly Family[] | undefined;
  readonly placement: Placement;
  readonly routing: RoutingContext;
  /** Whether an import with an address that has no order prefers local endpoints. */
  readonly localFirst: boolean;
  /** Of the local cluster's Nodes; empty if unknown. */
  readonly zones: readonly string[];
};

export type ImportTarget = {
  /** `nothing`: no cluster exports it. `unknown`: only unknown clusters or orphans may, so everything stays as it is. */
  readonly wanted: 'unknown' | 'nothing' | ImportObjects;
  /** Of the local cluster's ServiceExport; undefined without one. */
  readonly conditions: readonly DesiredCondition[] | undefined;
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** As in `Global`. */
  readonly state?: RoutingState | undefined;
  /** As in `Global`. */
  readonly slicesOf?: Decision<Exporter>['slicesOf'] | undefined;
};

/** The ServiceImport of one namespace and name, with its objects, and the conditions of the local export. */
export function desiredImport(unordered: ImportInput): ImportTarget {
  const input = { ...unordered, exporters: oldestFirst(unordered.exporters) };
  const { exporters, retained, orphans, own } = input;
  const unknown = retained.clusters;
  const merged = mergedOf(exporters, retained);
  const conflict = conflictCondition(merged?.conflicts ?? [], {
    oldest: merged?.oldest,
    unknown,
    present: own?.present ?? [],
  });
  const conditions = own && exportConditions(own, conflict);
  if (merged === undefined)
    return {
      wanted: unknown.length + orphans.clusters.length === 0 ? 'nothing' : 'unknown',
      conditions,
      diagnostics: [],
    };

  const { namespace, name, placement } = input;
  const { fitting, skipped } = fittingOf(merged, namespace, name, placement.namespace, placement.derived);
  const wish = wishOf(merged, input);
  const { slices, diagnostics, ...routing } = slicesOf(fitting, input, wish);
  const wanted = { ...importOf(fitting, input, wish), service: derivedService(fitting, input, wish), slices };
  return { wanted, conditions, diagnostics: [...merged.diagnostics, ...skipped, ...diagnostics], ...routing };
}

/** The import with the addresses that its Service got. */
export function withAddresses(
  desired: DesiredImport,
  { ips, families }: Pick<ImportSpec, 'ips' | 'families'>,
): DesiredImport {
  return { ...desired, spec: { ...desired.spec, ips, families } };
}

/**
 * Which clusters are to answer: the config decides about the order, then the oldest export, or the import that stays. DNS of
 * a headless import has no preference: in an order, it would lose the names of Pods elsewhere.
 */
function wishOf(
  { definition }: MergedExports,
  { exporters: [oldest], retained: { existing }, routing, localFirst }: ImportInput,
): RoutingWish {
  const { order, minReady } = (existing ?? oldest)?.wish ?? {};
  const otherwise = localFirst && !definition.headless ? LOCAL_FIRST : undefined;
  return { order: routing.order ?? order ?? otherwise, minReady };
}

/** Undefined if it isn't known what the exports say. */
function mergedOf(exporters: readonly Exporter[], { existing }: RetainedExports): MergedExports | undefined {
  const exports = exporters.map(({ definition, cluster, createdAt, labels, annotations }) =>
    exportOf(definition, cluster, createdAt, labels, annotations),
  );
  if (existing !== undefined) return retain(existing, exports);
  return exports.length === 0 ? undefined : merge(exports);
}

// An import may have hundreds of exporters, of which one changes.
const merge = memoize(mergeExports);
const retain = memoize(retainExports);
const exportOf = memoize(
  (
    definition: Export['definition'],
    cluster: string,
    createdAt: number,
    labels: Export['labels'],
    annotations: Export['annotations'],
  ): Export => ({ cluster, createdAt, definition, labels, annotations }),
);
const fittingOf = memoize((merged: MergedExports, namespace: string, name: string, place: string, derived: string) =>
  fittingPorts(merged, { namespace, name, placement: { namespace: place, derived } }),
);
const clustersOf = memoize((exporters: readonly Exporter[], others: readonly string[]): readonly string[] =>
  [...new Set([...exporters.map(({ cluster }) => cluster), ...others])].toSorted(),
);
const slicesOfOne = memoize(
  (
    slices: readonly SourceSlice[],
    cluster: string,
    name: string,
    derived: string | undefined,
    definition: ExportedDefinition,
    portNames: PortNames,
  ) => importSlices({ cluster, slices }, { name, derived, definition, portNames }),
);
const NO_NAMES: PortNames = new Map();

/**
 * Without the ports whose names kube-proxy can't use beside the derived Service. All clusters merge before they skip such
 * ports, as the name of that Service may differ.
 */
function fittingPorts(
  merged: MergedExports,
  { namespace, name, placement }: Pick<ImportInput, 'namespace' | 'name' | 'placement'>,
): { readonly fitting: MergedExports; readonly skipped: readonly ClusterDiagnostic[] } {
  const { definition } = merged;
  if (definition.headless) return { fitting: merged, skipped: [] };
  const { ports, skipped } = shortPortNames(definition.ports, { ...placement, name: placement.derived });
  const key = importKey(namespace, name);
  return {
    fitting: { ...merged, definition: { ...definition, ports } },
    skipped: skipped.map(({ reason, detail }) => problemOf(key, reason, detail)),
  };
}

function importOf(
  merged: MergedExports,
  input: ImportInput,
  wish: RoutingWish,
): Pick<ImportObjects, 'serviceImport' | 'status'> {
  const { namespace, name, exporters, retained, prefixes, placement } = input;
  const { headless, ports, ...policies } = merged.definition;
  const obstacle = obstacleOf(merged, input);
  const isBeside = headless || placement.namespace === namespace;
  const spec: ImportSpec = {
    ...policies,
    type: headless ? 'Headless' : 'ClusterSetIP',
    ports: ports.map(({ name: portName, protocol, port, appProtocol }) => ({
      name: portName,
      protocol,
      port,
      appProtocol,
    })),
    ips: [],
  };
  const own = {
    labels: { [managedByLabel]: sliceManager },
    annotations: {
      ...(!headless && obstacle === undefined && isBeside && { [derivedServiceAnnotation]: placement.derived }),
      ...(wish.order && wishAnnotations(wish)),
    },
  };
  const marks = withExported(own, {
    labels: importedLabels(merged.labels, prefixes),
    annotations: importedAnnotations(merged.annotations, prefixes),
  });
  return {
    serviceImport: { name, ...marks, spec },
    status: {
      clusters: clustersOf(exporters, retained.clusters),
      conditions: [obstacle ?? READY],
      sliceObjects: isBeside ? 'Present' : 'Absent',
    },
  };
}

const READY: DesiredCondition = { type: 'Ready', status: 'True', reason: 'Ready', message: '' };

/** Why a ClusterSetIP import can have no address here. */
function obstacleOf(merged: MergedExports, input: ImportInput): DesiredCondition | undefined {
  const { headless, ports } = merged.definition;
  if (headless) return undefined;
  const obstacle = { type: 'Ready', status: 'False' } as const;
  if (ports.length === 0) return { ...obstacle, reason: 'Pending', message: 'no port can be used' };
  return familiesHere(merged, input).length > 0
    ? undefined
    : {
        ...obstacle,
        reason: 'IPFamilyNotSupported',
        message: 'the cluster has none of the IP families of the exports',
      };
}

function derivedService(merged: MergedExports, input: ImportInput, { order }: RoutingWish): DerivedService | undefined {
  const { namespace, name, placement } = input;
  const { headless, ports, affinitySeconds, internalTrafficPolicy } = merged.definition;
  if (headless || obstacleOf(merged, input) !== undefined) return undefined;
  return {
    name: placement.derived,
    labels: { [managedByLabel]: sliceManager, [importNameLabel]: name },
    annotations: { [sourceAnnotation]: importKey(namespace, name), ...(order && localFirstAnnotations) },
    // The slices say which endpoints are ready.
    definition: {
      headless,
      families: familiesHere(merged, input),
      ports,
      affinitySeconds,
      publishNotReadyAddresses: false,
    },
    internalTrafficPolicy,
  };
}

/** The families in which Services of the local cluster can have an address. */
const familiesHere = ({ definition }: MergedExports, { families }: ImportInput): readonly Family[] =>
  families === undefined ? definition.families : definition.families.filter((each) => families.includes(each));

function slicesOf(
  merged: MergedExports,
  input: ImportInput,
  { order, minReady }: RoutingWish,
): Pick<ImportObjects, 'slices'> & Pick<ImportTarget, 'diagnostics' | 'state' | 'slicesOf'> {
  const { namespace, name, exporters, retained, orphans, placement, routing, zones } = input;
  const { definition } = merged;
  const derived = definition.headless ? undefined : placement.derived;
  const obstacle = obstacleOf(merged, input);
  if (obstacle !== undefined) {
    const reason = obstacle.reason === 'Pending' ? 'bad-port' : 'family-not-supported';
    return { slices: [], diagnostics: [problemOf(importKey(namespace, name), reason, obstacle.message)] };
  }
  const ofCluster = merging(merged, name, derived);
  const added = exporters.map((each) => ({ cluster: each.cluster, stale: each.stale, ...ofCluster(each) }));
  const fitting = orphans.slices.filter((slice) => isOfHeadless(slice) === definition.headless);
  const { slices, diagnostics, state, routed } = routedSlices({
    key: importKey(namespace, name),
    order,
    minReady,
    isHeadless: definition.headless,
    hints: order && routingHints({ localFirst: true, hints: 'always', zones }),
    known: added,
    retained: {
      clusters: [...retained.clusters, ...orphans.clusters],
      slices: [...retained.slices, ...fitting],
    },
    context: routing,
  });
  return {
    slices,
    diagnostics: [...added.flatMap((each) => each.diagnostics), ...diagnostics],
    state,
    slicesOf: routed && ((part) => ofCluster(part).slices.flatMap(routed)),
  };
}

/** What becomes of one cluster's slices. */
const merging =
  ({ definition, portNames }: MergedExports, name: string, derived: string | undefined) =>
  ({ cluster, slices }: Pick<Exporter, 'cluster' | 'slices'>) =>
    slicesOfOne(slices, cluster, name, derived, definition, portNames.get(cluster) ?? NO_NAMES);
