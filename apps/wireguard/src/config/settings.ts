import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import type { RemoteReference } from '@kube-semaphore/multicluster';
import type { Cidr, IpFamily } from '@kube-semaphore/net';
import type { DeviceSettings } from '../mesh/desired/settings.ts';

/** One remote cluster, and the device that leads to its pods. */
export type RemoteSettings = DeviceSettings & {
  readonly reference: RemoteReference;
  /** Of the addresses of its Pods; undefined: both. */
  readonly families: readonly IpFamily[] | undefined;
  /** 0: never. */
  readonly resyncPeriodMs: number;
  /** What says which addresses a Node has: its podCIDRs, or the blocks of Calico's IPAM. */
  readonly allowedIpsFrom: 'podCIDRs' | 'calico-blocks';
  /** Where its Nodes may be; undefined: anywhere. */
  readonly allowedEndpoints: readonly Cidr[] | undefined;
  /** After how long without an answer our Node names a Node of it; 0: never. */
  readonly reportSilentAfterMs: number;
};

/** All clusters. */
export type Settings = {
  readonly local: { readonly name: string; readonly reference: ClusterReference };
  /** At least one, unless there is an inventory. Names, devices and ports are unique, and pod subnets don't overlap. */
  readonly remotes: readonly RemoteSettings[];
};
