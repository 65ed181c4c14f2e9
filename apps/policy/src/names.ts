import { hash10 } from '@kube-semaphore/naming';
import { isDnsSubdomain } from '@kube-semaphore/naming';

/** Domains of the labels, oldest first: the first Go releases, and those from v0.1.4 on. */
export const labelDomains = ['semaphore.uw.systems', 'policy.semaphore.uw.io'] as const;

/** Carries one of `managedByValues`: who writes a set. */
export const managedByLabel = 'managed-by';

/** Who has written sets so far, oldest first: the first Go releases, v0.1.2, and later ones. */
export const managedByValues = [
  'calico-global-network-sync-operator',
  'kube-policy-semaphore',
  'semaphore-policy',
] as const;

/** On a Pod: which set of its namespace it is a member of. On a set: the same value. */
export const nameLabel = (domain: string): string => `${domain}/name`;

/** On a set: the namespace of its Pods. */
export const namespaceLabel = (domain: string): string => `${domain}/namespace`;

/** On a set: the cluster of its Pods. */
export const clusterLabel = (domain: string): string => `${domain}/cluster`;

/** On a set, if asked for: the cluster's id in its ClusterSet, by which NPEP-311 lets policies select (KEP-2149). */
export const clusterSetLabel = 'cluster.clusterset.k8s.io';

/**
 * Where Calico's own writers keep an object's labels and annotations when they store it as
 * `crd.projectcalico.org/v1`. It wins over the labels that the stored object has itself.
 */
export const calicoMetadataAnnotation = 'projectcalico.org/metadata';

/** The object names that the sets of one (cluster, namespace, name) may have. */
export type SetNames = {
  /**
   * `<cluster>-<namespace>-<name>`, as the Go programs have it; undefined where that is no object name. Others may
   * spell it too: `a-b` and `c`, `a` and `b-c`.
   */
  readonly plain: string | undefined;
  /** The legalised plain name and `-<hash10>`. Nobody else spells it but by a plain name that ends in our hash. */
  readonly suffixed: string;
};

/**
 * All inputs are label values, and `cluster` isn't empty: the longest name then has some 210 of the 253 characters
 * that a name may have.
 */
export function setNames(cluster: string, namespace: string, name: string): SetNames {
  const plain = plainName(cluster, namespace, name);
  return {
    plain: isDnsSubdomain(plain) ? plain : undefined,
    suffixed: `${legalise(plain)}-${hash10(cluster, namespace, name)}`,
  };
}

/** The name of shard `n` >= 1. Shard 0 has the plain name, or the suffixed one where that is another's. */
export function shardName({ suffixed }: SetNames, n: number): string {
  return `${suffixed}-s${n}`;
}

/** Which shard an object of this name would be: 0 for the plain and the suffixed name, undefined for foreign ones. */
export function shardOf({ plain, suffixed }: SetNames, objectName: string): number | undefined {
  if (objectName === plain || objectName === suffixed) return 0;
  if (!objectName.startsWith(suffixed)) return undefined;
  const digits = /^-s([1-9]\d{0,6})$/.exec(objectName.slice(suffixed.length))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The key of a reconcile. All pairs that could ever want one object name have one key, and whoever works a key owns
 * every name that it is the key of (`setKeyOfName`), so that two reconciles never fight over an object. Often, but
 * not always, the plain name.
 */
export function setKey(cluster: string, namespace: string, name: string): string {
  return setKeyOfName(legalise(plainName(cluster, namespace, name)));
}

/** The key whose reconcile owns an object name: the name without what `setNames` and `shardName` put behind it. */
export function setKeyOfName(objectName: string): string {
  // A plain name may itself end like a suffix, and then be suffixed.
  return objectName.replace(/(?:-[0-9a-f]{10}(?:-s\d+)?)+$/, '');
}

function plainName(cluster: string, namespace: string, name: string): string {
  return `${cluster}-${namespace}-${name}`;
}

/** The nearest object name; an object name itself is left as it is. */
function legalise(plain: string): string {
  return (
    plain
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      // A dot stands between letters or digits.
      .replaceAll(/[.-]{2,}/g, (run) => (run.includes('.') ? '-' : run))
      .replaceAll(/^[.-]+|[.-]+$/g, '')
  );
}
