import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { Phase } from './change.ts';
import { desiredSets } from './desired.ts';
import { diffSets } from './diff.ts';
import { isHeldForWantOfPods } from './hold.ts';
import type { HostNetworkPods } from './host-network.ts';
import type { LocalSets } from './local-sets.ts';
import type { Notice } from './notice.ts';
import type { RemotePods } from './remote-pods.ts';
import type { Identity } from './set-labels.ts';
import type { Written } from './set-writer.ts';
import type { Change } from './change.ts';

export type SetReconcilerOptions = {
  readonly cluster: string;
  readonly identity: Identity;
  readonly maxNetsPerSet: number;
  readonly hostNetworkPods: HostNetworkPods;
  readonly localSets: LocalSets;
  readonly remotePods: RemotePods;
  readonly write: (change: Change, context: ReconcileContext) => Promise<Written>;
  /** What is worth knowing about the sets of a key from now on. */
  readonly onNotices: (key: string, notices: readonly Notice[]) => void;
};

/**
 * Makes the sets of a key what the remote's Pods say. Nothing is written while either side is unknown, or while
 * there are sets and never was a Pod: what the local cluster holds stays.
 */
export class SetReconciler {
  readonly #options: SetReconcilerOptions;

  constructor(options: SetReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    const phases = this.#plan(key);
    for (const phase of phases) await this.#writePhase(phase, context);
    return { wrote: phases.length > 0 };
  }

  #plan(key: string): readonly Phase[] {
    const { localSets, remotePods, identity, onNotices, cluster, maxNetsPerSet, hostNetworkPods } = this.#options;
    if (!localSets.synced || !remotePods.synced) return [];
    if (isHeldForWantOfPods({ podsSeen: remotePods.podsSeen, ownSets: localSets.ownSets })) return [];
    const observed = localSets.ofKey(key);
    const taken = (name: string): boolean => localSets.isTaken(name);
    const pairs = remotePods.pairs(key);
    const { sets, notices } = desiredSets({ cluster, identity, pairs, observed, taken, maxNetsPerSet, hostNetworkPods });
    onNotices(key, notices);
    return diffSets(observed, sets, identity);
  }

  /** All changes are tried; then the first that failed is thrown, so that no later phase begins. */
  async #writePhase(phase: Phase, context: ReconcileContext): Promise<void> {
    const results = await Promise.allSettled(phase.map((change) => this.#writeChange(change, context)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #writeChange(change: Change, context: ReconcileContext): Promise<void> {
    const { localSets, write } = this.#options;
    const written = await write(change, context);
    if (written.kind === 'written') localSets.written(written.object);
    else if (change.kind !== 'create') localSets.deleted(change.from);
  }
}
