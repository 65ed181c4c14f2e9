import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { CONNECTIONS } from '../load/clusters.ts';
import type { LocalWatch } from './local-watch.ts';
import { inParallel } from './pace.ts';

/** Empties all watched collections. Resolves when the watch saw the last delete. No program may write. */
export async function removeAll(
  { admin }: TestCluster,
  watch: LocalWatch,
  collections: readonly string[],
): Promise<void> {
  const found = await Promise.all(
    collections.map(async (path) => (await admin.list(path)).map(({ metadata }) => `${path}/${metadata.name}`)),
  );
  const paths = found.flat();
  // A slow watch would seem empty before it saw the last object.
  await watch.holding(paths.length);
  await inParallel(paths, CONNECTIONS, (path) => admin.delete(path));
  await watch.holding(0);
}
