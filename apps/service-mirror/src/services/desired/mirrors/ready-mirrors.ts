import { GLOBAL, globalServiceLabel, mirroredServiceLabel, mirrorPrefixLabel } from '../../../names.ts';
import { hasReady, type StringMap } from '../../../endpoints/desired/objects.ts';
import type { ObservedService } from '../../../endpoints/desired/observed.ts';
import type { LocalServices } from '../../../endpoints/desired/target.ts';

/**
 * How many mirrors of each remote have no ready endpoint, by the remote's name, and how many global Services, as `global`. Only
 * local objects count, as for clients: a source without endpoints and slices that weren't written are the same to them.
 *
 * @param prefixes of the remotes, by cluster
 */
export function mirrorsWithoutReadyEndpoints(
  local: Pick<LocalServices, 'slices'> & { services(): readonly ObservedService[] },
  prefixes: ReadonlyMap<string, string>,
): ReadonlyMap<string, number> {
  const remoteOf = remoteByLabels(prefixes);
  const counts = new Map([...prefixes.keys(), GLOBAL].map((remote) => [remote, 0]));
  for (const { name, labels } of local.services()) {
    const remote = remoteOf(labels);
    if (remote !== undefined && !local.slices(name).some(hasReady)) counts.set(remote, counts.get(remote)! + 1);
  }
  return counts;
}

/**
 * Finds the remote of a mirror, or `global`; undefined for another Service.
 *
 * @param prefixes of the remotes, by cluster
 */
export function remoteByLabels(prefixes: ReadonlyMap<string, string>): (labels: StringMap) => string | undefined {
  const clusters = new Map(Array.from(prefixes, ([cluster, prefix]) => [prefix, cluster]));
  return (labels) => {
    if (labels[globalServiceLabel] === 'true') return GLOBAL;
    return labels[mirroredServiceLabel] === 'true' ? clusters.get(labels[mirrorPrefixLabel] ?? '') : undefined;
  };
}
