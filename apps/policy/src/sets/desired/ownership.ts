import { labelDomains, managedByLabel, type StringMap } from '@kube-semaphore/network-policies';
import { managedByValues, setKey, setKeyOfName } from '../../names.ts';
import { domainsWith, type Identity, readOwner } from './labels.ts';

/**
 * Who owns a local GlobalNetworkSet.
 *
 * - `ours`: written by us or by a Go program, for a cluster of our config.
 * - `orphan`: likewise, but for a cluster that our config doesn't name. Another process may serve it, so it is counted and
 *   stays as it is.
 * - `foreign`: any other. It is never changed, and its name is taken. A user who removes `managed-by` takes the set over.
 */
export type Ownership =
  | { readonly kind: 'ours'; readonly cluster: string }
  | { readonly kind: 'orphan'; readonly cluster: string }
  | { readonly kind: 'foreign' };

const FOREIGN: Ownership = { kind: 'foreign' };

/** @param clusters those in our config */
export function classify(labels: StringMap, clusters: ReadonlySet<string>, identity: Identity): Ownership {
  if (!isOurWriter(labels, identity.managedBy)) return FOREIGN;
  const owner = readOwner(labels, domainsWith(identity.domain));
  if (owner === undefined) return FOREIGN;
  return { kind: clusters.has(owner.cluster) ? 'ours' : 'orphan', cluster: owner.cluster };
}

/** Whether `managed-by` names us or a Go program: a known value, or `configured`. */
export function isOurWriter(labels: StringMap, configured: string): boolean {
  const writer = labels[managedByLabel];
  return writer !== undefined && (writer === configured || (managedByValues as readonly string[]).includes(writer));
}

/**
 * The keys to reconcile when a set of ours comes, changes or goes, sorted: the key of its name, as only that reconcile may
 * change or delete it, and the key of the pair that its labels name. They differ only if someone edited the labels or
 * copied the set.
 */
export function keysOf(
  { name, labels }: { readonly name: string; readonly labels: StringMap },
  domains: readonly string[],
): readonly string[] {
  const keys = new Set([setKeyOfName(name)]);
  const pair = readOwner(labels, domains)?.pair;
  if (pair !== undefined) keys.add(setKey(pair.cluster, pair.namespace, pair.app));
  return [...keys].toSorted();
}

/**
 * The cluster of a set that kube-policy-semaphore v0.1.0 made; undefined for any other set. It is foreign: users' policies
 * select its labels, which no later release writes.
 */
export function clusterOfFirstRelease(labels: StringMap): string | undefined {
  const isLater = readOwner(labels, labelDomains) !== undefined;
  return labels[managedByLabel] === managedByValues[0] && !isLater ? labels['remote-cluster-name'] : undefined;
}
