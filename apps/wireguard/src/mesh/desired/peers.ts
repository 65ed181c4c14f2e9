import type { Diagnostic } from '@kube-semaphore/multicluster';
import { compareText } from '@kube-semaphore/naming';
import { compareCidrs } from '@kube-semaphore/net';
import { type Candidate, type Claim, settle } from './conflicts.ts';
import type { NodeDiagnostic } from './diagnostic.ts';
import type { RemoteNode } from './remote-node.ts';
import { Rivals } from './rivals.ts';

/** A peer as it should be. */
export type DesiredPeer = {
  /** The name of its Node. */
  readonly node: string;
  readonly publicKey: string;
  /** As `wg` writes it; undefined: the kernel's endpoint stays. */
  readonly endpoint: string | undefined;
  /** Canonical CIDRs in order, at least one. */
  readonly allowedIps: readonly string[];
  /** On which of its two planes its Node announces key and endpoint; undefined: it has one device. */
  readonly plane?: 0 | 1;
};

/** Peers, no two with the same key or block; and why Nodes, or some of their blocks, are skipped. Both in the order of Nodes. */
export type PeersAndSkipped = { readonly peers: readonly DesiredPeer[]; readonly skipped: readonly NodeDiagnostic[] };

/** The claims of a Node, where Calico's blocks are used instead of podCIDRs; undefined: it has none. */
export type CalicoClaimsOf = { get(node: string): readonly Claim[] | undefined };

const NO_BLOCK: Diagnostic = {
  kind: 'problem',
  reason: 'no-cidr',
  detail: 'the Node has no confirmed block in a pod subnet',
};

/**
 * The peers of a remote's device. A change of a Node costs the same however many there are: only Nodes that could be in conflict
 * with it are computed again.
 */
export class DesiredPeers {
  readonly #calicoClaims: CalicoClaimsOf | undefined;
  readonly #rivals = new Rivals();
  readonly #peers = new Map<string, DesiredPeer>();
  readonly #skipped = new Map<string, readonly NodeDiagnostic[]>();
  #ownKeys: ReadonlySet<string> = new Set();

  /** @param calicoClaims undefined: Nodes have their podCIDRs */
  constructor(calicoClaims?: CalicoClaimsOf) {
    this.#calicoClaims = calicoClaims;
  }

  /**
   * Takes over Nodes that changed, or whose blocks changed.
   *
   * @param nodes by name; undefined: it can't be a peer any more
   * @param ownKeys our own public keys, which no peer can have
   * @returns the Nodes whose peer, or what of them is skipped, may differ from before
   */
  update(nodes: ReadonlyMap<string, RemoteNode | undefined>, ownKeys: ReadonlySet<string>): Iterable<string> {
    const changes = new Map([...nodes].map(([name, node]) => [name, node && this.#candidateOf(node)]));
    const keys = [...difference(ownKeys, this.#ownKeys), ...difference(this.#ownKeys, ownKeys)];
    this.#ownKeys = ownKeys;
    const group = this.#rivals.update(changes, keys);
    for (const name of group.keys()) {
      this.#peers.delete(name);
      this.#skipped.delete(name);
    }
    const candidates = [...group.values()].filter((candidate) => candidate !== undefined);
    const { winners, skipped } = settle(candidates, ownKeys);
    for (const winner of winners) this.#peers.set(winner.node.name, peerOf(winner));
    // Missing podCIDRs were reported when the Node was read.
    const blockless = this.#calicoClaims === undefined ? [] : candidates.filter(({ claims }) => claims.length === 0);
    const withoutBlock = blockless.map(({ node }) => ({ node: node.name, ...NO_BLOCK }));
    for (const [name, own] of Map.groupBy([...skipped, ...withoutBlock], ({ node }) => node))
      this.#skipped.set(name, own);
    return group.keys();
  }

  /** The peer of a Node. */
  peer(node: string): DesiredPeer | undefined {
    return this.#peers.get(node);
  }

  /** Why a Node is skipped, or some of its blocks. */
  skipped(node: string): readonly NodeDiagnostic[] {
    return this.#skipped.get(node) ?? [];
  }

  all(): PeersAndSkipped {
    return {
      peers: [...this.#peers.values()].toSorted(byNode),
      skipped: [...this.#skipped.values()].flat().toSorted(byNode),
    };
  }

  /** Where Calico's blocks are used, only seeded Nodes have podCIDRs: the allowed IPs of the device, which may be borrowed. */
  #candidateOf(node: RemoteNode): Candidate {
    const isCalicos = this.#calicoClaims !== undefined;
    const ownClaims = (): readonly Claim[] =>
      node.podCidrs.map((cidr) => ({
        cidr,
        isBorrowed: isCalicos && cidr.prefixLength === (cidr.family === 4 ? 32 : 128),
      }));
    return { node, claims: this.#calicoClaims?.get(node.name) ?? ownClaims() };
  }
}

const peerOf = ({ node: { name, publicKey, endpoint, plane }, claims }: Candidate): DesiredPeer => ({
  node: name,
  publicKey,
  endpoint,
  allowedIps: claims.map(({ cidr }) => cidr.text).toSorted(compareCidrs),
  ...(plane !== undefined && { plane }),
});

const difference = (a: ReadonlySet<string>, b: ReadonlySet<string>): readonly string[] =>
  [...a].filter((key) => !b.has(key));

const byNode = (a: { readonly node: string }, b: { readonly node: string }): number => compareText(a.node, b.node);
