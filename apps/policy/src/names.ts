import { hash10, hash20, isDnsSubdomain } from '@kube-semaphore/naming';

/** Domains of the labels, oldest first: the first Go releases, and those from v0.1.4 on. */
export const labelDomains = ['semaphore.uw.systems', 'policy.semaphore.uw.io'] as const;

/** Which program writes a set: one of `managedByValues`. */
export const managedByLabel = 'managed-by';

/** The programs that have written sets, oldest first: the first Go releases, v0.1.2, and later ones. */
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

/** On a set, with `-clusterset-label`: the cluster's id in its ClusterSet (KEP-2149), for policies as in NPEP-311. */
export const clusterSetLabel = 'cluster.clusterset.k8s.io';

/**
 * Where Calico's own writers keep an object's labels and annotations when they store it as `crd.projectcalico.org/v1`. It
 * wins over the labels of the stored object.
 */
export const calicoMetadataAnnotation = 'projectcalico.org/metadata';

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
    suffixed: `${legalise(plain)}-${hash10(cluster, namespace, name)}`,
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
  return setKeyOfName(legalise(plainName(cluster, namespace, name)));
}

/** The key whose reconcile owns an object name: the name without the suffixes of `setNames` and `shardName`. */
export function setKeyOfName(objectName: string): string {
  // A plain name that ends like a suffix can itself get a suffix.
  return objectName.replace(/(?:-[0-9a-f]{10}(?:-s\d+)?)+$/, '');
}

/** Begins the keys of labels that every namespace of a remote has by our config: `remotes[].labels`. */
export const configLabelPrefix = `labels.${labelDomains[1]}/`;

/** Domain of the labels and annotations of companions, whatever domain the sets have. */
const COMPANION_DOMAIN = labelDomains[1];

/** On a companion: `semaphore-policy`. */
export const companionLabel = `${COMPANION_DOMAIN}/${managedByLabel}`;

/** On a companion: the remote that it lets in. */
export const companionClusterLabel = clusterLabel(COMPANION_DOMAIN);

/** On a companion: as a label `hash10` of the name of its NetworkPolicy, as an annotation the name itself. */
export const companionSourceKey = `${COMPANION_DOMAIN}/source`;

/** On a companion: which `metadata.generation` of its NetworkPolicy it was made from. */
export const companionGenerationAnnotation = `${COMPANION_DOMAIN}/source-generation`;

/** On a companion: a JSON array with one text for each of its rules, which names the peers. */
export const companionPeersAnnotation = `${COMPANION_DOMAIN}/peers`;

/** On the policy of a companion with groups: JSON of its direction and its rules, each with the name of its group. */
export const companionRulesAnnotation = `${COMPANION_DOMAIN}/rules`;

/** On a group of addresses: a hash that no other group has. */
export const companionPeerLabel = `${COMPANION_DOMAIN}/peer`;

/** The name of the group of one rule of a companion, and the value of its label. */
export function companionGroupName(
  namespace: string,
  companion: string,
  { text, ports }: { readonly text: string; readonly ports: readonly unknown[] },
): { readonly group: string; readonly peer: string } {
  const peer = hash20(namespace, companion, `${text} ${JSON.stringify(ports)}`);
  return { group: `${companion.slice(0, MAX_NAME - peer.length - 1).replace(/[.-]+$/, '')}-${peer}`, peer };
}

/** `<policy>-<remote>-<direction>-<hash20>`, and `-s<n>` for shard `n` >= 1; at most 253 characters. */
export function companionName(
  { policy, remote, direction }: { readonly policy: string; readonly remote: string; readonly direction: string },
  { shard, attempt }: { readonly shard: number; readonly attempt: number },
): string {
  const unique = hash20(policy, remote, attempt === 0 ? direction : `${direction}/${attempt}`);
  const suffix = `-${direction}-${unique}${shard === 0 ? '' : `-s${shard}`}`;
  const readable = legalise(`${policy}-${remote}`).slice(0, MAX_NAME - suffix.length);
  return `${readable.replace(/[.-]+$/, '')}${suffix}`;
}

/** At most so many characters in the name of an object. */
const MAX_NAME = 253;

function plainName(cluster: string, namespace: string, name: string): string {
  return `${cluster}-${namespace}-${name}`;
}

/** The nearest valid object name; a valid one stays as it is. */
function legalise(plain: string): string {
  return (
    plain
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      // A dot must be between letters or digits.
      .replaceAll(/[.-]{2,}/g, (run) => (run.includes('.') ? '-' : run))
      .replaceAll(/^[.-]+|[.-]+$/g, '')
  );
}
