import type { ClusterOrder, Term } from './order.ts';

/** The properties of a cluster, by name. */
export type ClusterProperties = ReadonlyMap<string, string>;

/** All clusters of the config. */
export type KnownClusters = {
  /** The name of the local one. */
  readonly local: string;
  /** By cluster; one without properties may be missing. */
  readonly properties: ReadonlyMap<string, ClusterProperties>;
  /** Those that have not said yet which properties they have. Default: none. */
  readonly unread?: ReadonlySet<string>;
};

/**
 * The level of each cluster, by its place in the order; without those that no level has, which get no traffic. One that may
 * still have a property of the order is in the last level that names one.
 */
export function levelsOf(
  order: ClusterOrder,
  clusters: Iterable<string>,
  known: KnownClusters,
): ReadonlyMap<string, number> {
  const others = order.findIndex(({ terms }) => terms.some(({ kind }) => kind === 'others'));
  const last = order.findLastIndex(({ terms }) => terms.some((term) => 'property' in term));
  const levels = new Map<string, number>();
  for (const cluster of clusters) {
    const named = order.findIndex(({ terms }) => terms.some((term) => names(term, cluster, known)));
    const unnamed = others === -1 && known.unread?.has(cluster) === true ? last : others;
    const level = named === -1 ? unnamed : named;
    if (level !== -1) levels.set(cluster, level);
  }
  return levels;
}

/** The properties in an order that match no cluster, whatever the value: each once, in the order's order. */
export function unknownProperties(order: ClusterOrder, { local, properties }: KnownClusters): readonly string[] {
  const [here, all] = [properties.get(local), [...properties.values()]];
  const isUnknown = (term: Term): boolean =>
    (term.kind === 'same' && here?.has(term.property) !== true) ||
    (term.kind === 'property' && !all.some((each) => each.has(term.property)));
  const terms = order.flatMap((level) => level.terms).filter(isUnknown);
  return [...new Set(terms.flatMap((term) => ('property' in term ? [term.property] : [])))];
}

function names(term: Term, cluster: string, { local, properties }: KnownClusters): boolean {
  switch (term.kind) {
    case 'local':
      return cluster === local;
    case 'cluster':
      return cluster === term.cluster;
    case 'property':
      return properties.get(cluster)?.get(term.property) === term.value;
    case 'same': {
      const value = properties.get(local)?.get(term.property);
      return value !== undefined && properties.get(cluster)?.get(term.property) === value;
    }
    case 'others':
      return false;
  }
}
