import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { Condition } from '@kube-semaphore/kube-objects';
import { isAllowedNamespace } from './config/mcs.ts';
import type { Settings } from './config/settings.ts';
import type { ClusterDiagnostic } from './desired/diagnostic.ts';
import { problemOf } from './desired/diagnostic.ts';
import { type ImportChange, importTaken, nextChanges } from './desired/mcs/changes.ts';
import { conditionChange, conflictReasons } from './desired/mcs/conditions.ts';
import { desiredImport, type ImportInput, type ImportTarget } from './desired/mcs/import.ts';
import { retainedExports } from './desired/mcs/retained.ts';
import type { Identity } from './desired/observed.ts';
import type { ImportAt, LocalImports } from './local/mcs/imports.ts';
import type { ImportWrites } from './local/mcs/import-writes.ts';
import type { Vain, VainWrites } from './local/mcs/vain-writes.ts';
import { allTried } from './local/writer.ts';
import { derivedServiceName, parseImportKey } from './names.ts';
import type { McsClusters } from './remote/mcs/clusters.ts';

export type ImportReconcilerOptions = {
  readonly settings: Pick<Settings, 'mcs' | 'mirrorNamespace'>;
  readonly imports: LocalImports;
  readonly clusters: McsClusters;
  readonly writes: ImportWrites;
  readonly vain: VainWrites;
  /** The families that local Services may have; undefined if unknown. */
  readonly families: () => ImportInput['families'];
  /** RFC 3339. */
  readonly now?: () => string;
};

/** The next writes of a key, which may be made at once. */
type Step = {
  readonly changes: readonly { readonly change: ImportChange; readonly at: ImportAt }[];
  /** Of the local cluster's export, if they change. */
  readonly conditions: { readonly from: Identity; readonly to: readonly Condition[] } | undefined;
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** The changes that were in vain, and would still be due. */
  readonly vain: readonly Vain[];
};

/** A reconcile has four steps, or some more if others write meanwhile. */
const MOST_STEPS = 10;

/** Makes a ServiceImport, its Service and slices, and the conditions of the local export, what the exports say. */
export class ImportReconciler {
  readonly #options: ImportReconcilerOptions;

