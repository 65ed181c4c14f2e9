import { clusterLabel, clusterSetLabel, labelDomains, managedByLabel, nameLabel, namespaceLabel } from '../names.ts';
import type { StringMap } from './string-map.ts';

/** Under which names we write: the domain of the labels, and the value of `managed-by`. */
export type Identity = {
  readonly domain: string;
  readonly managedBy: string;
  /** Whether sets also carry their cluster's id in its ClusterSet. */
  readonly clusterSet?: boolean;
};

/** What a set is for: a cluster, the namespace of its Pods, and the value of their name label. */
export type Pair = { readonly cluster: string; readonly namespace: string; readonly app: string };

/** Whose a set is, as its labels say. Without both labels of the pair, `pair` is undefined. */
export type Owner = { readonly domain: string; readonly cluster: string; readonly pair: Pair | undefined };

/** All labels of a set. The id in the ClusterSet comes from our config, never from the remote. */
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

/** The domains that count when labels are read: the known ones, then the `configured` one, if it is another. */
export function domainsWith(configured: string): readonly string[] {
  return [...new Set([...labelDomains, configured])];
}

/**
 * Reads a set's labels. Where several domains name a cluster, the first of `domains` counts, so that two processes
 * never both take the set for theirs.
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

/** Orders pairs by namespace, name and cluster, code unit by code unit, as every locale does. */
export function comparePairs(a: Pair, b: Pair): number {
  return compareText(a.namespace, b.namespace) || compareText(a.app, b.app) || compareText(a.cluster, b.cluster);
}

/** One text per pair; a label value holds no slash. */
export const pairText = ({ cluster, namespace, app }: Pair): string => `${cluster}/${namespace}/${app}`;

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
