import { hash10, isDnsSubdomain, nearestName } from '@kube-semaphore/naming';

/** The local cluster's name in metrics and logs, where remotes have their own. */
export const LOCAL = 'local';

/** The programs that have written sets, oldest first: the first Go releases, v0.1.2, and later ones. */
export const managedByValues = [
  'calico-global-network-sync-operator',
  'kube-policy-semaphore',
  'semaphore-policy',
] as const;

/** The object names that the sets of one (cluster, namespace, name) can have. */
export type SetNames = {
  /**
   * `<cluster>-<namespace>-<name>`, as in the Go programs; undefined if that is not a valid object name. Not unique: `a-b`
   * and `c`, `a` and `b-c`.
   */
  readonly plain: string | undefined;
  /** The legalised plain name and `-<hash10>`. Unique, except for a plain name that ends in the same hash. */
  readonly suffixed: string;
};

/**
 * The names for a cluster, namespace and name. All are label values, and `cluster` isn't empty, so the longest name has
 * about 210 of at most 253 characters.
 */
export function setNames(cluster: string, namespace: string, name: string): SetNames {
  const plain = plainName(cluster, namespace, name);
  return {
    plain: isDnsSubdomain(plain) ? plain : undefined,
    suffixed: `${nearestName(plain)}-${hash10(cluster, namespace, name)}`,
  };
}

/** The name of shard `n` >= 1. Shard 0 has the plain name, or the suffixed one if another set has the plain one. */
export function shardName({ suffixed }: SetNames, n: number): string {
  return `${suffixed}-s${n}`;
}

/** Which shard an object of this name is: 0 for the plain and the suffixed name; undefined if it can't be a shard. */
export function shardOf({ plain, suffixed }: SetNames, objectName: string): number | undefined {
  if (objectName === plain || objectName === suffixed) return 0;
  if (!objectName.startsWith(suffixed)) return undefined;
  const digits = /^-s([1-9]\d{0,6})$/.exec(objectName.slice(suffixed.length))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The key of a reconcile: often, but not always, the plain name. All pairs that could want one object name share a key, and
 * the reconcile of a key owns every name with that key (`setKeyOfName`), so that two reconciles never fight over an object.
 */
export function setKey(cluster: string, namespace: string, name: string): string {
  return setKeyOfName(nearestName(plainName(cluster, namespace, name)));
}

/** The key whose reconcile owns an object name: the name without the suffixes of `setNames` and `shardName`. */
export function setKeyOfName(objectName: string): string {
  // A plain name that ends like a suffix can itself get a suffix.
  return objectName.replace(/(?:-[0-9a-f]{10}(?:-s\d+)?)+$/, '');
}

function plainName(cluster: string, namespace: string, name: string): string {
  return `${cluster}-${namespace}-${name}`;
}
