import { labelDomains, managedByLabel, managedByValues, setKey, setKeyOfName } from '../names.ts';
import type { StringMap } from './string-map.ts';
import { domainsWith, type Identity, readOwner } from './labels.ts';

/**
 * Whose a local GlobalNetworkSet is. `ours`: written by us or a program before us, for a cluster of our config.
 * `orphan`: likewise, but for a cluster that our config doesn't name; perhaps another process serves it, so it is
 * reported and left alone. `foreign`: anything else; it is never touched, and its name is taken. A set whose
 * `managed-by` somebody removed is foreign: that is how a person takes one over.
 */
export type Ownership =
  | { readonly kind: 'ours'; readonly cluster: string }
  | { readonly kind: 'orphan'; readonly cluster: string }
  | { readonly kind: 'foreign' };

const FOREIGN: Ownership = { kind: 'foreign' };

/** @param clusters those that our config names */
export function classify(labels: StringMap, clusters: ReadonlySet<string>, identity: Identity): Ownership {
  if (!isOurWriter(labels, identity.managedBy)) return FOREIGN;
  const owner = readOwner(labels, domainsWith(identity.domain));
  if (owner === undefined) return FOREIGN;
  return { kind: clusters.has(owner.cluster) ? 'ours' : 'orphan', cluster: owner.cluster };
}

/** Whether `managed-by` names us or a program that we take over from: a value that is known, or `configured`. */
export function isOurWriter(labels: StringMap, configured: string): boolean {
  const writer = labels[managedByLabel];
  return writer !== undefined && (writer === configured || (managedByValues as readonly string[]).includes(writer));
}

/**
 * The keys to reconcile when a set of ours comes, changes or goes, sorted: that of its name, whose reconcile alone
 * may change or delete it, and that of the pair which its labels name. They differ only where somebody edited the
 * labels or made a copy by hand.
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
 * The cluster of a set that kube-policy-semaphore v0.1.0 made; undefined for any other. Such a set is foreign: users' policies
 * go by its labels, which no release after that writes.
 */
export function clusterOfFirstRelease(labels: StringMap): string | undefined {
  const isLater = readOwner(labels, labelDomains) !== undefined;
  return labels[managedByLabel] === managedByValues[0] && !isLater ? labels['remote-cluster-name'] : undefined;
}
