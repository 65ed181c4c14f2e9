export { type BlockAffinity, blockAffinityKind, type IpamBlock, ipamBlockKind } from './calico-ipam.ts';
export { Codec, type Page, type TooLarge, type WatchEvent } from './codec.ts';
export { type Endpoints, endpointsKind } from './endpoints.ts';
export {
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  endpointSliceKind,
  type WrittenEndpoint,
  type WrittenEndpointSlice,
} from './endpoint-slice.ts';
export { DecodeError, TooLargeError } from './errors.ts';
export { FrameSplitter } from './frames.ts';
export { type CalicoApi, calicoApis, type GlobalNetworkSet, globalNetworkSetKind } from './global-network-set.ts';
export { asRecord, isDeeper } from './json.ts';
export { apiVersion, type Kind, type KubeObject, resourcePath } from './kind.ts';
export { type Lease, leaseKind, microTime } from './lease.ts';
export { parseJson } from './parse-json.ts';
export type { OwnerReference, WrittenMetadata } from './metadata.ts';
export { type Node, nodeKind } from './node.ts';
export { type Pod, podKind } from './pod.ts';
export { type Service, serviceKind, type ServicePort, type WrittenService } from './service.ts';
export { type Status, statusFromJson, statusFromProtobuf } from './status.ts';
