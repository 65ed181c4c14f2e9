import type { Shards } from '@kube-semaphore/network-policies';
import { setNames, shardOf, type SetNames } from '../../names.ts';
import { readNet } from './addresses.ts';
import type { ObservedSet } from './network-set.ts';
import { type Pair, pairText, readOwner } from './labels.ts';

/** A pair and the names that its sets can have. */
export type NamedPair = Pair & { readonly names: SetNames };

export const named = <P extends Pair>(pair: P): P & NamedPair => ({
  ...pair,
  names: setNames(pair.cluster, pair.namespace, pair.app),
});

/**
 * Finds out which existing set is which shard of which pair. The labels decide if the name of the set fits them. After
 * someone edited the labels, the name decides, for the first of `pairs` that can have it.
 *
 * @param pairs those of one key, in order of precedence
 * @param observed our sets of that key, in any order
 * @param domains as of `readOwner`
 * @returns by `pairText`; without an entry for a pair that has no set
 */
export function currentShards(
  pairs: readonly NamedPair[],
  observed: readonly ObservedSet[],
  domains: readonly string[],
): ReadonlyMap<string, Shards> {
  const known = new Map(pairs.map((pair) => [pairText(pair), pair]));
  const byPair = new Map<string, Map<number, ReadonlySet<string>>>();
  for (const { name, labels, nets } of observed) {
    const owner = readOwner(labels, domains)?.pair;
    const labelled = owner && (known.get(pairText(owner)) ?? named(owner));
    for (const pair of labelled === undefined ? pairs : [labelled, ...pairs]) {
      const shard = shardOf(pair.names, name);
      if (shard === undefined) continue;
      const shards = byPair.get(pairText(pair)) ?? new Map<number, ReadonlySet<string>>();
      byPair.set(pairText(pair), shards);
      // Both the plain and the suffixed name are shard 0, and both exist in the middle of a rename.
      shards.set(shard, new Set([...(shards.get(shard) ?? []), ...nets.flatMap((net) => readNet(net) ?? [])]));
      break;
    }
  }
  return byPair;
}
