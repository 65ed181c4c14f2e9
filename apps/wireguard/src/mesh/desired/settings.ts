import type { Cidr } from '@kube-semaphore/net';
import type { KeyRotation } from '../../rotation/desired/schedule.ts';

/** The names of its devices: two, if keys rotate. */
export const devicesOf = ({ device, keyRotation }: Pick<DeviceSettings, 'device' | 'keyRotation'>): readonly string[] =>
  keyRotation === undefined ? [device] : [device, keyRotation.secondDevice];

/** Their ports. */
export const portsOf = ({
  listenPort,
  keyRotation,
}: Pick<DeviceSettings, 'listenPort' | 'keyRotation'>): readonly number[] =>
  keyRotation === undefined ? [listenPort] : [listenPort, keyRotation.secondPort];

/** The configuration of the device that leads to the pods of a remote cluster. */
export type DeviceSettings = {
  /** Of the remote. */
  readonly name: string;
  /** Where its pods are, of the families in use: routed to the device, and the limit of what its Nodes can have. At least one. */
  readonly podSubnets: readonly Cidr[];
  readonly device: string;
  readonly mtuBytes: number;
  /** Its MTU follows the paths to its peers. */
  readonly measuresMtu: boolean;
  readonly listenPort: number;
  /** The family of the address that we announce; undefined: that of our Node's first address. */
  readonly endpointFamily: 4 | 6 | undefined;
  /** Which addresses of our Node we announce, unless its annotation has one. */
  readonly endpointFrom: 'internalIP' | 'externalIP';
  /** No Node of the remote reaches ours, unless its annotation says where: ours speak first. */
  readonly dialOut: boolean;
  /** The device's own address: the source of packets from the node itself. */
  readonly deviceAddress: 'none' | 'auto' | { readonly ip: string };
  /** Undefined: our key stays, and the remote's nodes replace theirs with a gap. */
  readonly keyRotation: KeyRotation | undefined;
};
