import { compareText } from '@kube-semaphore/naming';
import { type Cidr, CidrIndex } from '@kube-semaphore/net';
import { type NodeDiagnostic, problemOf } from './diagnostic.ts';
import type { RemoteNode } from './remote-node.ts';

/** A block of addresses that a Node claims. */
export type Claim = {
  readonly cidr: Cidr;
  /** One address of another Node's block. It may overlap with that block, as the longer prefix wins. */
  readonly isBorrowed: boolean;
};

/** A Node that could be a peer. Its claims are in order, none of them in another. */
export type Candidate = { readonly node: RemoteNode; readonly claims: readonly Claim[] };

/** Candidates that don't conflict, and what of the others is skipped. */
type Settled = { readonly winners: readonly Candidate[]; readonly skipped: readonly NodeDiagnostic[] };

/**
 * Decides which Node has a key or a block. WireGuard gives a block to the peer that was set last. Here the oldest Node has it,
 * whatever the order of events, so a compromised node can't take the traffic of others. So it is with a key, but of Nodes that
 * are Ready: a machine that joins again under another name keeps its key, and its older Node stays until somebody deletes it.
 * Held Nodes come last.
 *
 * @param ownKeys our own public keys, which no peer can have
 */
export function settle(candidates: readonly Candidate[], ownKeys: ReadonlySet<string>): Settled {
  const keys = keyOwners(candidates);
  const blocks = new Blocks();
  const winners: Candidate[] = [];
  const skipped: NodeDiagnostic[] = [];
  for (const { node, claims } of candidates.toSorted((a, b) => bySeniority(a.node, b.node))) {
    const note = (reason: string, details: readonly string[]) =>
      skipped.push(...problemOf(reason, details).map((problem) => ({ ...problem, node: node.name })));
    if (ownKeys.has(node.publicKey)) {
      note('own-key', ['its public key is our own']);
    } else if (claims.length > 0 && keys.get(node.publicKey) !== node) {
      note('key-taken', [`${keys.get(node.publicKey)!.name} has the same public key`]);
    } else {
      const { won, lost } = blocks.take(claims, node.name);
      note('cidr-taken', lost);
      if (won.length > 0) winners.push({ node, claims: won });
    }
  }
  return { winners, skipped };
}

/** The Node that has a key: of those with a block, the oldest that is Ready; if none is, the last that was. */
function keyOwners(candidates: readonly Candidate[]): ReadonlyMap<string, RemoteNode> {
  const owners = new Map<string, RemoteNode>();
  for (const { node, claims } of candidates) {
    const other = owners.get(node.publicKey);
    if (claims.length > 0 && (other === undefined || byOwnership(node, other) < 0)) owners.set(node.publicKey, node);
  }
  return owners;
}

/** The blocks that Nodes have. */
class Blocks {
  readonly #whole = new CidrIndex<string>();
  readonly #exact = new Map<string, string>();

  /** Takes the free ones of the claimed blocks. @returns those, and why the others are refused */
  take(claims: readonly Claim[], node: string): { readonly won: readonly Claim[]; readonly lost: readonly string[] } {
    const lost: string[] = [];
    const won = claims.filter(({ cidr, isBorrowed }) => {
      const holder = this.#exact.get(cidr.text) ?? (isBorrowed ? undefined : this.#whole.overlapping(cidr));
      if (holder !== undefined) {
        lost.push(`${cidr.text} is refused: it overlaps with a block of ${holder}`);
        return false;
      }
      this.#exact.set(cidr.text, node);
      if (!isBorrowed) this.#whole.add(cidr, node);
      return true;
    });
    return { won, lost };
  }
}

/** Oldest first. A Node without a creation time counts as the youngest. */
function bySeniority(a: RemoteNode, b: RemoteNode): number {
  const age = (a.createdMs || Number.MAX_SAFE_INTEGER) - (b.createdMs || Number.MAX_SAFE_INTEGER);
  return byHeld(a, b) || age || compareText(a.name, b.name);
}

function byOwnership(a: RemoteNode, b: RemoteNode): number {
  const ready = a.readyUntilMs === b.readyUntilMs ? 0 : b.readyUntilMs - a.readyUntilMs;
  return byHeld(a, b) || ready || bySeniority(a, b);
}

const byHeld = (a: RemoteNode, b: RemoteNode): number => Number(a.held === true) - Number(b.held === true);
