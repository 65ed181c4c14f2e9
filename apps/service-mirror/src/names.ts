import { base32Hash16, hash20, isDnsLabel, isLabelValue, isServiceName, MAX_LABEL } from '@kube-semaphore/naming';

/** Between namespace and name in the name of a local Service. It must not change: CoreDNS rewrites depend on it. */
export const separator = '73736d';

/** The prefix of global Services. */
const GLOBAL_PREFIX = 'gl';

/** The prefix of the Services of ServiceImports, in the mirror namespace. */
const IMPORT_PREFIX = 'mcs';

/** The cluster in keys of global Services: no real cluster may have this name. */
export const GLOBAL = 'global';

/** The cluster in keys of ServiceImports: no cluster can have this name. */
export const IMPORT = '@import';

/** `true` on a mirror Service and its EndpointSlices. */
export const mirroredServiceLabel = 'mirrored-svc';

/** On a mirror Service and its EndpointSlices: the prefix of the remote. */
export const mirrorPrefixLabel = 'mirror-svc-prefix-sync';

/** `true` on a global Service. */
export const globalServiceLabel = 'global-svc';

/** `true` on an EndpointSlice of a global Service. */
export const mirroredSliceLabel = 'mirrored-endpoint-slice';

/** On an EndpointSlice of a global Service: the cluster of its endpoints. */
export const mirrorClusterLabel = 'mirror-endpointslice-sync-name';

/** On a global Service: the clusters that have a part in it, sorted, separated by commas. */
export const globalClustersAnnotation = 'global-svc-clusters';

/** On a global Service: the clusters whose definition is overruled. */
export const globalConflictsAnnotation = 'global-svc-conflicts';

/** On a Service that is merged, and on the global Service: which clusters answer, the best first. */
export const clusterOrderAnnotation = 'semaphore.uw.io/cluster-order';

/** Beside `clusterOrderAnnotation`: how many endpoints of a level must be ready. */
export const minReadyAnnotation = 'semaphore.uw.io/min-ready';

/** `true` on an EndpointSlice of ours with endpoints that are ready, but for use only if no other is: they seem to terminate. */
export const standbyAnnotation = 'mirror-svc-standby';

/** The ConfigMap in the mirror namespace whose keys are the clusters that operators drained. */
export const drainsName = 'semaphore-drains';

/** What is used of each text in it, which goes to a page and to logs. */
export const MOST_DRAIN_CHARACTERS = 1_024;

/** On every object of ours: `<cluster>/<namespace>/<name>` of its source, as in `mirrorKey`. */
export const sourceAnnotation = 'mirror-svc-source';

/** `auto` makes kube-proxy 1.27 to 1.30 use the zone hints of endpoints; the older key overrides the newer one. */
export const topologyHintsAnnotation = 'service.kubernetes.io/topology-aware-hints';
export const topologyModeAnnotation = 'service.kubernetes.io/topology-mode';

/** On a Service or ServiceExport: the clusters that should use it, separated by commas. Without it: all. */
export const exportToAnnotation = 'semaphore.uw.io/export-to';

/** On an EndpointSlice: the Service that it belongs to. */
export const serviceNameLabel = 'kubernetes.io/service-name';

/** On an EndpointSlice: who writes it. Kubernetes' own controllers don't touch those of others. */
export const sliceManagedByLabel = 'endpointslice.kubernetes.io/managed-by';

/** The value of `sliceManagedByLabel` on our slices. */
export const sliceManager = 'semaphore-service-mirror';

/** On an EndpointSlice: its Service is headless, so kube-proxy ignores it. */
export const headlessLabel = 'service.kubernetes.io/headless';

/** On an EndpointSlice of a ServiceImport, and on a derived Service: the import's name. */
export const importNameLabel = 'multicluster.kubernetes.io/service-name';

/** On an EndpointSlice of a ServiceImport: the cluster of its endpoints. */
export const importClusterLabel = 'multicluster.kubernetes.io/source-cluster';

/** On a ServiceImport: the Service in its namespace that has its address. Gateway controllers route to it. */
export const derivedServiceAnnotation = 'multicluster.kubernetes.io/derived-service';

/** On a ServiceImport: the keys of its labels, and of its annotations, that are from exports; sorted, separated by commas. */
export const exportedLabelsAnnotation = 'mirror-svc-exported-labels';
export const exportedAnnotationsAnnotation = 'mirror-svc-exported-annotations';

/** On a ServiceImport and its derived Service: who writes it. One without our value is never changed. */
export const managedByLabel = 'app.kubernetes.io/managed-by';

/** On a Node: its zone. */
export const zoneLabel = 'topology.kubernetes.io/zone';

/**
 * `<prefix>-<namespace>-73736d-<name>`, whether it is legal or not (`serviceNameProblem`). Several sources may have one
 * name: `c2` and `a-b`, `c2-a` and `b`.
 */
export function mirrorServiceName(prefix: string, namespace: string, name: string): string {
  return `${prefix}-${namespace}-${separator}-${name}`;
}

/** `gl-<namespace>-73736d-<name>`, whether it is legal or not (`serviceNameProblem`). */
export function globalServiceName(namespace: string, name: string): string {
  return mirrorServiceName(GLOBAL_PREFIX, namespace, name);
}

