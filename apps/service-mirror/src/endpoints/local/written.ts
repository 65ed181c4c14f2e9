import type { WrittenEndpoint, WrittenEndpointSlice, WrittenService } from '@kube-semaphore/kube-objects';
import { marksOf } from '../desired/diff/marks.ts';
import { familySpec } from '../desired/families.ts';
import { addressesOf } from '../desired/compact.ts';
import type { DesiredService, DesiredSlice } from '../desired/objects.ts';
import type { ObservedService, ObservedSlice } from '../desired/observed.ts';
import type { Endpoint } from '../desired/source.ts';

/** A Service to write. @param from the existing one; undefined to create it */
export function writtenService(
  to: DesiredService,
  from: ObservedService | undefined,
  namespace: string,
): WrittenService {
  const { headless, ports, affinitySeconds, publishNotReadyAddresses, families } = to.definition;
  const retained = from && {
    uid: from.uid,
    resourceVersion: from.resourceVersion,
    ownerReferences: from.ownerReferences,
    finalizers: from.finalizers,
  };
  return {
    metadata: { namespace, name: to.name, ...marksOf(from, to), ...retained },
    spec: {
      type: 'ClusterIP',
      ...(headless && { clusterIP: 'None' }),
      ...familySpec(families, from?.definition.families),
      ports,
      ...(affinitySeconds === undefined
        ? { sessionAffinity: 'None' }
        : { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } } }),
      publishNotReadyAddresses,
    },
  };
}

/** The object that a slice belongs to, in the slice's namespace. */
type SliceOwner = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};

/**
 * An EndpointSlice to write.
 *
 * @param from the existing one; undefined to create it
 * @param at `owner`: undefined for none
 */
export function writtenSlice(
  to: DesiredSlice,
  from: ObservedSlice | undefined,
  at: { readonly namespace: string; readonly owner: SliceOwner | undefined },
): WrittenEndpointSlice {
  const { name, family, ports } = to;
  const { namespace, owner } = at;
  return {
    metadata: {
      namespace,
      name,
      ...marksOf(from, to),
      // Without blockOwnerDeletion: OwnerReferencesPermissionEnforcement requires a right for it that the Go program's
      // Role doesn't have.
      ownerReferences: owner === undefined ? [] : [{ ...owner, controller: true }],
      ...(from && { uid: from.uid, resourceVersion: from.resourceVersion }),
      ...(from?.finalizers && { finalizers: from.finalizers }),
    },
    addressType: family,
    ports,
    endpoints: to.endpoints.map(writtenEndpoint),
  };
}

/** The API server refuses empty texts. */
function writtenEndpoint(endpoint: Endpoint): WrittenEndpoint {
  const { conditions, hostname, nodeName, zone, zones } = endpoint;
  return {
    addresses: addressesOf(endpoint),
    conditions,
    hostname,
    nodeName,
    zone,
    hints: zones && { forZones: zones.map((name) => ({ name })) },
  };
}
