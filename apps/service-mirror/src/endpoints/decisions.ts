import type { AddOptions } from '@kube-semaphore/controller';
import type { LeaderQueue } from '@kube-semaphore/multicluster';
import { type Decision, isOfDecision, type Part } from './desired/merged/decision.ts';
import type { DesiredSlice } from './desired/objects.ts';

type Kept<P extends Part> = {
  readonly slicesOf: Decision<P>['slicesOf'];
  /** By cluster. */
  readonly parts: Map<string, P>;
  /** The clusters whose endpoints changed since then. */
  readonly changed: Set<string>;
};

type ChangedSlices<P> = { readonly slices: readonly DesiredSlice[]; readonly parts: readonly P[] };

/**
 * The queue of keys of merged Services, with the last decision about each. Whatever happens to a key ends its decision, except that
 * endpoints of a cluster change.
 */
export class Decisions<P extends Part> {
  readonly #queue: Pick<LeaderQueue, 'enqueue' | 'enqueueAll'>;
  readonly #byKey = new Map<string, Kept<P>>();

  constructor(queue: Pick<LeaderQueue, 'enqueue' | 'enqueueAll'>) {
    this.#queue = queue;
  }

  /** As `LeaderQueue.enqueue`. */
  enqueue(keys: Iterable<string>, ...how: [since?: number, options?: AddOptions]): void {
    const all = [...keys];
    for (const key of all) this.#byKey.delete(key);
    this.#queue.enqueue(all, ...how);
  }

  /** As `LeaderQueue.enqueueAll`. */
  enqueueAll(keys: () => Iterable<string>, since?: number): void {
    this.#queue.enqueueAll(() => {
      const all = [...keys()];
      for (const key of all) this.#byKey.delete(key);
      return all;
    }, since);
  }

  /** Slices of a cluster changed, maybe in endpoints alone. */
  enqueueSlices(keys: readonly string[], cluster: string, since: number): void {
    for (const key of keys) this.#byKey.get(key)?.changed.add(cluster);
    this.#queue.enqueue(keys, since, { cause: cluster });
  }

  /** To be called before anything can happen to the key. */
  keep(key: string, { parts, slicesOf }: Decision<P>): void {
    const byCluster = new Map(parts.map((part) => [part.cluster, part]));
    this.#byKey.set(key, { slicesOf, parts: byCluster, changed: new Set() });
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }

  /**
   * What the last decision makes of the endpoints that changed since then.
   *
   * @param partOf the present part of a cluster; undefined if something must be said about it
   * @returns all slices of the clusters that changed, and their parts; undefined if the clusters have to decide again
   */
  changedSlices(key: string, partOf: (cluster: string) => P | undefined): ChangedSlices<P> | undefined {
    const kept = this.#byKey.get(key);
    if (kept === undefined) return undefined;
    const parts: P[] = [];
    for (const cluster of kept.changed) {
      const [before, now] = [kept.parts.get(cluster), partOf(cluster)];
      if (before === undefined || now === undefined || !isOfDecision(before, now)) {
        this.#byKey.delete(key);
        return undefined;
      }
      parts.push(now);
    }
    for (const part of parts) kept.parts.set(part.cluster, part);
    kept.changed.clear();
    return { slices: parts.flatMap(kept.slicesOf), parts };
  }
}
