import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import type { Cidr } from '@kube-semaphore/net';

/** One remote cluster: where it is, and the device that leads to its pods. */
export type RemoteSettings = {
  readonly name: string;
  readonly reference: ClusterReference;
  /** Where its pods are: all of it is routed to the device, and nothing outside of it is ever taken from its Nodes. At least one. */
  readonly podSubnets: readonly Cidr[];
  readonly device: string;
  readonly mtuBytes: number;
  readonly listenPort: number;
  /** 0 is never. */
  readonly resyncPeriodMs: number;
  /** Which of our Node's addresses is published; undefined: the first. */
  readonly endpointFamily: 4 | 6 | undefined;
  /** Who says which addresses are a Node's: its podCIDRs, or the blocks of Calico's IPAM. */
  readonly allowedIpsFrom: 'podCIDRs' | 'calico-blocks';
  /** Where its Nodes may be; anywhere without. */
  readonly allowedEndpoints: readonly Cidr[] | undefined;
  /** The device's own address, as the source of what the node itself sends. */
  readonly deviceAddress: 'none' | 'auto' | { readonly ip: string };
};

/** Which clusters there are. */
export type Settings = {
  readonly local: { readonly name: string; readonly reference: ClusterReference };
  /** At least one; names, devices and ports are unique, and no two pod subnets overlap. */
  readonly remotes: readonly RemoteSettings[];
};
