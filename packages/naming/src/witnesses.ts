import { hash } from 'node:crypto';
import { isDnsSubdomain } from './kubernetes.ts';
import { compareText } from './order.ts';

/** The domain of all annotations of semaphore-wireguard, after the name of a cluster. */
export const TUNNEL_DOMAIN = '.wireguard.semaphore.uw.io';

/**
 * The annotation of a Node with its public key for the peers of a cluster. On a Node of our own cluster, `cluster` is the remote;
 * on a remote's Nodes, it is our own cluster.
 */
export const pubKeyAnnotation = (cluster: string): string => `${cluster}${TUNNEL_DOMAIN}/pubKey`;

/** The annotation of a Node of our own cluster with the nodes of a remote that don't answer it, as `reportText` writes it. */
export const silentAnnotation = (remote: string): string => `${remote}${TUNNEL_DOMAIN}/silent`;

/** What one node says of a remote's nodes. */
export type SilenceReport = {
  /** Names of its Nodes, sorted. */
  readonly silent: readonly string[];
  /** How many Nodes the remote has, with tunnels. */
  readonly nodes: number;
};

/** `m1,m2 of 40` */
export const reportText = ({ silent, nodes }: SilenceReport): string => `${silent.join(',')} of ${nodes}`;

/** Reads what `reportText` writes; undefined for any other text. */
export function parseReport(text: string): SilenceReport | undefined {
  const [, names = '', nodes = ''] = /^([a-z0-9.,-]+) of ([1-9]\d{0,6})$/.exec(text) ?? [];
  const silent = names.split(',');
  return silent.every(isDnsSubdomain) ? { silent, nodes: Number(nodes) } : undefined;
}

/** How many nodes of a cluster watch a node of a remote: one that dies costs this many writes, however large the clusters are. */
const WITNESSES = 5;

/**
 * Which nodes of a cluster watch a node of a remote: by rendezvous hashing, so all who know the same nodes find the same ones, and a
 * node that comes or goes changes only what it takes part in. Every release must find the same ones.
 */
export class Witnesses {
  readonly #agents: readonly { readonly name: string; readonly hash: number }[];

  /** @param agents names of the Nodes of the cluster that announce themselves to the remote */
  constructor(agents: Iterable<string>) {
    this.#agents = Array.from(agents, (name) => ({ name, hash: hash32(name) }));
  }

  /** Those of a remote's Node: five, or all if there are fewer, the first one first. */
  of(node: string): readonly string[] {
    const own = hash32(node);
    const best: { readonly name: string; readonly score: number }[] = [];
    // Without a sort of all: a cluster may have thousands, for each of thousands.
    for (const agent of this.#agents) {
      const each = { name: agent.name, score: mixed(agent.hash ^ own) };
      const at = best.findIndex((other) => isBefore(each, other));
      if (at !== -1) best.splice(at, 0, each);
      else if (best.length < WITNESSES) best.push(each);
      if (best.length > WITNESSES) best.pop();
    }
    return best.map(({ name }) => name);
  }
}

type Scored = { readonly name: string; readonly score: number };

const isBefore = (a: Scored, b: Scored): boolean =>
  a.score > b.score || (a.score === b.score && compareText(a.name, b.name) < 0);

const hash32 = (name: string): number => hash('sha256', name, 'buffer').readUInt32BE(0);

/** The finalizer of MurmurHash3: changes half of the bits for each that differs. */
function mixed(bits: number): number {
  let mix = bits;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
