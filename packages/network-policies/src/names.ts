import { hash20, nearestName } from '@kube-semaphore/naming';

/** Domains of the labels, oldest first: the first Go releases, and those from v0.1.4 on. */
export const labelDomains = ['semaphore.uw.systems', 'policy.semaphore.uw.io'] as const;

/** Which program writes a set: one of `managedByValues`. */
export const managedByLabel = 'managed-by';

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
  const readable = nearestName(`${policy}-${remote}`).slice(0, MAX_NAME - suffix.length);
  return `${readable.replace(/[.-]+$/, '')}${suffix}`;
}

/** At most so many characters in the name of an object. */
const MAX_NAME = 253;
