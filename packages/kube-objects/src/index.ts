export { Codec, type Page, type WatchEvent } from './codec.ts';
export { DecodeError } from './errors.ts';
export { FrameSplitter } from './frames.ts';
export { type CalicoApi, calicoApis, type GlobalNetworkSet, globalNetworkSetKind } from './global-network-set.ts';
export { type Kind, type KubeObject, resourcePath } from './kind.ts';
export { type Lease, leaseKind, microTime } from './lease.ts';
export { type Pod, podKind } from './pod.ts';
export { type Status, statusFromJson, statusFromProtobuf } from './status.ts';
