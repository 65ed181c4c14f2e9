export { type BlockAffinity, blockAffinityKind, type IpamBlock, ipamBlockKind } from './kinds/calico-ipam.ts';
export { type ClusterProfile, clusterProfileKind } from './kinds/cluster-profile.ts';
export { type ClusterProperty, clusterPropertyKind } from './kinds/cluster-property.ts';
export { type CustomResource, customResourceKind } from './kinds/custom-resource.ts';
export { type CalicoPolicy, calicoPolicyKind } from './kinds/calico-policy.ts';
export { type ClusterRoleBinding, clusterRoleBindingKind } from './kinds/cluster-role-binding.ts';
export { type ClusterPolicy, clusterPolicyKinds } from './kinds/cluster-network-policy.ts';
export { Codec, type Page, type TooLarge, type WatchEvent } from './codec.ts';
export { type Endpoints, endpointsKind } from './kinds/endpoints.ts';
export {
  type Endpoint,
  type EndpointSlice,
  endpointSliceKind,
  type WrittenEndpoint,
  type WrittenEndpointSlice,
} from './kinds/endpoint-slice.ts';
export { DecodeError, TooLargeError } from './errors.ts';
export { FrameSplitter } from './frames.ts';
export { type CalicoApi, type GlobalNetworkSet, globalNetworkSetKind } from './kinds/global-network-set.ts';
export { asRecord, isDeeper } from './json.ts';
export { apiVersion, type Kind, type KubeObject, resourcePath } from './kind.ts';
export { type Lease, leaseKind, microTime } from './kinds/lease.ts';
export { PageGuard } from './page-guard.ts';
export { parseJson } from './parse-json.ts';
export type { OwnerReference, WrittenMetadata } from './kinds/metadata.ts';
export { type ConfigMap, configMapKind } from './kinds/config-map.ts';
export { type Namespace, namespaceKind } from './kinds/namespace.ts';
export {
  type LabelSelector,
  type NetworkPolicy,
  networkPolicyKind,
  type NetworkPolicyPeer,
  type NetworkPolicyPort,
  networkPolicyWithTimesKind,
  type WrittenNetworkPolicy,
} from './kinds/network-policy.ts';
export {
  type Condition,
  type ServiceExport,
  serviceExportKind,
  type ServiceImport,
  serviceImportKind,
} from './kinds/multicluster.ts';
export { type Node, nodeKind } from './kinds/node.ts';
export {
  type Pod,
  podIPsAnnotation,
  podKind,
  type PodOnNode,
  podOnNodeKind,
  type PodWithPorts,
  podWithPortsKind,
} from './kinds/pod.ts';
export { type Service, serviceKind, type ServicePort, type WrittenService } from './kinds/service.ts';
export { type Status, statusFromJson, statusFromProtobuf } from './status.ts';
