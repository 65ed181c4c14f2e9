import { addressAt, type Cidr, compareIps, contains } from '@kube-semaphore/net';
import type { Link } from '@kube-semaphore/wireguard-tools';
import type { DeviceSettings } from './settings.ts';

export type AddressInput = {
  /** The device itself, whose addresses are ignored. */
  readonly device: string;
  /** All of the node. */
  readonly links: readonly Link[];
  /** Of our own Node: the addresses that peers accept from us. */
  readonly podCidrs: readonly Cidr[];
};

/**
 * The addresses of a device, as sources of packets from the node itself: one per family of the remote's pod subnets. `auto` is
 * an address in the Node's podCIDR that the node already has, as bridges and overlays do. Without one, it is the first address
 * of the podCIDR: host-local gives it to no pod, and flannel uses it, too.
 *
 * @returns canonical addresses; none for a family in which the Node has no podCIDR
 */
export function deviceAddresses(
  { deviceAddress, podSubnets }: Pick<DeviceSettings, 'deviceAddress' | 'podSubnets'>,
  input: AddressInput,
): readonly string[] {
  if (deviceAddress === 'none') return [];
  if (deviceAddress !== 'auto') return [deviceAddress.ip];
  const families = ([4, 6] as const).filter((family) => podSubnets.some((subnet) => subnet.family === family));
  return families.flatMap((family) => {
    const cidr = input.podCidrs.find((candidate) => candidate.family === family);
    const address = cidr && (addressIn(cidr, input) ?? addressAt(cidr, 0));
    return address === undefined ? [] : [address];
  });
}

function addressIn(cidr: Cidr, { device, links }: AddressInput): string | undefined {
  const ips = links.filter(({ name }) => name !== device).flatMap(({ addresses }) => addresses.map(({ ip }) => ip));
  return ips.filter((ip) => contains(cidr, ip)).toSorted(compareIps)[0];
}
