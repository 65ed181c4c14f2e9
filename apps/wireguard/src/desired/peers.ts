import type { Diagnostic } from '@kube-semaphore/multicluster';
import { compareText } from '@kube-semaphore/naming';
import { compareCidrs } from '@kube-semaphore/net';
import { type Claim, settle } from './conflicts.ts';
import type { NodeDiagnostic } from './diagnostic.ts';
import type { RemoteNode } from './remote-node.ts';

/** A peer as it should be. */
export type DesiredPeer = {
  /** The name of its Node. */
  readonly node: string;
  readonly publicKey: string;
  /** As `wg` writes it; undefined: the kernel's endpoint stays. */
  readonly endpoint: string | undefined;
  /** Canonical CIDRs in order, at least one. */
  readonly allowedIps: readonly string[];
};

export type PeerInput = {
  /** Our own public keys. */
  readonly ownKeys: ReadonlySet<string>;
  /** By the Node's name, where Calico's blocks are used instead of podCIDRs. */
  readonly calicoClaims?: ReadonlyMap<string, readonly Claim[]> | undefined;
};

const NO_BLOCK: Diagnostic = {
  kind: 'problem',
  reason: 'no-cidr',
  detail: 'the Node has no confirmed block in a pod subnet',
};

/**
 * The peers of a remote's device.
 *
 * @returns peers in the order of their Nodes' names, no two with the same key or block; and why Nodes, or some of their blocks,
 *   are skipped
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
  // Missing podCIDRs were reported when the Node was read.
  const blockless = calicoClaims === undefined ? [] : candidates.filter(({ claims }) => claims.length === 0);
  const withoutBlock = blockless.map(({ node }) => ({ node: node.name, ...NO_BLOCK }));
  return {
    peers: winners
      .map(({ node: { name, publicKey, endpoint }, claims }) => ({
        node: name,
        publicKey,
        endpoint,
        allowedIps: claims.map(({ cidr }) => cidr.text).toSorted(compareCidrs),
      }))
      .toSorted(byNode),
    skipped: [...skipped, ...withoutBlock].toSorted(byNode),
  };
}

/** Where Calico's blocks are used, only seeded Nodes have podCIDRs: the allowed IPs of the device, which may be borrowed. */
function ownClaims({ podCidrs }: RemoteNode, isCalicos: boolean): readonly Claim[] {
  return podCidrs.map((cidr) => ({
    cidr,
    isBorrowed: isCalicos && cidr.prefixLength === (cidr.family === 4 ? 32 : 128),
  }));
}

const byNode = (a: { readonly node: string }, b: { readonly node: string }): number => compareText(a.node, b.node);
