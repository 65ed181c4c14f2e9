import type { Clusters } from '../load/clusters.ts';
import type { LocalWatch } from '../measure/local-watch.ts';

/** The state that all phases of a bench share. */
export type Bench = Clusters & { readonly watch: LocalWatch };

/** A single change in the remote cluster, and its effect in the local one. */
export type Change = {
  /** The local key that shows it, as in `LocalChange`. */
  readonly key: string;
  /** The item that the key has after the change, and never before. */
  readonly item: string;
  /** Makes the change. Resolves with the answer of the remote API server. */
  readonly apply: () => Promise<void>;
};

/** Waits for the change in the local cluster. Resolves with its time; rejects with the signal's reason. */
export async function whenSeen(
  watch: LocalWatch,
  { key, item }: Pick<Change, 'key' | 'item'>,
  { signal }: { signal: AbortSignal },
): Promise<number> {
  return watch.until((local) => (local.key === key && local.items.includes(item) ? local.atMs : undefined), { signal });
}
