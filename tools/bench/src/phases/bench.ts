import type { Clusters } from '../load/clusters.ts';
import type { LocalWatch } from '../measure/local-watch.ts';

/** What the phases of a bench work on. */
export type Bench = Clusters & { readonly watch: LocalWatch };

/** Something in the remote cluster that is going to change, once, and by what the change is known. */
export type Change = {
  /** What of the local cluster shows it, as `LocalChange` calls it. */
  readonly key: string;
  /** What that holds then, and never held before. */
  readonly item: string;
  /** Resolves when the remote API server has answered. */
  readonly apply: () => Promise<void>;
};

/** Watches from now on. Resolves with when the change was seen in the local cluster; rejects with the signal's reason. */
export async function whenSeen(
  watch: LocalWatch,
  { key, item }: Change,
  { signal }: { signal: AbortSignal },
): Promise<number> {
  return watch.until((local) => (local.key === key && local.items.includes(item) ? local.atMs : undefined), { signal });
}
