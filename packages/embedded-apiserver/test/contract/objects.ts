import type { KubeObject } from '../../src/index.ts';

type Extra = Readonly<Record<string, unknown>>;

/** An object from `v1 Pod`, its name, whatever else it has, and more metadata. */
export function object(type: string, name: string, rest: Extra = {}, metadata: Extra = {}): KubeObject {
  const [apiVersion = '', kind = ''] = type.split(' ');
  return { apiVersion, kind, metadata: { name, ...metadata }, ...rest };
}

/** The least that a real server takes for a pod. */
export const smallPod = (name: string, metadata: Extra = {}, spec: Extra = {}): KubeObject =>
  object('v1 Pod', name, { spec: { containers: [{ name: 'app', image: 'app:1' }], ...spec } }, metadata);

export const lease = (name: string, spec: Extra = {}, metadata: Extra = {}): KubeObject =>
  object('coordination.k8s.io/v1 Lease', name, { spec }, metadata);

export const service = (name: string, spec: Extra, metadata: Extra = {}): KubeObject =>
  object('v1 Service', name, { spec }, metadata);

export const slice = (name: string, rest: Extra, metadata: Extra = {}): KubeObject =>
  object('discovery.k8s.io/v1 EndpointSlice', name, { addressType: 'IPv4', endpoints: [], ...rest }, metadata);

export const networkSet = (name: string, spec: Extra, metadata: Extra = {}): KubeObject =>
  object('projectcalico.org/v3 GlobalNetworkSet', name, { spec }, metadata);

/** Where objects of a namespace are. */
export const paths = {
  pods: (namespace: string) => `/api/v1/namespaces/${namespace}/pods`,
  services: (namespace: string) => `/api/v1/namespaces/${namespace}/services`,
  leases: (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
  slices: (namespace: string) => `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  networkSets: '/apis/projectcalico.org/v3/globalnetworksets',
} as const;
