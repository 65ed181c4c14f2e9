import { compareText } from '@kube-semaphore/naming';
import {
  clusterLabel,
  clusterSetLabel,
  labelDomains,
  managedByLabel,
  nameLabel,
  namespaceLabel,
  type StringMap,
} from '@kube-semaphore/network-policies';

/** Under which labels sets are written. */
export type Identity = {
  readonly domain: string;
  /** The value of `managed-by`. */
  readonly managedBy: string;
  /** Whether sets also have the label `cluster.clusterset.k8s.io`. */
  readonly clusterSet?: boolean;
};

/** What a set is for: a cluster, the namespace of its Pods, and the value of their name label. */
export type Pair = { readonly cluster: string; readonly namespace: string; readonly app: string };

/** What the labels of a set say. `pair` is undefined without both labels of a pair. */
export type Owner = { readonly domain: string; readonly cluster: string; readonly pair: Pair | undefined };

/** All labels that we give a set. The id in the ClusterSet comes from our config, never from the remote. */
export function setLabels(
  { domain, managedBy, clusterSet = false }: Identity,
  { cluster, namespace, app }: Pair,
): StringMap {
  return {
    [managedByLabel]: managedBy,
    [nameLabel(domain)]: app,
    [namespaceLabel(domain)]: namespace,
    [clusterLabel(domain)]: cluster,
    ...(clusterSet && { [clusterSetLabel]: cluster }),
  };
}

/**
 * The labels of a set that others set. Ours are those by which sets are owned, of any domain, and all others of the known domains:
 * policies of companions select groups by one.
 *
 * @param domains as of `readOwner`
 */
export function labelsOfOthers(labels: StringMap, domains: readonly string[]): StringMap {
  const own = new Set([
    managedByLabel,
    clusterSetLabel,
    ...domains.flatMap((domain) => [nameLabel(domain), namespaceLabel(domain), clusterLabel(domain)]),
  ]);
  const isOurs = (key: string): boolean => own.has(key) || labelDomains.some((domain) => key.startsWith(`${domain}/`));
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !isOurs(key)));
}

/** The domains under which labels are read: the known ones, then the `configured` one if it differs. */
export function domainsWith(configured: string): readonly string[] {
  return [...new Set([...labelDomains, configured])];
}

/**
 * Reads a set's labels. If several domains name a cluster, the first one counts, so that two processes never both own the
 * set.
 *
 * @param domains under which labels are read, in order of precedence: `domainsWith`
 */
export function readOwner(labels: StringMap, domains: readonly string[]): Owner | undefined {
  for (const domain of domains) {
    const cluster = labels[clusterLabel(domain)];
    if (cluster === undefined) continue;
    const namespace = labels[namespaceLabel(domain)];
    const app = labels[nameLabel(domain)];
    return {
      domain,
      cluster,
      pair: namespace === undefined || app === undefined ? undefined : { cluster, namespace, app },
    };
  }
  return undefined;
}

/** Orders pairs by namespace, name and cluster, by code units, so not by locale. */
export function comparePairs(a: Pair, b: Pair): number {
  return compareText(a.namespace, b.namespace) || compareText(a.app, b.app) || compareText(a.cluster, b.cluster);
}

/** One text per pair: no part contains a slash. */
export const pairText = ({ cluster, namespace, app }: Pair): string => `${cluster}/${namespace}/${app}`;
