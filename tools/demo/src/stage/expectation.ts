import { clusterLabel, labelDomains, nameLabel, namespaceLabel } from '@kube-semaphore/naming';
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

/** The addresses of all pods, as a set has them. */
export function netsOf({ pods }: Pick<Source, 'pods'>): ReadonlySet<string> {
  return new Set(pods.flatMap(({ ips }) => ips.map((ip) => `${ip}/${ip.includes(':') ? 128 : 32}`)));
}
