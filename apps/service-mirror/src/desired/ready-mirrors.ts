import { mirroredServiceLabel, mirrorPrefixLabel } from '../names.ts';
import { hasReady } from './objects.ts';
import type { ObservedService } from './observed.ts';
import type { LocalServices } from './target.ts';

/**
 * How many mirrors of each remote have no ready endpoint, by the remote's name. Only local objects count, as for clients:
 * a source without endpoints and slices that weren't written are the same to them.
 *
 * @param prefixes of the remotes, by cluster
 */
export function mirrorsWithoutReadyEndpoints(
  local: Pick<LocalServices, 'slices'> & { services(): readonly ObservedService[] },
  prefixes: ReadonlyMap<string, string>,
): ReadonlyMap<string, number> {
  const clusters = new Map(Array.from(prefixes, ([cluster, prefix]) => [prefix, cluster]));
  const counts = new Map(Array.from(prefixes.keys(), (cluster) => [cluster, 0]));
  for (const { name, labels } of local.services()) {
    const cluster = labels[mirroredServiceLabel] === 'true' ? clusters.get(labels[mirrorPrefixLabel] ?? '') : undefined;
    if (cluster === undefined || local.slices(name).some(hasReady)) continue;
    counts.set(cluster, counts.get(cluster)! + 1);
  }
  return counts;
}
