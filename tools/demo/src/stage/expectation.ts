import { clusterLabel, globalClustersAnnotation, labelDomains, nameLabel, namespaceLabel } from '@kube-semaphore/naming';
import { type Mirror, notReadyAddresses, readyAddresses } from './mirror-watch.ts';
import type { NetworkSet } from './set-watch.ts';
import type { Workload } from './workload.ts';

/** What a set depends on. */
export type Source = Pick<Workload, 'cluster' | 'namespace' | 'app' | 'pods'>;

const [domain] = labelDomains;

/**
 * Whether other clusters have of a workload what they should: no set if it has no pods, else one with its labels and
 * exactly the addresses of its pods.
 */
export function isRight(set: NetworkSet | undefined, workload: Source): boolean {
  const nets = netsOf(workload);
  if (set === undefined) return nets.size === 0;
  return (
    set.nets.length === nets.size &&
    [...nets].every((net) => set.nets.includes(net)) &&
    set.labels[nameLabel(domain)] === workload.app &&
    set.labels[namespaceLabel(domain)] === workload.namespace &&
    set.labels[clusterLabel(domain)] === workload.cluster
  );
}

/** What a mirror depends on. */
export type MirrorSource = Pick<Workload, 'isExposed' | 'pods'>;

/**
 * Whether other clusters have of a workload's Service what they should: nothing if it has none, else a Service with exactly
 * the addresses of the pods ready behind it.
 */
export function isMirrorRight(mirror: Mirror | undefined, { isExposed, pods }: MirrorSource): boolean {
  if (!isExposed) return mirror === undefined;
  return mirror?.service !== undefined && areSame(readyAddresses(mirror), ipsOf([{ pods }]));
}

/** What a global Service depends on: the workloads of one name and namespace, at most one in each cluster. */
export type GlobalSource = {
  readonly members: readonly Member[];
  /** The clusters that weren't seen for too long. */
  readonly lost: readonly string[];
};

type Member = Pick<Workload, 'cluster' | 'isExposed' | 'pods'>;

/**
 * Whether a cluster has of some workloads' Services the global one that it should: nothing if none of them has one, else a
 * Service that names the clusters which do, with exactly the addresses of their pods, of which those in lost clusters are
 * not ready.
 */
export function isGlobalRight(global: Mirror | undefined, { members, lost }: GlobalSource): boolean {
  const exposed = members.filter(({ isExposed }) => isExposed);
  if (exposed.length === 0) return global === undefined;
  const clusters = exposed.map(({ cluster }) => cluster).toSorted();
  return (
    global?.service?.metadata.annotations?.[globalClustersAnnotation] === clusters.join(',') &&
    areSame(readyAddresses(global), ipsOf(exposed.filter(({ cluster }) => !lost.includes(cluster)))) &&
    areSame(notReadyAddresses(global), ipsOf(exposed.filter(({ cluster }) => lost.includes(cluster))))
  );
}

/** The addresses of all pods, as a set has them. */
export function netsOf({ pods }: Pick<Source, 'pods'>): ReadonlySet<string> {
  return new Set(pods.flatMap(({ ips }) => ips.map((ip) => `${ip}/${ip.includes(':') ? 128 : 32}`)));
}

/**
 * How many pods were ready in the moment that had the fewest, in that family of addresses which then had fewer.
 *
 * @throws {Error} if there were none, or no Service: callers were let down
 */
export function fewestReady(versions: readonly { readonly value: Mirror | undefined }[]): number {
  const counts = versions.flatMap(({ value }) =>
    (['IPv4', 'IPv6'] as const).map((family) => (value?.service === undefined ? 0 : readyAddresses(value, family).length)),
  );
  const fewest = Math.min(...counts);
  if (fewest === 0) throw new Error('there was a moment without a ready endpoint');
  return fewest;
}

const ipsOf = (sources: readonly Pick<Source, 'pods'>[]): readonly string[] =>
  sources.flatMap(({ pods }) => pods.flatMap(({ ips }) => ips));

/** Whether both have the same addresses, in any order; none of `wanted` is there twice. */
const areSame = (addresses: readonly string[], wanted: readonly string[]): boolean =>
  addresses.length === wanted.length && wanted.every((ip) => addresses.includes(ip));