  constructor(options: ImportReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, { since }: ReconcileContext): Promise<Outcome> {
    const { writes, vain, clusters } = this.#options;
    const at = this.#placeOf(key);
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const step = this.#step(key, at);
      clusters.diagnose(key, step.diagnostics);
      const { changes, conditions } = step;
      if (changes.length === 0 && conditions === undefined) {
        vain.retain(key, step.vain);
        return { wrote: steps > 0 };
      }
      let isGone = false;
      const writing = changes.map(async (due) => {
        if (!(await writes.write(due.change, { key, at: due.at, since }))) isGone = true;
      });
      await allTried([
        ...writing,
        ...(conditions === undefined ? [] : [writes.writeConditions(conditions.from, conditions.to, { key, at })]),
      ]);
      if (isGone) break;
    }
    return { wrote: true };
  }

  #placeOf(key: string): ImportAt {
    const { settings } = this.#options;
    const { namespace, name } = parseImportKey(key)!;
    const derivedNamespace = settings.mcs?.derivedServices === 'mirrorNamespace' ? settings.mirrorNamespace : namespace;
    return { namespace, name, derivedNamespace, derivedName: derivedServiceName(namespace, name) };
  }

  #step(key: string, at: ImportAt): Step {
    const { imports, vain, now = rfc3339 } = this.#options;
    if (!imports.isSynced()) return NOTHING;
    const { wanted, conditions, diagnostics } = this.#target(key, at);
    const time = now();
    const vainNow: Vain[] = [];
    const isVain = (change: Parameters<VainWrites['find']>[1]): boolean => {
      const found = vain.find(key, change);
      if (found !== undefined) vainNow.push(found);
      return found !== undefined;
    };
    const own = this.#options.clusters.local.exports.own(at.namespace, at.name);
    const to = own && conditions && conditionChange(own.conditions, conditions, time);
    const isDue = to !== undefined && !isVain({ kind: 'update-export-status', from: own!, conditions: to });
    const { changes, taken } = this.#changes(at, wanted, { time, isVain });
    const refused = vainNow.flatMap(({ why }) => (why === undefined ? [] : [problemOf(key, 'refused', why)]));
    return {
      changes,
      conditions: isDue ? { from: own!, to } : undefined,
      diagnostics: [...diagnostics, ...taken, ...refused],
      vain: vainNow,
    };
  }

  #changes(
    at: ImportAt,
    wanted: ImportTarget['wanted'],
    { time, isVain }: { readonly time: string; readonly isVain: (change: ImportChange) => boolean },
  ): Pick<Step, 'changes'> & { readonly taken: readonly ClusterDiagnostic[] } {
    const { imports } = this.#options;
    if (wanted === 'unknown') return { changes: [], taken: [] };
    if (wanted !== 'nothing' && !imports.hasNamespace(at.namespace)) return { changes: [], taken: [] };
    const isHeadless = wanted === 'nothing' ? this.#isHeadless(at) : wanted.service === undefined;
    const { misplaced, ...observed } = imports.observed(at, isHeadless);
    const taken = importTaken(at, observed);
    if (taken !== undefined) return { changes: [], taken: wanted === 'nothing' ? [] : [taken] };
    const next = nextChanges(observed, wanted, time, isVain);
    if (next.length > 0) return { changes: next.map((change) => ({ change, at })), taken: [] };
    const changes = misplaced.map((from) => ({
      change:
        'endpoints' in from ? ({ kind: 'delete-slice', from } as const) : ({ kind: 'delete-derived', from } as const),
      at: { ...at, namespace: from.namespace, derivedNamespace: from.namespace },
    }));
    return { changes: changes.filter(({ change }) => !isVain(change)), taken: [] };
  }

  #target(key: string, at: ImportAt): ImportTarget {
    const { settings, imports, clusters, families } = this.#options;
    const { namespace, name } = at;
    const mcs = settings.mcs!;
    const isAllowed = isAllowedNamespace(mcs, namespace);
    const parts = isAllowed ? clusters.all.map((each) => each.part(at)) : [];
    const unknown = isAllowed ? clusters.all.filter(({ synced }) => !synced).map(({ cluster }) => cluster) : [];
    const observed = imports.observed(at, this.#isHeadless(at));
    const present = { observed: observed.serviceImport, slices: observed.slices };
    const own = clusters.local.synced ? clusters.local.exports.own(namespace, name) : undefined;
    const exported = isAllowed ? clusters.local.services.service(namespace, name).own : notAllowed(namespace);
    const target = desiredImport({
      namespace,
      name,
      exporters: parts.flatMap(({ exporter }) => exporter ?? []),
      retained: retainedExports(present, unknown),
      own: own && { ...exported, present: conflictReasons(own.conditions) },
      prefixes: mcs.exportedLabelPrefixes,
      families: families(),
      placement: { namespace: at.derivedNamespace, derived: at.derivedName },
    });
    return { ...target, diagnostics: [...parts.flatMap(({ diagnostics }) => diagnostics), ...target.diagnostics] };
  }

  /** Whether the import is headless now. */
  #isHeadless({ namespace, name }: ImportAt): boolean {
    return this.#options.imports.import(namespace, name)?.spec.type === 'Headless';
  }
}

const NOTHING: Step = { changes: [], conditions: undefined, diagnostics: [], vain: [] };

const notAllowed = (namespace: string) =>
  ({ service: 'skipped', detail: `mcs.namespaces doesn't allow the namespace ${namespace}` }) as const;

/** Kubernetes' times have whole seconds. */
const rfc3339 = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
