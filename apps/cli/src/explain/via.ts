import type { EndpointSlice, Service, ServiceImport } from '@kube-semaphore/kube-objects';
import {
  derivedServiceNames,
  globalClustersAnnotation,
  globalServiceName,
  importClusterLabel,
  importNameLabel,
  mirrorClusterLabel,
  mirrorKey,
  mirrorPrefixLabel,
  mirrorServiceName,
  serviceNameLabel,
  sourceAnnotation,
} from '@kube-semaphore/service-mirror/names';
import type { Read } from '../clusters/objects.ts';
import { type Facts, namesOf, remoteOf, type SideFacts, statusesOf } from './facts.ts';
import type { Zone } from './words.ts';

/** What a Pod here calls to reach a Service there. */
export type Via = {
  readonly zone: Zone;
  readonly dnsName: string;
  /** `Service sys-semaphore/c2-shop-73736d-web`. */
  readonly object: string;
  readonly namespace: string;
  readonly name: string;
  /** Whether CoreDNS finds it by a rule; a ServiceImport is found by the plugin multicluster. */
  readonly hasRule: boolean;
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  /** What its slices have, as a label selector. */
  readonly slices: string;
};

type Asked = Pick<Facts, 'to' | 'here' | 'there' | 'services' | 'serviceImport'>;

/** The mirror of the destination here, else its global Service, else its ServiceImport; undefined if all three are missing. */
export function viaOf({ to, here, there, services, serviceImport }: Asked): Read<Via | undefined> {
  if (!services.known) return services;
  const names = [...new Set([...namesOf(there), there.cluster])];
  const prefixes = statusesOf(here, 'semaphore-service-mirror').flatMap(
    (status) => remoteOf(status, there)?.config.servicePrefix ?? [],
  );
  const mirrorNames = [...names, ...prefixes].map((prefix) => mirrorServiceName(prefix, to.namespace, to.name));
  const sources = names.map((name) => mirrorKey(name, to.namespace, to.name));
  const find = (zone: 'mirror' | 'global'): Via | undefined => {
    if (to.zone !== undefined && to.zone !== zone) return undefined;
    const service = services.value.find(zone === 'mirror' ? isMirror : isGlobal);
    if (service === undefined) return undefined;
    const { namespace, name, labels } = service.metadata;
    const object = `Service ${namespace}/${name}`;
    const domain = zone === 'global' ? 'global' : (labels[mirrorPrefixLabel] ?? there.cluster);
    const dnsName = `${to.name}.${to.namespace}.svc.cluster.${domain}`;
    const slices = `${serviceNameLabel}=${name}`;
    return { zone, dnsName, object, namespace, name, hasRule: true, ports: service.spec.ports, slices };
  };
  const isMirror = ({ metadata: { name, annotations } }: Service): boolean => {
    const source = annotations[sourceAnnotation];
    return source === undefined ? mirrorNames.includes(name) : sources.includes(source);
  };
  const isGlobal = ({ metadata: { name, annotations } }: Service): boolean => {
    const clusters = annotations[globalClustersAnnotation]?.split(',') ?? [];
    return name === globalServiceName(to.namespace, to.name) && names.some((each) => clusters.includes(each));
  };
  const value = find('mirror') ?? find('global');
  if (value !== undefined || (to.zone !== undefined && to.zone !== 'import')) return { known: true, value };
  // Without any, only a known import is one that doesn't exist.
  if (!serviceImport.known) return serviceImport;
  const isOfThere = serviceImport.value?.status.clusters.some(({ cluster }) => names.includes(cluster));
  return isOfThere === true ? viaOfImport(serviceImport.value!, here) : { known: true, value: undefined };
}

function viaOfImport(
  { metadata: { namespace, name }, spec: { ports }, status }: ServiceImport,
  here: SideFacts,
): Read<Via> {
  const dnsName = `${name}.${namespace}.svc.clusterset.local`;
  const object = `ServiceImport ${namespace}/${name}`;
  const via = { zone: 'import', dnsName, object, namespace, name, ports } as const;
  if (status.endpointSliceObjects !== 'Absent')
    return { known: true, value: { ...via, hasRule: false, slices: `${importNameLabel}=${name}` } };
  const [mirrorNamespace] = statusesOf(here, 'semaphore-service-mirror').flatMap(
    ({ config }) => config.mirrorNamespace ?? [],
  );
  if (mirrorNamespace === undefined)
    return { known: false, why: `${object}: no semaphore-service-mirror says in which namespace its Service is` };
  const names = derivedServiceNames({ namespace, name }, { isBeside: false });
  const [derived] = names;
  const slices = `${serviceNameLabel} in (${names.join(',')})`;
  const byService = { object: `${object}, by Service ${mirrorNamespace}/${derived}`, namespace: mirrorNamespace };
  return { known: true, value: { ...via, ...byService, name: derived, hasRule: true, slices } };
}

/** Whether the endpoints of a slice are of the cluster. */
export function isSliceOf(slice: EndpointSlice, { zone }: Via, names: readonly string[]): boolean {
  if (zone === 'mirror') return true;
  const label = zone === 'global' ? mirrorClusterLabel : importClusterLabel;
  return names.includes(slice.metadata.labels[label] ?? '');
}
