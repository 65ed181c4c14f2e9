import { type KeyContext, refusalOf, type Unwritten } from '@kube-semaphore/multicluster';
import type { PolicyOptions } from '../config/options.ts';
import type { Change, Phase } from './desired/change.ts';
import { objectOf } from './desired/change-facts.ts';
import type { SetDiagnostic } from './desired/diagnostic.ts';
import { diffSets } from './desired/diff.ts';
import type { HostNetworkPods } from './desired/host-network.ts';
import { desiredSets } from './desired/sets.ts';
import { independentOf } from './desired/write-phases.ts';
import { carryOut, ownersOf } from '../local/carry-out.ts';
import type { LocalCluster } from '../local/cluster.ts';
import type { Remotes } from './remote/remotes.ts';

export type SetReconcilerOptions = {
  readonly local: LocalCluster;
  readonly remotes: Remotes;
  readonly options: Pick<PolicyOptions, 'maxNetsPerSet'>;
  readonly hostNetworkPods: HostNetworkPods;
};

/**
 * Makes the sets of a key match the remotes' Pods. A remote that isn't known decides nothing: its sets stay as they are,
 * and their names are taken.
 */
export class SetReconciler {
  readonly #options: SetReconcilerOptions;

  constructor(options: SetReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, { writes, since }: KeyContext): Promise<void> {
    const { local, remotes } = this.#options;
    const { phases, diagnostics } = this.#plan(key);
    await carryOut(phases, {
      clustersOf: (change) => ownersOf(change, local.sets.domains).map(({ cluster }) => cluster),
      isIndependent: independentOf(phases, local.sets.domains),
      write: (change) => writes.write({ object: objectOf(change), change, send: () => local.write(change, { since }) }),
    });
    remotes.report(key, [...diagnostics, ...writes.unwritten.flatMap((each) => this.#refused(each))]);
  }

  /** Every key that has Pods or sets, sorted. */
  keys(): readonly string[] {
    const { local, remotes } = this.#options;
    return [...new Set([...remotes.keys(), ...local.sets.keys()])].toSorted();
  }

  /** What reconciles of all keys would write now. */
  changes(): readonly Change[] {
    return this.keys().flatMap((key) => {
      const { phases, diagnostics } = this.#plan(key);
      this.#options.remotes.report(key, diagnostics);
      return phases.flat();
    });
  }

  /** What a refusal of the API server says about the clusters of a set. */
  #refused({ change, error }: Unwritten): readonly SetDiagnostic[] {
    const refusal = refusalOf(error);
    if (refusal === undefined) return [];
    const { domains } = this.#options.local.sets;
    return ownersOf(change as Change, domains).map(({ cluster, pair }) => ({
      ...refusal,
      cluster,
      namespace: pair?.namespace ?? '',
      name: pair?.app ?? '',
    }));
  }

  #plan(key: string): { readonly phases: readonly Phase[]; readonly diagnostics: readonly SetDiagnostic[] } {
    const { local, remotes, options, hostNetworkPods } = this.#options;
    const { sets } = local;
    if (!sets.synced) return { phases: [], diagnostics: [] };
    const pairs = remotes.pairs(key);
    const existing = sets.ofKey(key);
    const observed = existing.filter(({ cluster }) => pairs.has(cluster)).map(({ set }) => set);
    const unknown = new Set(existing.filter(({ cluster }) => !pairs.has(cluster)).map(({ set }) => set.name));
    const desired = desiredSets({
      domains: sets.domains,
      pairs: [...pairs.values()].flat(),
      observed,
      isTaken: (name) => unknown.has(name) || sets.isTaken(name),
      maxNetsPerSet: options.maxNetsPerSet,
      hostNetworkPods,
    });
    return { phases: diffSets(observed, desired.sets, sets.domains), diagnostics: desired.diagnostics };
  }
}
