import { labelDomains, managedByLabel, type StringMap } from '@kube-semaphore/network-policies';
import { managedByValues, setKey, setKeyOfName } from '../../names.ts';
import { domainsWith, type Identity, readOwner } from './labels.ts';

/**
 * The cluster of a local GlobalNetworkSet that is ours: written by us or by a Go program. If our config lacks the cluster, the
 * set is an orphan: another process may serve it, so it is counted and stays as it is.
 *
 * @returns undefined if it isn't ours: it is never changed, and its name is taken. A user who removes `managed-by` takes the
 *   set over
 */
export function clusterOf(labels: StringMap, identity: Identity): string | undefined {
  if (!isOurWriter(labels, identity.managedBy)) return undefined;
  return readOwner(labels, domainsWith(identity.domain))?.cluster;
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
