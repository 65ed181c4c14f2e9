import { clusterLabel, labelDomains, nameLabel, namespaceLabel } from '@kube-semaphore/naming';
import { type Mirror, readyAddresses } from './mirror-watch.ts';
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
  const wanted = pods.flatMap(({ ips }) => ips);
  const ready = readyAddresses(mirror);
  return mirror?.service !== undefined && ready.length === wanted.length && wanted.every((ip) => ready.includes(ip));
}

/** The addresses of all pods, as a set has them. */
export function netsOf({ pods }: Pick<Source, 'pods'>): ReadonlySet<string> {
  return new Set(pods.flatMap(({ ips }) => ips.map((ip) => `${ip}/${ip.includes(':') ? 128 : 32}`)));
}

/**
 * How many pods were ready in the moment that had the fewest, in that family of addresses which then had fewer.
 *
 * @throws {Error} if there were none: callers were let down
 */
export function fewestReady(versions: readonly { readonly value: Mirror | undefined }[]): number {
  const counts = versions.flatMap(({ value }) => (['IPv4', 'IPv6'] as const).map((family) => readyAddresses(value, family).length));
  const fewest = Math.min(...counts);
  if (fewest === 0) throw new Error('there was a moment without a ready endpoint');
  return fewest;
}
