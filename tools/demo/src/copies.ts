import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { clusterLabel, labelDomains, nameLabel, namespaceLabel } from '@kube-semaphore/network-policies';
import { globalClustersAnnotation, sourceAnnotation } from '@kube-semaphore/service-mirror/names';
import { table } from './text/table.ts';
import type { Workload } from './workload.ts';

/** The objects for a remote workload: a set, or a mirror or global Service with its EndpointSlices. */
export type Copy = readonly KubeObject[];

/** The content of a copy: its source, and its addresses, sorted. */
export type Content = {
  readonly source: string | undefined;
  readonly ready: readonly string[];
  readonly notReady: readonly string[];
};

/** The copy that a cluster should have under a name; `content` reads the workloads when it is called. */
export type Expected = { readonly name: string; readonly content: () => Content | undefined };

type Endpoint = { readonly addresses: readonly string[]; readonly conditions: { readonly ready?: boolean } };

const [domain] = labelDomains;
const isSlice = (object: KubeObject): boolean => 'addressType' in object;

const nothing: KubeObject = { apiVersion: '', kind: '', metadata: { name: '' } };

/** The set or the Service of a copy, without its EndpointSlices. An object without content if there isn't one. */
export const mainOf = (copy: Copy): KubeObject => copy.find((object) => !isSlice(object)) ?? nothing;

/** The objects of a copy, from all objects of a cluster. */
export const partOf = (objects: readonly KubeObject[], name: string): Copy =>
  objects.filter(({ metadata }) => (metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name) === name);

/** @returns undefined if there is nothing */
export function contentOf(copy: Copy): Content | undefined {
  if (copy.length === 0) return undefined;
  const { metadata, ...main } = mainOf(copy);
  const { labels = {}, annotations = {} } = metadata;
  const { nets } = (main['spec'] ?? {}) as { readonly nets?: readonly string[] };
  const labelled = [clusterLabel, namespaceLabel, nameLabel].map((label) => labels[label(domain)]).join('/');
  const source = nets ? labelled : (annotations[globalClustersAnnotation] ?? annotations[sourceAnnotation]);
  return { source, ready: (nets ?? addressesOf(copy, true)).toSorted(), notReady: addressesOf(copy, false).toSorted() };
}

/** The set of a workload in other clusters; no set without pods. */
export const setOf = (workload: Pick<Workload, 'setName' | 'id' | 'pods'>): Expected => ({
  name: workload.setName,
  content: () => contentFrom(workload.pods[0] && workload.id, netsOf(workload.pods)),
});

/** The mirror of its Service; no mirror without a Service. */
export const mirrorOf = (workload: Pick<Workload, 'mirrorName' | 'id' | 'label' | 'pods'>): Expected => ({
  name: workload.mirrorName,
  content: () => contentFrom(workload.label && workload.id, ipsOf(workload.pods)),
});

type Member = Pick<Workload, 'globalName' | 'cluster' | 'label' | 'pods'>;

/** The global Service of workloads with one name. Pods of lost clusters are not ready. */
export const globalOf = (members: readonly [Member, ...Member[]], lost: readonly string[] = []): Expected => ({
  name: members[0].globalName,
  content: () => {
    const exposed = members.filter(({ label }) => label !== undefined);
    const clusters = exposed
      .map(({ cluster }) => cluster)
      .toSorted()
      .join(',');
    const groups = Object.groupBy(exposed, ({ cluster }) => (lost.includes(cluster) ? 'lost' : 'seen'));
    const ips = (group: readonly Member[] = []) => group.flatMap(({ pods }) => ipsOf(pods));
    return contentFrom(clusters || undefined, ips(groups.seen), ips(groups.lost));
  },
});

/**
 * The smallest number of ready pods over time, in the address family that had fewer.
 *
 * @throws {Error} if it is 0, or the Service was missing: calls were refused
 */
export function fewestReady(versions: readonly { readonly copy: Copy }[]): number {
  const counts = versions.flatMap(({ copy }) => {
    const v6 = addressesOf(copy, true).filter((ip) => ip.includes(':')).length;
    return mainOf(copy) === nothing ? 0 : [v6, addressesOf(copy, true).length - v6];
  });
  const fewest = Math.min(...counts);
  if (fewest === 0) throw new Error('the Service had no ready endpoint for a moment');
  return fewest;
}

/** The EndpointSlices of a copy with their addresses, as lines, sorted by name. */
export function sliceLines(copy: Copy): string[] {
  const slices = copy.filter(isSlice).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const textOf = (slice: KubeObject) =>
    [...addressesOf([slice], true), ...addressesOf([slice], false).map((ip) => `${ip} (not ready)`)].join(', ');
  return table(slices.map((slice) => [slice.metadata.name, textOf(slice)]));
}

/** The addresses in all slices that are ready, or that aren't. */
function addressesOf(copy: Copy, areReady: boolean): string[] {
  const endpoints = copy.filter(isSlice).flatMap((slice) => (slice['endpoints'] ?? []) as readonly Endpoint[]);
  // Consumers treat an unknown `ready` as true.
  const wanted = endpoints.filter(({ conditions }) => (conditions.ready !== false) === areReady);
  return wanted.flatMap(({ addresses }) => addresses);
}

const contentFrom = (source: string | undefined, ready: readonly string[], notReady: readonly string[] = []) =>
  source === undefined ? undefined : { source, ready: ready.toSorted(), notReady: notReady.toSorted() };

type Pods = Workload['pods'];
const ipsOf = (pods: Pods): readonly string[] => pods.flatMap(({ ips }) => ips);
const netsOf = (pods: Pods): readonly string[] => ipsOf(pods).map((ip) => `${ip}/${ip.includes(':') ? 128 : 32}`);
