import { type Cidr, familyName, type FamilyName, type IpFamily, isUsedFamily } from '@kube-semaphore/net';
import type { Cluster } from './findings.ts';
import type { KnownRemote } from '../files/kustomize.ts';

const BOTH: readonly IpFamily[] = [4, 6];

/** The families that a cluster uses of another one. */
export type FamiliesBetween = (cluster: string, other: string) => readonly IpFamily[];

/**
 * @param clusters the names of those of this run, which links each with each
 * @param given for their links; undefined: as their files say
 * @param known remotes in the files of each
 */
export const familiesBetween =
  (
    clusters: readonly string[],
    given: readonly IpFamily[] | undefined,
    known: ReadonlyMap<string, readonly KnownRemote[]>,
  ): FamiliesBetween =>
  (cluster, other) => {
    if (given !== undefined && clusters.includes(cluster) && clusters.includes(other)) return given;
    const remoteIn = (of: string, name: string) => known.get(of)?.find((remote) => remote.name === name);
    return (remoteIn(cluster, other) ?? remoteIn(other, cluster))?.families ?? BOTH;
  };

/** A remote, as far as its families are used: `families` is what the files say, undefined for both. */
export type UsedRemote = Cluster & { readonly families: readonly FamilyName[] | undefined };

export const usedOf = (remote: Cluster, families: readonly IpFamily[]): UsedRemote => ({
  ...remote,
  podCidrs: inFamilies(remote.podCidrs, families),
  families: families.length === BOTH.length ? undefined : families.map(familyName),
});

export const inFamilies = (cidrs: readonly Cidr[], families: readonly IpFamily[]): readonly Cidr[] =>
  cidrs.filter(({ family }) => isUsedFamily(family, { families }));
