import { randomUUID } from 'node:crypto';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import { CONNECTIONS } from '../load/clusters.ts';
import { inParallel } from '../measure/pace.ts';
import { removeAll } from '../measure/remove-all.ts';
import { summarize } from '../measure/summary.ts';
import type { Bench } from '../phases/bench.ts';
import { collections, mirrorOf, MIRRORS } from './mirrors.ts';
import type { Source } from './source.ts';
import { serviceOf, sourceObjects } from './source-objects.ts';

/** Requests of each kind before the first measurement. */
const WARM_UP = 50;

/** Changes some endpoints and mirrors first, so that lazy work of API servers isn't measured. */
export async function warmUp(bench: Bench, source: Source): Promise<void> {
  const changes = source.catalog.services.slice(-WARM_UP).map((remote) => source.replacement(remote, 0));
  await inParallel(changes, CONNECTIONS, ({ apply }) => apply());
  const names = Array.from({ length: WARM_UP }, (_, index) => `warm-up-${index}`);
  const { admin } = bench.local.api;
  await inParallel(names, CONNECTIONS, (name) =>
    admin.create(collections.services, service({ name, namespace: MIRRORS, selector: null })),
  );
  await inParallel(names, CONNECTIONS, (name) =>
    admin.create(collections.slices, endpointSlice({ name, namespace: MIRRORS, service: name })),
  );
  await removeMirrors(bench);
}

/**
 * Creates the objects of all mirrors, and deletes them, three times: as many requests at a time as our program has by
 * default (`-write-concurrency`), each Service before its slices, and nothing else.
 *
 * @returns the median of the seconds of the creations
 */
export async function bareCreations(bench: Bench, { catalog }: Source): Promise<number> {
  const { admin } = bench.local.api;
  const mirrors = catalog.services.map((remote) => ({ ...remote, namespace: MIRRORS, name: mirrorOf(remote) }));
  const times: number[] = [];
  while (times.length < 3) {
    const startMs = performance.now();
    await inParallel(mirrors, CONNECTIONS, async (mirror) => {
      const slices = sourceObjects('endpointslices', mirror, randomUUID());
      for (const { collection, object } of [serviceOf(mirror), ...slices]) await admin.create(collection, object);
    });
    times.push((performance.now() - startMs) / 1000);
    await removeMirrors(bench);
  }
  return summarize(times).p50;
}

/** Deletes all local mirrors. */
export async function removeMirrors({ watch, local }: Pick<Bench, 'watch' | 'local'>): Promise<void> {
  await removeAll(local.api, watch, Object.values(collections));
}
