import { type Cidr, parseCidr } from '@kube-semaphore/net';
import type { Device } from '@kube-semaphore/wireguard-tools';
import type { RemoteNode } from '../desired/remote-node.ts';
import { isCarried } from './own-blocks.ts';

/**
 * The peers of a device at the start, as held Nodes: the first list is measured against them. A listed Node with their key or
 * their blocks replaces them.
 *
 * @param podSubnets CIDRs outside of them are skipped, and peers that have only such CIDRs
 */
export function seedOf({ peers }: Pick<Device, 'peers'>, podSubnets: readonly Cidr[]): readonly RemoteNode[] {
  return peers
    .map(({ publicKey, allowedIps }): RemoteNode => {
      const cidrs = allowedIps.map(parseCidr).flatMap((cidr) => (cidr.ok ? [cidr.value] : []));
      const podCidrs = cidrs.filter((cidr) => isCarried(cidr, podSubnets));
      // No Node can have such a name.
      const name = `(peer ${publicKey})`;
      return { uid: '', name, createdMs: 0, readyUntilMs: 0, publicKey, endpoint: undefined, podCidrs, held: true };
    })
    .filter(({ podCidrs }) => podCidrs.length > 0);
}

/** What only one Node can have. If a listed Node has it, the held one with it is the same Node under another name. */
export const claimsOf = ({ publicKey, podCidrs }: RemoteNode): readonly string[] => [
  publicKey,
  ...podCidrs.map(({ text }) => text),
];
