import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { PolicyOptions } from './config/options.ts';
import type { Change, Phase } from './desired/sets/change.ts';
import { diffSets } from './desired/sets/diff.ts';
import type { HostNetworkPods } from './desired/host-network.ts';
import { desiredSets } from './desired/sets/sets.ts';
import { carryOut, clustersOfSet } from './local/carry-out.ts';
import type { LocalCluster } from './local/cluster.ts';
import type { Remotes } from './remote/clusters.ts';

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

  async reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    const { local } = this.#options;
    const phases = this.#plan(key);
    await carryOut(phases, {
      clustersOf: (change) => clustersOfSet(change, local.sets.domains),
      write: (change) => local.write(change, context),
    });
    return { wrote: phases.length > 0 };
  }

  /** Every key that has Pods or sets, sorted. */
  keys(): readonly string[] {
    const { local, remotes } = this.#options;
    return [...new Set([...remotes.keys(), ...local.sets.keys()])].toSorted();
  }

  /** What reconciles of all keys would write now. */
  changes(): readonly Change[] {
    return this.keys().flatMap((key) => this.#plan(key).flat());
  }

  #plan(key: string): readonly Phase[] {
    const { local, remotes, options, hostNetworkPods } = this.#options;
    const { sets } = local;
    if (!sets.synced) return [];
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
    remotes.report(key, desired.diagnostics);
    return diffSets(observed, desired.sets, sets.domains);
  }
}
