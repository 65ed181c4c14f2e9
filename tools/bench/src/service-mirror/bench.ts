import { endpointSlice, service } from '@kube-semaphore/testkit';
import { CONNECTIONS } from '../load/clusters.ts';
import { inParallel } from '../measure/pace.ts';
import { removeAll } from '../measure/remove-all.ts';
import type { Bench } from '../phases/bench.ts';
import { collections, MIRRORS } from './mirrors.ts';
import type { Source } from './source.ts';

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

/** Deletes all local mirrors. */
export async function removeMirrors({ watch, local }: Pick<Bench, 'watch' | 'local'>): Promise<void> {
  await removeAll(local.api, watch, Object.values(collections));
}
