import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import { carryOut } from './local/carry-out.ts';
import type { Phase } from './desired/change.ts';
import { desiredSets } from './desired/sets.ts';
import { diffSets } from './desired/diff.ts';
import type { HostNetworkPods } from './desired/host-network.ts';
import type { LocalSets } from './local/sets.ts';
import type { PairMembers } from './desired/member.ts';
import type { SetDiagnostic } from './desired/diagnostic.ts';
import type { Identity } from './desired/labels.ts';
import type { WriteSet } from './local/writer.ts';

/** What a reconcile needs to know of one remote. */
export type KnownRemote = {
  readonly cluster: string;
  /** Under which labels its sets are written; undefined only while it isn't known. */
  readonly identity: Identity | undefined;
  /** Whether its Pods are known well enough to change or delete its sets. */
  readonly isKnown: () => boolean;
  /** Its pairs of a key. */
  readonly pairs: (key: string) => readonly PairMembers[];
};

export type SetReconcilerOptions = {
  readonly remotes: readonly KnownRemote[];
  /** Of labels, those that count when sets are read. */
  readonly domains: readonly string[];
  readonly maxNetsPerSet: number;
  readonly hostNetworkPods: HostNetworkPods;
  readonly localSets: LocalSets;
  readonly write: WriteSet;
  /** What is worth knowing about the sets of a key from now on. */
  readonly onDiagnostics: (key: string, diagnostics: readonly SetDiagnostic[]) => void;
};

/**
 * Makes the sets of a key what the remotes' Pods say. A remote that isn't known has a say in nothing: what the local
 * cluster holds for it stays, and keeps its names.
 */
export class SetReconciler {
  readonly #options: SetReconcilerOptions;
  readonly #byCluster: ReadonlyMap<string, KnownRemote>;

  constructor(options: SetReconcilerOptions) {
    this.#options = options;
    this.#byCluster = new Map(options.remotes.map((remote) => [remote.cluster, remote]));
  }

  async reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    const phases = this.plan(key);
    await carryOut(phases, this.#options.domains, (change) => this.#options.write(change, context));
    return { wrote: phases.length > 0 };
  }

  /** What a reconcile of the key would write now. */
  plan(key: string): readonly Phase[] {
    const { localSets, remotes, domains, onDiagnostics, maxNetsPerSet, hostNetworkPods } = this.#options;
    if (!localSets.synced) return [];
    const isKnown = (cluster: string): boolean => this.#byCluster.get(cluster)?.isKnown() === true;
    const [observed, unknown] = partition(localSets.ofKey(key), ({ cluster }) => isKnown(cluster));
    const kept = new Set(unknown.map(({ set }) => set.name));
    const sets = observed.map(({ set }) => set);
    const desired = desiredSets({
      identityOf: (cluster) => this.#byCluster.get(cluster)!.identity!,
      domains,
      pairs: remotes.filter((remote) => remote.isKnown()).flatMap((remote) => remote.pairs(key)),
      observed: sets,
      taken: (name) => kept.has(name) || localSets.isTaken(name),
      maxNetsPerSet,
      hostNetworkPods,
    });
    onDiagnostics(key, desired.diagnostics);
    return diffSets(sets, desired.sets, domains);
  }
}

function partition<T>(items: readonly T[], predicate: (item: T) => boolean): [T[], T[]] {
  return [items.filter(predicate), items.filter((item) => !predicate(item))];
}
