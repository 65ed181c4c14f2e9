import { type Clusters, CONNECTIONS } from '../load/clusters.ts';
import type { LocalWatch } from '../measure/local-watch.ts';
import { inParallel } from '../measure/pace.ts';

/** The state that all phases share. */
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

/** A steady rate that every program can follow. */
export const CHANGES_PER_SECOND = 20;

/**
 * Empties collections of the local cluster, each of one namespace or without; a path may have a query. Resolves when the watch,
 * which has no others, saw the last delete. No program may write.
 */
export async function removeAll({ watch, local }: Bench, collections: readonly string[]): Promise<void> {
  const { admin } = local.api;
  const found = await Promise.all(
    collections.map(async (path) => {
      return (await admin.list(path)).map(({ metadata }) => `${path.split('?', 1)[0]}/${metadata.name}`);
    }),
  );
  // A slow watch would seem empty before it saw the last object.
  await watch.holding(found.flat().length);
  await inParallel(found.flat(), CONNECTIONS, (path) => admin.delete(path));
  await watch.holding(0);
}
