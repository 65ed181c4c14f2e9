import type { Endpoints, EndpointSlice, Service } from '@kube-semaphore/kube-objects';
import { othersOf, podOf, type Shared, sharedConditions, sharedTexts, tight } from '../desired/compact.ts';
import { familiesOf, isFamily } from '../desired/families.ts';
import { sharedEndpoints } from '../desired/objects.ts';
import type { ObservedEndpoints, ObservedService, ObservedSlice } from '../desired/observed.ts';
import { servicePortOf, slicePortOf } from '../desired/ports.ts';
import type { Endpoint } from '../desired/source.ts';
import { headlessLabel } from '../../names.ts';

/** A Service in the mirror namespace, ours or not. */
export function observedService({ metadata, spec }: Service): ObservedService {
  const {
    name,
    uid,
    resourceVersion,
    creationTimestamp,
    labels,
    annotations,
    ownerReferences,
    finalizers,
    deletionTimestamp,
  } = metadata;
  const ports = spec.ports.map(servicePortOf);
  const isSticky = spec.sessionAffinity === 'ClientIP';
  const isPlain =
    spec.type === 'ClusterIP' && Object.keys(spec.selector).length === 0 && spec.internalTrafficPolicy !== 'Local';
  return {
    name,
    uid,
    resourceVersion,
    createdAt: creationTimestamp,
    labels,
    annotations,
    definition: {
      headless: spec.clusterIP === 'None',
      families: familiesOf(spec),
      ports: tight(ports.filter((port) => port !== undefined)),
      affinitySeconds: isSticky ? spec.sessionAffinityConfig.clientIP.timeoutSeconds || undefined : undefined,
      publishNotReadyAddresses: spec.publishNotReadyAddresses,
    },
    ip: spec.clusterIP === '' || spec.clusterIP === 'None' ? undefined : spec.clusterIP,
    familyPolicy: spec.ipFamilyPolicy,
    isPlain: isPlain && !ports.includes(undefined),
    isTerminating: deletionTimestamp > 0,
    ownerReferences,
    finalizers,
  };
}

/**
 * One of our EndpointSlices; undefined for an address family that we never write.
 *
 * @param written the endpoints that were written to it; if it has the same, it shares them
 */
export function observedSlice(
  { metadata, addressType, ports, endpoints: raw }: EndpointSlice,
  written?: readonly Endpoint[],
): ObservedSlice | undefined {
  if (!isFamily(addressType)) return undefined;
  const { name, uid, resourceVersion, labels, annotations, ownerReferences, finalizers } = metadata;
  const shared = sharedTexts();
  // CoreDNS named the endpoints of older builds by their targets.
  const hostnameOf = labels[headlessLabel] === undefined ? () => '' : podOf;
  const endpoints = raw.map((each) =>
    observedEndpoint({ ...each, hostname: each.hostname || hostnameOf(each) }, shared),
  );
  return {
    name,
    uid,
    resourceVersion,
    labels,
    annotations,
    owners: ownerReferences.map((owner) => owner.uid),
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    family: addressType,
    ports: tight(ports.map(slicePortOf).filter((port) => port !== undefined)),
    endpoints: sharedEndpoints(written, endpoints),
    ...(raw.some(({ targetRef: { kind, namespace: of, name: pod } }) => kind + of + pod !== '') && {
      hasTargets: true,
    }),
  };
}

export function observedEndpoints({ metadata, subsets }: Endpoints): ObservedEndpoints {
  const { name, uid, resourceVersion, labels } = metadata;
  return {
    name,
    uid,
    resourceVersion,
    labels,
    addresses: subsets.flatMap((subset) => subset.addresses.map(({ ip }) => ip)),
  };
}

function observedEndpoint(
  { addresses, conditions, hostname, nodeName, zone, hints }: EndpointSlice['endpoints'][number],
  shared: Shared,
): Endpoint {
  const { forZones } = hints;
  return {
    address: addresses[0] ?? '',
    otherAddresses: othersOf(addresses),
    conditions: sharedConditions(conditions),
    hostname: hostname || undefined,
    nodeName: nodeName === '' ? undefined : shared(nodeName),
    zone: zone === '' ? undefined : shared(zone),
    zones: forZones.length === 0 ? undefined : forZones.map(({ name }) => name),
  };
}
