import type { EndpointSlice, Service } from '@kube-semaphore/kube-objects';
import {
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
import { type Facts, namesOf, remoteOf, statusesOf } from './facts.ts';
import type { Zone } from './words.ts';

/** What a Pod here calls to reach a Service there. */
export type Via = {
  readonly zone: Zone;
  readonly dnsName: string;
  /** `Service sys-semaphore/c2-shop-73736d-web`. */
  readonly object: string;
  readonly namespace: string;
  readonly name: string;
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  /** What its slices have, as a label selector. */
  readonly slices: string;
};

type Asked = Pick<Facts, 'to' | 'here' | 'there' | 'services' | 'serviceImport'>;

/** The mirror of the destination here, else its global Service, else its ServiceImport; undefined if it has none of them. */
export function viaOf({ to, here, there, services, serviceImport }: Asked): Read<Via | undefined> {
  if (!services.known) return services;
  const names = [...new Set([...namesOf(there), there.cluster])];
  const prefixes = statusesOf(here, 'semaphore-service-mirror').flatMap(
    (status) => remoteOf(status, there)?.config.servicePrefix ?? [],
  );
  const mirrorNames = [...names, ...prefixes].map((prefix) => mirrorServiceName(prefix, to.namespace, to.name));
  const sources = names.map((name) => mirrorKey(name, to.namespace, to.name));
  const find = (zone: Zone): Via | undefined => {
    if (to.zone !== undefined && to.zone !== zone) return undefined;
    if (zone === 'import') return importVia();
    const isIt = zone === 'mirror' ? isMirror : isGlobal;
    const service = services.value.find(isIt);
    if (service === undefined) return undefined;
    const { namespace, name, labels } = service.metadata;
    const object = `Service ${namespace}/${name}`;
    const domain = zone === 'global' ? 'global' : (labels[mirrorPrefixLabel] ?? there.cluster);
    const dnsName = `${to.name}.${to.namespace}.svc.cluster.${domain}`;
    return { zone, dnsName, object, namespace, name, ports: service.spec.ports, slices: `${serviceNameLabel}=${name}` };
  };
  const isMirror = ({ metadata: { name, annotations } }: Service): boolean => {
    const source = annotations[sourceAnnotation];
    return source === undefined ? mirrorNames.includes(name) : sources.includes(source);
  };
  const isGlobal = ({ metadata: { name, annotations } }: Service): boolean => {
    const clusters = annotations[globalClustersAnnotation]?.split(',') ?? [];
    return name === globalServiceName(to.namespace, to.name) && names.some((each) => clusters.includes(each));
  };
  const importVia = (): Via | undefined => {
    const found = serviceImport.known ? serviceImport.value : undefined;
    if (found === undefined || !found.status.clusters.some(({ cluster }) => names.includes(cluster))) return undefined;
    const { namespace, name } = found.metadata;
    const object = `ServiceImport ${namespace}/${name}`;
    const dnsName = `${name}.${namespace}.svc.clusterset.local`;
    return {
      zone: 'import',
      dnsName,
      object,
      namespace,
      name,
      ports: found.spec.ports,
      slices: `${importNameLabel}=${name}`,
    };
  };
  const value = find('mirror') ?? find('global') ?? find('import');
  // Without any, only a known import is one that doesn't exist.
  return value === undefined && !serviceImport.known ? serviceImport : { known: true, value };
}

/** Whether the endpoints of a slice are of the cluster. */
export function isSliceOf(slice: EndpointSlice, { zone }: Via, names: readonly string[]): boolean {
  if (zone === 'mirror') return true;
  const label = zone === 'global' ? mirrorClusterLabel : importClusterLabel;
  return names.includes(slice.metadata.labels[label] ?? '');
}
