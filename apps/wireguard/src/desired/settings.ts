import type { Cidr } from '@kube-semaphore/net';

/** What is configured of the device that leads to the pods of a remote cluster. */
export type DeviceSettings = {
  /** Of the remote. */
  readonly name: string;
  /** Where its pods are: all of it is routed to the device, and nothing outside of it is ever taken from its Nodes. At least one. */
  readonly podSubnets: readonly Cidr[];
  readonly device: string;
  readonly mtuBytes: number;
  readonly listenPort: number;
  /** Which of our Node's addresses is published; undefined: the first. */
  readonly endpointFamily: 4 | 6 | undefined;
  /** The device's own address, as the source of what the node itself sends. */
  readonly deviceAddress: 'none' | 'auto' | { readonly ip: string };
};
