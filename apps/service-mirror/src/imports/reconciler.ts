import { isTaken } from '@kube-semaphore/kube-client';
import {
  type KeyContext,
  type KeyWrites,
  refusalOf,
  type RemoteList,
  type Unwritten,
} from '@kube-semaphore/multicluster';
import { orderFor } from '../config/cluster-order.ts';
import { knownClusters, type RemoteSettings, type Settings } from '../config/settings.ts';
import type { ClusterDiagnostic } from '../endpoints/desired/diagnostic.ts';
import { problemOf } from '../endpoints/desired/diagnostic.ts';
import { clusterOfWrite } from '../endpoints/desired/diff/slice-parts.ts';
import {
  type ImportChange,
  importTaken,
  type McsChange,
  namespaceOf,
  nextChanges,
  objectOf,
  type ObservedObjects,
  type PlacedChange,
  withoutTimes,
} from './desired/changes.ts';
import { conditionChange, conflictReasons } from './desired/conditions.ts';
import type { Decisions } from '../endpoints/decisions.ts';
import type { Decision } from '../endpoints/desired/merged/decision.ts';
import { sourceOf } from '../endpoints/local/accounts.ts';
import { diffSlices, ownerOf } from '../endpoints/desired/diff/slices.ts';
import { isFallback } from '../endpoints/desired/routing/in-role.ts';
import { type ExportPart, forbiddenNamespace, forbiddenPart, gatedPart } from './desired/export-part.ts';
import { desiredImport, type Exporter, type ImportInput, type ImportTarget } from './desired/import.ts';
import { isOfHeadless } from './desired/slices.ts';
import type { ImportObjects } from './desired/objects.ts';
import { plannedChanges } from './desired/planned.ts';
import { NO_ORPHANS, orphanParts, retainedExports } from './desired/retained.ts';
import { terminating } from '../endpoints/desired/terminating.ts';
import type { ClusterPropertyObjects } from '../endpoints/remote/cluster-properties.ts';
import type { LocalDrains } from '../endpoints/local/drains.ts';
import type { LocalTunnels } from '../endpoints/local/tunnels.ts';
import type { RoutingStates } from '../endpoints/routing-states.ts';
import type { LocalZones } from '../services/local/zones.ts';
import type { ImportAt, LocalImports } from './local/imports.ts';
import type { ImportWrites } from './local/import-writes.ts';
import { derivedServiceNames, isAllowedNamespace, parseImportKey } from '../names.ts';
import type { McsCluster } from './remote/exporter.ts';
import type { McsClusters } from './remote/exporters.ts';

export type ImportReconcilerOptions = {
  readonly settings: Pick<Settings, 'mcs' | 'mirrorNamespace'> & {
    readonly local: Pick<Settings['local'], 'name' | 'properties'>;
  };
  readonly remotes: RemoteList<Pick<RemoteSettings, 'name' | 'properties'>>;
  readonly imports: Pick<LocalImports, 'hasNamespace' | 'import' | 'isSynced' | 'observed' | 'service' | 'slice'>;
  readonly clusters: Pick<McsClusters, 'diagnose' | 'has'> & {
    readonly all: readonly Pick<McsCluster, 'cluster' | 'part' | 'synced'>[];
    get(cluster: string): Pick<McsCluster, 'cluster' | 'part'> | undefined;
    readonly local: Pick<McsCluster, 'synced'> & {
      readonly exports: Pick<McsCluster['exports'], 'own'>;
      readonly services: Pick<McsCluster['services'], 'service'>;
    };
  };
  readonly decisions: Pick<Decisions<Exporter>, 'changedSlices' | 'keep' | 'forget'>;
  readonly writes: Pick<ImportWrites, 'write' | 'writeConditions'>;
  /** The families that local Services may have; undefined if unknown. */
  readonly families: () => ImportInput['families'];
  readonly zones: Pick<LocalZones, 'zones' | 'haveAllNodes'>;
  readonly properties: Pick<ClusterPropertyObjects, 'found'>;
  readonly drains: Pick<LocalDrains, 'clusters'>;
  readonly tunnels: Pick<LocalTunnels, 'gated'>;
  readonly states: Pick<RoutingStates, 'next' | 'keep'>;
  /** RFC 3339. */
  readonly now?: () => string;
};

type StatusChange = Extract<McsChange, { readonly kind: 'update-export-status' }>;

