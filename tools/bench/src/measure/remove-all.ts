import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { CONNECTIONS } from '../load/clusters.ts';
import type { LocalWatch } from './local-watch.ts';
import { inParallel } from './pace.ts';

/** Empties collections, all that are watched; resolves when the watch has seen the last object go. Nobody writes meanwhile. */
export async function removeAll(
  { admin }: TestCluster,
  watch: LocalWatch,
  collections: readonly string[],
): Promise<void> {
  const found = await Promise.all(
    collections.map(async (path) => (await admin.list(path)).map(({ metadata }) => `${path}/${metadata.name}`)),
  );
  const paths = found.flat();
  // A watch that lags behind would seem empty before the last object has come.
  await watch.holding(paths.length);
  await inParallel(paths, CONNECTIONS, (path) => admin.delete(path));
  await watch.holding(0);
}
