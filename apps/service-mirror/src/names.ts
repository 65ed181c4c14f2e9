import { hash20 } from '@kube-semaphore/naming';
import { isDnsLabel, isLabelValue, isServiceName, MAX_LABEL } from '@kube-semaphore/naming';

/** Between namespace and name of what a local Service stands for. It can't change: CoreDNS rewrites depend on it. */
export const separator = '73736d';

/** What global Services have in the place of a prefix. */
const GLOBAL_PREFIX = 'gl';

/** What keys of global Services have in the place of a cluster, so that no cluster may be called so. */
export const GLOBAL = 'global';

/** `true` on a Service that stands for one of a remote cluster, and on its EndpointSlices. */
export const mirroredServiceLabel = 'mirrored-svc';

/** On a mirror Service and its EndpointSlices: the prefix, by which a remote's mirrors are found. */
export const mirrorPrefixLabel = 'mirror-svc-prefix-sync';

/** `true` on a Service that merges those of several clusters. */
export const globalServiceLabel = 'global-svc';

/** `true` on an EndpointSlice of a global Service. */
export const mirroredSliceLabel = 'mirrored-endpoint-slice';

/** On an EndpointSlice of a global Service: the cluster of its endpoints. */
export const mirrorClusterLabel = 'mirror-endpointslice-sync-name';

/** On a global Service: the clusters that take part, sorted, with commas between them. */
export const globalClustersAnnotation = 'global-svc-clusters';

/** On a global Service: the clusters whose definition differs from that which counts. */
export const globalConflictsAnnotation = 'global-svc-conflicts';

/** On everything of ours: `<cluster>/<namespace>/<name>` of what it was made from, as `mirrorKey` spells it. */
export const sourceAnnotation = 'mirror-svc-source';

/** `auto` makes kube-proxy 1.27 to 1.30 heed the zone hints of endpoints; the older key wins over the newer one. */
export const topologyHintsAnnotation = 'service.kubernetes.io/topology-aware-hints';
export const topologyModeAnnotation = 'service.kubernetes.io/topology-mode';

/** On an EndpointSlice: the Service that it belongs to. */
export const serviceNameLabel = 'kubernetes.io/service-name';

/** On an EndpointSlice: who writes it; Kubernetes' own controllers keep off those of others. */
export const sliceManagedByLabel = 'endpointslice.kubernetes.io/managed-by';

/** What `sliceManagedByLabel` says of ours. */
export const sliceManager = 'semaphore-service-mirror';

/** On an EndpointSlice: its Service is headless, and kube-proxy passes it over. */
export const headlessLabel = 'service.kubernetes.io/headless';

/** On a Node: where it is. */
export const zoneLabel = 'topology.kubernetes.io/zone';

/**
 * `<prefix>-<namespace>-73736d-<name>`, whether it is legal or not (`serviceNameProblem`). Several sources may spell
 * one name: `c2` and `a-b`, `c2-a` and `b`.
 */
export function mirrorServiceName(prefix: string, namespace: string, name: string): string {
  return `${prefix}-${namespace}-${separator}-${name}`;
}

/** `gl-<namespace>-73736d-<name>`, whether it is legal or not (`serviceNameProblem`). */
export function globalServiceName(namespace: string, name: string): string {
  return mirrorServiceName(GLOBAL_PREFIX, namespace, name);
}

/** A remote EndpointSlice, or one of the local cluster: its name, and where it is. */
export type SliceSource = { readonly cluster: string; readonly namespace: string; readonly slice: string };

/**
 * The name of the local EndpointSlice that stands for one slice of one cluster: no two of them share it, also where
 * their Services do. Legal if the local Service's name is: at most 84 of 253 characters. Older builds took
 * ten digits of the hash: their slices are found by their labels, and replaced.
 */
export function mirrorSliceName(serviceName: string, { cluster, namespace, slice }: SliceSource): string {
  return `${serviceName}-${hash20(cluster, namespace, slice)}`;
}

/** Why an object can't be called so. `excess`: by how many characters the name is too long. */
export type ServiceNameProblem =
  | { readonly reason: 'name-too-long'; readonly excess: number }
  | { readonly reason: 'name-illegal' };

/** What keeps a text from being a Service's name (a DNS-1035 label, at most 63 characters); undefined if nothing does. */
export function serviceNameProblem(text: string): ServiceNameProblem | undefined {
  if (isServiceName(text)) return undefined;
  return text.length > MAX_LABEL
    ? { reason: 'name-too-long', excess: text.length - MAX_LABEL }
    : { reason: 'name-illegal' };
}

/** Why a prefix can't be one, as the end of a sentence that begins with its name; undefined if it can. */
export function prefixProblem(prefix: string): string | undefined {
  if (prefix === GLOBAL_PREFIX || prefix.startsWith(`${GLOBAL_PREFIX}-`)) return 'is that of global services';
  const problem = serviceNameProblem(mirrorServiceName(prefix, 'a', 'a'));
  if (problem === undefined) return undefined;
  if (problem.reason === 'name-too-long')
    return `leaves no room for a name, it is ${problem.excess} characters too long`;
  return 'must begin with a letter and consist of lower case letters, digits and hyphens';
}

/** What one reconcile is for: the mirror of one Service, or the global Service of one namespace and name. */
export type ServiceKey =
  | { readonly kind: 'mirror'; readonly cluster: string; readonly namespace: string; readonly name: string }
  | { readonly kind: 'global'; readonly namespace: string; readonly name: string };

/** `c2/ns/name`. `cluster` is a label value, and not `global`. Sources, also EndpointSlices, are spelled the same way. */
export function mirrorKey(cluster: string, namespace: string, name: string): string {
  return `${cluster}/${namespace}/${name}`;
}

/** `global/ns/name`. */
export function globalKey(namespace: string, name: string): string {
  return mirrorKey(GLOBAL, namespace, name);
}

/** Reads what `mirrorKey` or `globalKey` made; undefined for anything else, as an annotation may hold. */
export function parseServiceKey(key: string): ServiceKey | undefined {
  const [cluster = '', namespace = '', name = '', ...rest] = key.split('/');
  const isKey =
    cluster !== '' && isLabelValue(cluster) && isDnsLabel(namespace) && isDnsLabel(name) && rest.length === 0;
  if (!isKey) return undefined;
  return cluster === GLOBAL ? { kind: 'global', namespace, name } : { kind: 'mirror', cluster, namespace, name };
}