/** The change of an import's object, which may be where the import isn't any more. */
type Due = { readonly change: ImportChange; readonly at: ImportAt };

type WriteContext = KeyContext & {
  /** What the clusters had when the change was decided. */
  readonly parts: readonly Exporter[];
};

/** What a key wants, and what is there. */
type Findings = {
  /** Undefined if these objects stay as they are. */
  readonly objects:
    | {
        readonly observed: ObservedObjects;
        readonly wanted: 'nothing' | ImportObjects;
        /** The last writes. */
        readonly misplaced: readonly Due[];
      }
    | undefined;
  /** Of the local cluster's export, if its conditions change. */
  readonly status: StatusChange | undefined;
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** Of the clusters that are known. */
  readonly parts: readonly Exporter[];
  /** Undefined if a change of endpoints may change more. */
  readonly decision?: Decision<Exporter> | undefined;
};

/** A reconcile has four steps, or some more if others write meanwhile. */
const MOST_STEPS = 10;

/** Makes a ServiceImport, its Service and slices, and the conditions of the local export, what the exports say. */
export class ImportReconciler {
  readonly #options: ImportReconcilerOptions;

  constructor(options: ImportReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, context: KeyContext): Promise<void> {
    const { clusters, decisions } = this.#options;
    const { writes } = context;
    const at = this.#placeOf(key);
    if (await this.#changeEndpoints(key, at, context)) return;
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const { changes, status, diagnostics, parts, decision } = this.#step(key, at, writes);
      const problems = writes.unwritten.flatMap((each) => problemsOf(key, each));
      clusters.diagnose(key, [...diagnostics, ...problems]);
      if (changes.length === 0 && status === undefined) {
        if (decision !== undefined && writes.unwritten.length === 0) decisions.keep(key, decision);
        return;
      }
      const writing = changes.map((due) => this.#write(due, { ...context, parts }));
      await Promise.all(status === undefined ? writing : [...writing, this.#writeStatus(status, at, context)]);
    }
  }

  /** As of global Services. */
  async #changeEndpoints(key: string, at: ImportAt, context: KeyContext): Promise<boolean> {
    const { imports, decisions } = this.#options;
    const changed = decisions.changedSlices(key, (cluster) => this.#undisputedPart(cluster, at));
    if (changed === undefined) return false;
    const { slices: desired, parts } = changed;
    const [first] = desired;
    const owner = first && (isOfHeadless(first) ? imports.import(at.namespace, at.name) : imports.service(at));
    if (owner === undefined) return desired.length === 0;
    const observed = desired.flatMap(
      (to) => imports.slice(namespaceOf({ kind: 'create-slice', to, owner }, at), to.name) ?? [],
    );
    const { writes } = diffSlices(observed, desired, ownerOf(owner));
    const [fallbacks, preferred] = [
      writes.filter(({ to }) => isFallback(to)),
      writes.filter(({ to }) => !isFallback(to)),
    ];
    for (const each of [preferred, fallbacks])
      await Promise.all(each.map((change) => this.#write({ change, at }, { ...context, parts })));
    if (context.writes.unwritten.length === 0) return true;
    decisions.forget(key);
    return false;
  }

  /** A cluster's part in an import; undefined if it has none, or something must be said about it. */
  #undisputedPart(cluster: string, at: ImportAt): Exporter | undefined {
    const { settings, clusters } = this.#options;
    const found = clusters.get(cluster);
    if (found === undefined || !isAllowedNamespace(settings.mcs!, at.namespace)) return undefined;
    const { exporter, diagnostics } = this.#partOf(found, at);
    return diagnostics.length === 0 ? exporter : undefined;
  }

  #partOf(cluster: Pick<McsCluster, 'cluster' | 'part'>, at: ImportAt): ExportPart {
    return gatedPart(cluster.part(at), this.#options.tunnels.gated(cluster.cluster));
  }

  /** All that a reconcile of the key would write now, if the API server refused nothing. */
  plan(key: string): readonly PlacedChange[] {
    const { imports, clusters, now = rfc3339 } = this.#options;
    if (!imports.isSynced()) return [];
    const [at, time] = [this.#placeOf(key), now()];
    const { objects, status, diagnostics } = this.#findings(key, at, time);
    clusters.diagnose(key, diagnostics);
    const planned = objects === undefined ? [] : plannedChanges(objects.observed, objects.wanted, time);
    const due = [...planned, ...(status === undefined ? [] : [status])].map((change) => ({ change, at }));
    return [...due, ...(objects?.misplaced ?? [])].map(({ change, at: place }) => ({
      change,
      namespace: namespaceOf(change, place),
    }));
  }

  #placeOf(key: string): ImportAt {
    const { settings, imports } = this.#options;
    const at = parseImportKey(key)!;
    const isBeside = settings.mcs?.derivedServices !== 'mirrorNamespace';
    const derivedNamespace = isBeside ? at.namespace : settings.mirrorNamespace;
    const names = derivedServiceNames(at, { isBeside });
    const places = names.map((derivedName) => ({ ...at, derivedNamespace, derivedName }));
    return places.findLast((place) => imports.service(place) !== undefined) ?? places[0]!;
  }

  /** The next writes of a key, which may be made at once. */
  #step(key: string, at: ImportAt, writes: KeyWrites) {
    const { imports, now = rfc3339 } = this.#options;
    if (!imports.isSynced()) return { changes: [], status: undefined, diagnostics: [], parts: [], decision: undefined };
    const time = now();
    const { objects, status, diagnostics, parts, decision } = this.#findings(key, at, time);
    const waits = ({ change, at: place }: Due): boolean => writes.waitsFor(writeOf(change, place));
    const changes = objects === undefined ? [] : nextOf(objects, { at, time, waits });
    const isDue = status !== undefined && !writes.waitsFor(writeOf(status, at));
    return { changes, status: isDue ? status : undefined, diagnostics, parts, decision };
  }

  async #write({ change, at }: Due, { since, writes, parts }: WriteContext): Promise<void> {
    const source = sourceOf(change, parts);
    await writes.write({
      ...writeOf(change, at),
      send: () => this.#options.writes.write(change, { at, since, source }),
      isNoop: (written) =>
        'from' in change && written !== undefined && change.from.resourceVersion === written.metadata.resourceVersion,
    });
  }

  async #writeStatus(status: StatusChange, at: ImportAt, { writes }: KeyContext): Promise<void> {
    const { from, conditions } = status;
    await writes.write({
      ...writeOf(status, at),
      send: () => this.#options.writes.writeConditions(from, conditions, { at }),
      isNoop: (written) => written?.metadata.resourceVersion === from.resourceVersion,
    });
  }

  /** @param time RFC 3339, for conditions whose status changes */
  #findings(key: string, at: ImportAt, time: string): Findings {
    const { imports, clusters } = this.#options;
    const { wanted, conditions, diagnostics, parts, decision } = this.#target(key, at);
    const own = clusters.local.exports.own(at.namespace, at.name);
    const to = own && conditions && conditionChange(own.conditions, conditions, time);
    const status = to && ({ kind: 'update-export-status', from: own!, conditions: to } as const);
    const isHeadless = typeof wanted === 'string' ? this.#isHeadless(at) : wanted.service === undefined;
    const found = imports.observed(at, isHeadless);
    const taken = importTaken(at, found);
    const waiting = taken === undefined ? terminatingOf(key, at, found) : [];
    const findings = { objects: undefined, status, parts, diagnostics: [...diagnostics, ...waiting] };
    if (wanted === 'unknown') return findings;
    if (wanted !== 'nothing' && !imports.hasNamespace(at.namespace))
      return { ...findings, diagnostics: [...diagnostics, noNamespace(key, at)] };
    if (taken !== undefined)
      return wanted === 'nothing' ? findings : { ...findings, diagnostics: [...diagnostics, taken] };
    const { misplaced, ...observed } = found;
    const present = misplaced.filter((each) => 'endpoints' in each || !each.isTerminating);
    const deletions = present.map((from): Due => ({
      change: 'endpoints' in from ? { kind: 'delete-slice', from } : { kind: 'delete-derived', from },
      at: { ...at, namespace: from.namespace, derivedNamespace: from.namespace },
    }));
    const isWhole = waiting.length === 0;
    return {
      ...findings,
      objects: { observed, wanted, misplaced: deletions },
      decision: isWhole ? decision : undefined,
    };
  }

