import type { Service, ServiceImport } from '@kube-semaphore/kube-objects';
import { isFamily } from '../../endpoints/desired/families.ts';
import type { ObservedDerived, ObservedImport } from '../desired/observed.ts';
import type { ServicePort } from '../../endpoints/desired/source.ts';
import { observedService } from '../../endpoints/local/read.ts';

/** A ServiceImport, ours or not. */
export function observedImport({ metadata, spec, status }: ServiceImport): ObservedImport {
  const { name, uid, resourceVersion, labels, annotations, deletionTimestamp, ownerReferences, finalizers } = metadata;
  const { timeoutSeconds } = spec.sessionAffinityConfig.clientIP;
  const isSticky = spec.sessionAffinity === 'ClientIP';
  return {
    name,
    uid,
    resourceVersion,
    labels,
    annotations,
    spec: {
      type: spec.type === 'Headless' ? 'Headless' : 'ClusterSetIP',
      // Any other protocol isn't one of ours either: the comparison finds it.
      ports: spec.ports.map(({ name: portName, protocol, port, appProtocol }) => ({
        name: portName,
        protocol: (protocol || 'TCP') as ServicePort['protocol'],
        port,
        appProtocol: appProtocol || undefined,
      })),
      ips: spec.ips,
      families: spec.ipFamilies.filter(isFamily),
      affinitySeconds: isSticky ? timeoutSeconds || undefined : undefined,
      internalTrafficPolicy: spec.internalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
      trafficDistribution: spec.trafficDistribution || undefined,
    },
    clusters: status.clusters.map(({ cluster }) => cluster),
    conditions: status.conditions,
    sliceObjects: status.endpointSliceObjects,
    isTerminating: deletionTimestamp > 0,
    ownerReferences,
    finalizers,
  };
}

/** The Service with a ServiceImport's address, or another one that has its name. */
export function observedDerived(service: Service): ObservedDerived {
  const { type, selector, internalTrafficPolicy, clusterIPs } = service.spec;
  return {
    ...observedService(service),
    isPlain: type === 'ClusterIP' && Object.keys(selector).length === 0,
    internalTrafficPolicy: internalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
    ips: clusterIPs.filter((ip) => ip !== 'None'),
  };
}
