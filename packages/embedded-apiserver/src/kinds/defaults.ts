import type { ClusterIps } from './cluster-ips.ts';
import { defaultEndpointSlice } from './endpoint-slices.ts';
import { defaultEndpoints } from './endpoints.ts';
import { defaultNetworkPolicy } from './network-policies.ts';
import { defaultNode } from './nodes.ts';
import type { Resource } from './resources.ts';
import { defaultService } from './services.ts';
import { prune } from './structural-schema.ts';
import type { KubeObject } from '../test-cluster.ts';

type Default = (object: KubeObject, previous: KubeObject | undefined, clusterIps: ClusterIps) => KubeObject;

const defaults: Readonly<Record<string, Default>> = {
  Endpoints: defaultEndpoints,
  EndpointSlice: defaultEndpointSlice,
  NetworkPolicy: defaultNetworkPolicy,
  Node: defaultNode,
  Service: defaultService,
};

/** What defaults depend on: the object's previous version, and the addresses that the cluster assigns. */
type DefaultInputs = { readonly previous?: KubeObject; readonly clusterIps: ClusterIps };

/**
 * Completes an object before it is checked. It adds defaults for kinds in which our programs would otherwise see a change
 * by another client, and removes unknown fields of custom resources.
 *
 * @throws {ApiError} 422 if they can't be, because what the client did say contradicts itself
 */
export function normalise(resource: Resource, object: KubeObject, { previous, clusterIps }: DefaultInputs): KubeObject {
  const { apiVersion, kind } = object;
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([, value]) => !isEmpty(value)));
  const complete = defaults[resource.kind]?.(object, previous, clusterIps) ?? object;
  const known = resource.schema ? (prune(complete, resource.schema) as object) : complete;
  return { ...known, apiVersion, kind, metadata: metadata as KubeObject['metadata'] };
}

/** Whether Go leaves a value of the metadata out when it writes JSON. */
const isEmpty = (value: unknown) =>
  value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