/** An EndpointSlice of a remote cluster or of the local one. */
export type SliceSource = { readonly cluster: string; readonly namespace: string; readonly slice: string };

/**
 * The name of the local EndpointSlice for one slice of one cluster. Each slice has its own name, also if Services share
 * one. It is legal if the local Service's name is: at most 84 of 253 characters. Older builds used ten digits of the hash;
 * their slices are found by their labels, and replaced.
 */
export function mirrorSliceName(serviceName: string, { cluster, namespace, slice }: SliceSource): string {
  return `${serviceName}-${hash20(cluster, namespace, slice)}`;
}

/**
 * The names that the Service with the address of a ServiceImport may have. A new one gets the first. Beside the import it is
 * `derived-` and 16 digits of a hash. In the mirror namespace it is `mcs-<namespace>-73736d-<name>`, so that CoreDNS can rewrite
 * to it; or the other one, if that isn't legal, or could be of another import, too: a remote could take the name. Older builds used
 * ten digits, as mcs-api's own controller does, of which an attacker finds two names with one hash. Such a Service keeps its name,
 * for an import keeps its address.
 */
export function derivedServiceNames(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { isBeside }: { readonly isBeside: boolean },
): readonly [string, ...string[]] {
  const readable = mirrorServiceName(IMPORT_PREFIX, namespace, name);
  const isUnique = hasOnce(`${namespace}-${separator}-${name}`, `-${separator}-`);
  if (!isBeside && isUnique && serviceNameProblem(readable) === undefined) return [readable];
  const hash = base32Hash16(namespace, name);
  return [`derived-${hash}`, `derived-${hash.slice(0, 10)}`];
}

const hasOnce = (text: string, part: string): boolean => text.indexOf(part) === text.lastIndexOf(part);

/** Whether a mirror with this prefix may have the name of an import's Service in the mirror namespace. */
export const takesImportNames = (prefix: string): boolean => `${prefix}-`.startsWith(`${IMPORT_PREFIX}-`);

/** Whether a namespace may have imports, by `mcs.namespaces`. Those of Kubernetes have to be named: a remote could take names in them. */
export const isAllowedNamespace = (
  { namespaces }: { readonly namespaces?: readonly string[] | undefined },
  name: string,
): boolean => (namespaces === undefined ? name !== 'default' && !name.startsWith('kube-') : namespaces.includes(name));

/** Why a name isn't legal. `excess`: by how many characters it is too long. */
export type ServiceNameProblem =
  | { readonly reason: 'name-too-long'; readonly excess: number }
  | { readonly reason: 'name-illegal' };

/** Why a text isn't a legal Service name (a DNS-1035 label of at most 63 characters); undefined if it is. */
export function serviceNameProblem(text: string): ServiceNameProblem | undefined {
  if (isServiceName(text)) return undefined;
  return text.length > MAX_LABEL
    ? { reason: 'name-too-long', excess: text.length - MAX_LABEL }
    : { reason: 'name-illegal' };
}

/** Why a prefix isn't legal, as the end of a sentence that begins with it; undefined if it is. */
export function prefixProblem(prefix: string): string | undefined {
  if (prefix === GLOBAL_PREFIX || prefix.startsWith(`${GLOBAL_PREFIX}-`)) return 'is reserved for global services';
  const problem = serviceNameProblem(mirrorServiceName(prefix, 'a', 'a'));
  if (problem === undefined) return undefined;
  if (problem.reason === 'name-too-long') return `is ${problem.excess} characters too long to leave room for a name`;
  return 'must begin with a letter and consist of lower case letters, digits and hyphens';
}

/** The subject of a reconcile: the mirror of one Service, or the global Service of one namespace and name. */
export type ServiceKey =
  | { readonly kind: 'mirror'; readonly cluster: string; readonly namespace: string; readonly name: string }
  | { readonly kind: 'global'; readonly namespace: string; readonly name: string };

/** `c2/ns/name`. `cluster` is a label value, and not `global`. Source annotations, also of slices, have the same form. */
export function mirrorKey(cluster: string, namespace: string, name: string): string {
  return `${cluster}/${namespace}/${name}`;
}

/** `global/ns/name`. */
export function globalKey(namespace: string, name: string): string {
  return mirrorKey(GLOBAL, namespace, name);
}

/** `@import/ns/name`. */
export function importKey(namespace: string, name: string): string {
  return mirrorKey(IMPORT, namespace, name);
}

/** The namespace and name in the result of `importKey`; undefined for any other key. */
export function parseImportKey(key: string): { readonly namespace: string; readonly name: string } | undefined {
  const [kind, namespace = '', name = '', ...rest] = key.split('/');
  return kind === IMPORT && isDnsLabel(namespace) && isDnsLabel(name) && rest.length === 0
    ? { namespace, name }
    : undefined;
}

/** Parses the result of `mirrorKey` or `globalKey`; undefined for anything else that an annotation may contain. */
export function parseServiceKey(key: string): ServiceKey | undefined {
  const [cluster = '', namespace = '', name = '', ...rest] = key.split('/');
  const isKey =
    cluster !== '' && isLabelValue(cluster) && isDnsLabel(namespace) && isDnsLabel(name) && rest.length === 0;
  if (!isKey) return undefined;
  return cluster === GLOBAL ? { kind: 'global', namespace, name } : { kind: 'mirror', cluster, namespace, name };
}