  #target(key: string, at: ImportAt): ImportTarget & Pick<Findings, 'parts' | 'decision'> {
    const { settings, remotes, imports, clusters, families, zones, properties, drains, states } = this.#options;
    const { namespace, name } = at;
    const mcs = settings.mcs!;
    const isAllowed = isAllowedNamespace(mcs, namespace);
    const found = clusters.all.map((each) => this.#partOf(each, at));
    const parts = isAllowed ? found : found.map((part, i) => forbiddenPart(part, clusters.all[i]!.cluster, namespace));
    const unknown = isAllowed ? clusters.all.filter(({ synced }) => !synced).map(({ cluster }) => cluster) : [];
    const observed = imports.observed(at, this.#isHeadless(at));
    const present = { observed: observed.serviceImport, slices: observed.slices };
    const own = clusters.local.synced ? clusters.local.exports.own(namespace, name) : undefined;
    const exporters = parts.flatMap(({ exporter }) => exporter ?? []);
    const exported = isAllowed ? clusters.local.services.service(namespace, name).own : notAllowed(namespace);
    const target = desiredImport({
      namespace,
      name,
      exporters,
      retained: retainedExports(present, unknown),
      orphans: isAllowed ? orphanParts(present, clusters) : NO_ORPHANS,
      own: own && { ...exported, present: conflictReasons(own.conditions) },
      prefixes: mcs.exportedLabelPrefixes,
      families: families(),
      placement: { namespace: at.derivedNamespace, derived: at.derivedName },
      routing: {
        ...knownClusters(settings.local, remotes, properties.found),
        order: orderFor(mcs.clusterOrder, at),
        hasAllZones: zones.haveAllNodes,
        drained: drains.clusters,
        ...states.next(key),
      },
      zones: zones.zones,
      localFirst: mcs.localFirst,
    });
    states.keep(key, target.state);
    const { slicesOf } = target;
    const undisputed = parts.flatMap(({ exporter, diagnostics }) => (diagnostics.length > 0 ? [] : (exporter ?? [])));
    return {
      ...target,
      diagnostics: [...parts.flatMap(({ diagnostics }) => diagnostics), ...target.diagnostics],
      parts: exporters,
      decision: slicesOf && { parts: undisputed, slicesOf },
    };
  }

  /** Whether the import is headless now. */
  #isHeadless({ namespace, name }: ImportAt): boolean {
    return this.#options.imports.import(namespace, name)?.spec.type === 'Headless';
  }
}

