import { type Cidr, containsCidr, parseCidr } from '@kube-semaphore/net';
import type { Device } from '@kube-semaphore/wireguard-tools';
import type { RemoteNode } from '../desired/remote-node.ts';

/**
 * The peers that a device has when we start, as Nodes that no list has shown yet: so that the first list can be measured
 * against them. Whatever the list shows to have their key or their blocks takes their place.
 *
 * @param podSubnets what lies outside of them isn't kept, nor a peer that has nothing else
 */
export function seedOf({ peers }: Pick<Device, 'peers'>, podSubnets: readonly Cidr[]): readonly RemoteNode[] {
  return peers
    .map(({ publicKey, allowedIps }): RemoteNode => {
      const cidrs = allowedIps.map(parseCidr).flatMap((cidr) => (cidr.ok ? [cidr.value] : []));
      const podCidrs = cidrs.filter((cidr) => podSubnets.some((subnet) => containsCidr(subnet, cidr)));
      // No Node can have such a name.
      return {
        uid: '',
        name: `(peer ${publicKey})`,
        createdMs: 0,
        publicKey,
        endpoint: undefined,
        podCidrs,
        held: true,
      };
    })
    .filter(({ podCidrs }) => podCidrs.length > 0);
}

/** What can be on one Node only, and tells that a list shows a held one under another name. */
export const claimsOf = ({ publicKey, podCidrs }: RemoteNode): readonly string[] => [
  publicKey,
  ...podCidrs.map(({ text }) => text),
];
