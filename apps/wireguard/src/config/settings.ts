import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import type { Cidr } from '@kube-semaphore/net';
import type { DeviceSettings } from '../desired/settings.ts';

/** One remote cluster: where it is, and the device that leads to its pods. */
export type RemoteSettings = DeviceSettings & {
  readonly reference: ClusterReference;
  /** 0 is never. */
  readonly resyncPeriodMs: number;
  /** Who says which addresses are a Node's: its podCIDRs, or the blocks of Calico's IPAM. */
  readonly allowedIpsFrom: 'podCIDRs' | 'calico-blocks';
  /** Where its Nodes may be; anywhere without. */
  readonly allowedEndpoints: readonly Cidr[] | undefined;
};

/** Which clusters there are. */
export type Settings = {
  readonly local: { readonly name: string; readonly reference: ClusterReference };
  /** At least one; names, devices and ports are unique, and no two pod subnets overlap. */
  readonly remotes: readonly RemoteSettings[];
};
