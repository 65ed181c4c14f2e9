import { type Cidr, CidrIndex } from '@kube-semaphore/net';
import { type NodeDiagnostic, problemOf } from './diagnostic.ts';
import type { RemoteNode } from './remote-node.ts';

/** A block of addresses that a Node is said to have. */
export type Claim = {
  readonly cidr: Cidr;
  /** One address out of a block that another Node has: it may lie in that, as the longer prefix counts. */
  readonly isBorrowed: boolean;
};

/** A Node that could be a peer, with the blocks that it claims: in order, and none in another. */
export type Candidate = { readonly node: RemoteNode; readonly claims: readonly Claim[] };

/** Candidates that don't conflict, and why something is left out of the others. */
type Settled = { readonly winners: readonly Candidate[]; readonly skipped: readonly NodeDiagnostic[] };

/**
 * Settles who has a key and a block. WireGuard gives a block to the last that asks for it; here the oldest Node has it,
 * whatever the order of events, and one that the last list lacked comes after all others. So a node that is taken over
 * can't take over another's traffic.
 *
 * @param ownKeys our own public keys: no peer can have one
 */
export function settle(candidates: readonly Candidate[], ownKeys: ReadonlySet<string>): Settled {
  const keys = new Map<string, string>();
  const blocks = new Blocks();
  const winners: Candidate[] = [];
  const skipped: NodeDiagnostic[] = [];
  for (const { node, claims } of candidates.toSorted((a, b) => bySeniority(a.node, b.node))) {
    const note = (reason: string, details: readonly string[]) =>
      skipped.push(...problemOf(reason, details).map((problem) => ({ ...problem, node: node.name })));
    const holder = keys.get(node.publicKey);
    if (ownKeys.has(node.publicKey)) {
      note('own-key', ['its public key is our own']);
    } else if (holder !== undefined) {
      note('key-taken', [`its public key is that of ${holder}`]);
    } else {
      const { won, lost } = blocks.take(claims, node.name);
      note('cidr-taken', lost);
      if (won.length === 0) continue;
      keys.set(node.publicKey, node.name);
      winners.push({ node, claims: won });
    }
  }
  return { winners, skipped };
}

/** Who has which block. */
class Blocks {
  readonly #whole = new CidrIndex<string>();
  readonly #exact = new Map<string, string>();

  /** Takes what nobody has yet. @returns why not, for what somebody has */
  take(claims: readonly Claim[], node: string): { readonly won: readonly Claim[]; readonly lost: readonly string[] } {
    const lost: string[] = [];
    const won = claims.filter(({ cidr, isBorrowed }) => {
      const holder = this.#exact.get(cidr.text) ?? (isBorrowed ? undefined : this.#whole.overlapping(cidr));
      if (holder !== undefined) {
        lost.push(`${cidr.text} is refused: ${holder} has it, or a part of it`);
        return false;
      }
      this.#exact.set(cidr.text, node);
      if (!isBorrowed) this.#whole.add(cidr, node);
      return true;
    });
    return { won, lost };
  }
}

/** A Node that doesn't say when it was made is younger than all that do. */
function bySeniority(a: RemoteNode, b: RemoteNode): number {
  const held = Number(a.held === true) - Number(b.held === true);
  const age = (a.createdMs || Number.MAX_SAFE_INTEGER) - (b.createdMs || Number.MAX_SAFE_INTEGER);
  return held || age || (a.name < b.name ? -1 : Number(a.name > b.name));
}
