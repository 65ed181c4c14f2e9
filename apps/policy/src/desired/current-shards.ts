import { setNames, shardOf, type SetNames } from '../names.ts';
import { readNet } from './addresses.ts';
import type { ObservedSet } from './network-set.ts';
import { type Pair, pairText, readOwner } from './labels.ts';

/** A pair and the names that it may have. */
export type NamedPair = Pair & { readonly names: SetNames };

/** What the existing sets of one pair hold: canonical CIDRs by shard. */
export type HeldShards = ReadonlyMap<number, ReadonlySet<string>>;

/**
 * Finds out which existing set is which shard of which pair. Its labels say so if its name fits them. Where they were
 * edited by hand the name decides, for the first of `pairs` that may have it.
 *
 * @param pairs those of one key, in order of precedence
 * @param observed our sets of that key, in any order
 * @param domains of the labels, those that count
 * @returns by `pairText`; a pair that has no set has no entry
 */
export function heldShards(
  pairs: readonly NamedPair[],
  observed: readonly ObservedSet[],
  domains: readonly string[],
): ReadonlyMap<string, HeldShards> {
  const byPair = new Map(pairs.map((pair) => [pairText(pair), pair]));
  const byLabels = ({ name, labels }: ObservedSet): Holder | undefined => {
    const pair = readOwner(labels, domains)?.pair;
    if (pair === undefined) return undefined;
    const names = byPair.get(pairText(pair))?.names ?? setNames(pair.cluster, pair.namespace, pair.app);
    return holder({ ...pair, names }, name);
  };
  const byName = ({ name }: ObservedSet): Holder | undefined => {
    return pairs.map((pair) => holder(pair, name)).find((found) => found !== undefined);
  };

  const held = new Map<string, Map<number, Set<string>>>();
  for (const set of observed) {
    const found = byLabels(set) ?? byName(set);
    if (found === undefined) continue;
    const shards = held.get(found.pair) ?? new Map<number, Set<string>>();
    held.set(found.pair, shards);
    // Both the plain and the suffixed name are shard 0, and both exist in the middle of a rename.
    const nets = set.nets.flatMap((net) => readNet(net) ?? []);
    shards.set(found.shard, new Set([...(shards.get(found.shard) ?? []), ...nets]));
  }
  return held;
}

/** A pair, as `pairText` spells it, and a shard. */
type Holder = { readonly pair: string; readonly shard: number };

/** Undefined if the pair can't have a set of this name. */
function holder(pair: NamedPair, name: string): Holder | undefined {
  const shard = shardOf(pair.names, name);
  return shard === undefined ? undefined : { pair: pairText(pair), shard };
}
