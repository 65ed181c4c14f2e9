import { compareCidrs } from '@kube-semaphore/net';
import { type Claim, settle } from './conflicts.ts';
import { type NodeDiagnostic, problemOf } from './diagnostic.ts';
import type { RemoteNode } from './remote-node.ts';

/** A peer as it should be. */
export type DesiredPeer = {
  /** The name of its Node. */
  readonly node: string;
  readonly publicKey: string;
  /** As `wg` writes it; undefined: whatever the kernel has. */
  readonly endpoint: string | undefined;
  /** Canonical CIDRs in order, at least one. */
  readonly allowedIps: readonly string[];
};

export type PeerInput = {
  /** Our own public keys. */
  readonly ownKeys: ReadonlySet<string>;
  /** By the Node's name, where Calico's blocks count instead of podCIDRs. */
  readonly calicoClaims?: ReadonlyMap<string, readonly Claim[]> | undefined;
};

/**
 * The peers of a remote's device.
 *
 * @returns peers in the order of their Nodes' names, no two with one key or with one block; and why Nodes, or some of
 *   their blocks, are left out
 */
export function desiredPeers(
  nodes: Iterable<RemoteNode>,
  { ownKeys, calicoClaims }: PeerInput,
): { readonly peers: readonly DesiredPeer[]; readonly skipped: readonly NodeDiagnostic[] } {
  const candidates = [...nodes].map((node) => ({
    node,
    claims: calicoClaims?.get(node.name) ?? ownClaims(node, calicoClaims !== undefined),
  }));
  const { winners, skipped } = settle(candidates, ownKeys);
  // Of podCIDRs it was said already, when the Node was read.
  const blockless = calicoClaims === undefined ? [] : candidates.filter(({ claims }) => claims.length === 0);
  const unblocked = blockless.flatMap(({ node }) =>
    problemOf('no-cidr', ['the Node has no confirmed block in a pod subnet']).map((problem) => ({
      ...problem,
      node: node.name,
    })),
  );
  return {
    peers: winners
      .map(({ node: { name, publicKey, endpoint }, claims }) => ({
        node: name,
        publicKey,
        endpoint,
        allowedIps: claims.map(({ cidr }) => cidr.text).toSorted(compareCidrs),
      }))
      .toSorted(byNode),
    skipped: [...skipped, ...unblocked].toSorted(byNode),
  };
}

/** Where Calico's blocks count, only those from before the start have any: what the kernel had, which may be borrowed. */
function ownClaims({ podCidrs }: RemoteNode, isCalicos: boolean): readonly Claim[] {
  return podCidrs.map((cidr) => ({
    cidr,
    isBorrowed: isCalicos && cidr.prefixLength === (cidr.family === 4 ? 32 : 128),
  }));
}

function byNode(a: { readonly node: string }, b: { readonly node: string }): number {
  return a.node < b.node ? -1 : Number(a.node > b.node);
}
