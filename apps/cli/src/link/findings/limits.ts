import { compareCidrs } from '@kube-semaphore/net';
import type { Limits } from '../choices.ts';
import type { Cluster } from './findings.ts';

/** The limits of a cluster, by what was found out of it and its remotes. */
export function limitsOf(cluster: Cluster, remotes: readonly Cluster[]): Required<Limits> {
  const own = [...cluster.podCidrs, ...cluster.serviceCidrs, ...cluster.nodeCidrs].map(({ text }) => text);
  return {
    localCIDRs: [...new Set(own)].toSorted(compareCidrs),
    endpointCIDRs: Object.fromEntries(remotes.map(({ name, nodeCidrs }) => [name, nodeCidrs.map(({ text }) => text)])),
  };
}

/** What a further run remembers: it changes only what is as a run wrote it. */
export const writtenBy = (before: Limits, now: Required<Limits>): Limits => {
  const endpointCIDRs = Object.entries({ ...before.endpointCIDRs, ...now.endpointCIDRs });
  return { ...now, endpointCIDRs: Object.fromEntries(endpointCIDRs.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
};

type Texts = readonly string[] | undefined;

/**
 * A limit in a file.
 *
 * @param existing what the file has now; undefined: it has the place, but no limit
 * @param written what the last run wrote there; undefined: it wrote none
 * @returns what was found, unless a user changed the limit or removed it
 */
export function limitOf({ existing, written, found }: { existing: Texts; written: Texts; found: Texts }): Texts {
  const isOurs = existing === written || JSON.stringify(existing) === JSON.stringify(written);
  return isOurs ? found : existing;
}