/** What a user has to know about a change that wasn't made. */
function problemsOf(key: string, { object, change, error }: Unwritten): readonly ClusterDiagnostic[] {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return [{ ...refusal, cluster: clusterOfWrite(key, change) }];
  const { kind } = change as McsChange;
  if ((kind !== 'create-derived' && kind !== 'create-slice') || !isTaken(error)) return [];
  // Someone removed our labels from it, or another program uses its name: we don't see it, and may not read it.
  return [problemOf(key, 'name-taken', `the ${object} exists without our labels: restore them, or delete it`)];
}

/** How `KeyWrites` knows a change. */
const writeOf = (change: McsChange, at: ImportAt) => ({ object: objectOf(change, at), change: withoutTimes(change) });

function nextOf(
  { observed, wanted, misplaced }: NonNullable<Findings['objects']>,
  { at, time, waits }: { readonly at: ImportAt; readonly time: string; readonly waits: (due: Due) => boolean },
): readonly Due[] {
  const next = nextChanges(observed, wanted, time, (change) => waits({ change, at }));
  return next.length > 0 ? next.map((change) => ({ change, at })) : misplaced.filter((due) => !waits(due));
}

const notAllowed = (namespace: string) => ({ service: 'skipped', detail: forbiddenNamespace(namespace) }) as const;

/** Why objects of an import that were deleted still exist. */
const terminatingOf = (
  key: string,
  { namespace, name }: Pick<ImportAt, 'namespace' | 'name'>,
  { serviceImport, service, misplaced }: ReturnType<LocalImports['observed']>,
): readonly ClusterDiagnostic[] => [
  ...(serviceImport === undefined ? [] : terminating(key, `ServiceImport ${namespace}/${name}`, serviceImport)),
  ...[service, ...misplaced].flatMap((each) =>
    each === undefined || 'endpoints' in each ? [] : terminating(key, `Service ${each.name}`, each),
  ),
];

/** An import is only in clusters that have its namespace (KEP-1645). */
const noNamespace = (key: string, { namespace }: Pick<ImportAt, 'namespace'>): ClusterDiagnostic => ({
  ...problemOf(key, 'namespace-missing', `the local cluster has no namespace ${namespace}`),
  kind: 'expected',
});

/** Kubernetes' times have whole seconds. */
const rfc3339 = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
