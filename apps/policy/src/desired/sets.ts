import { setNames, shardName } from '../names.ts';
import { heldShards, type NamedPair } from './current-shards.ts';
import { type HostNetworkPods, wantedAddresses } from './host-network.ts';
import type { PairMembers } from './member.ts';
import type { DesiredSet, ObservedSet } from './network-set.ts';
import type { SetDiagnostic } from './diagnostic.ts';
import { comparePairs, type Identity, pairText, setLabels } from './labels.ts';
import { distribute } from './shards.ts';

/** A pair, who is in its set, and under which labels that is written. */
export type WantedPair = PairMembers & { readonly identity: Identity };

/** Everything that decides about the sets of one key. No order in it matters. */
export type DesiredInput = {
  /** As of `readOwner`. */
  readonly domains: readonly string[];
  /** The pairs of the key that have members. */
  readonly pairs: readonly WantedPair[];
  /** The local sets that are ours and whose names belong to the key. */
  readonly observed: readonly ObservedSet[];
  /** Whether an object that we may not change has this name. */
  readonly isTaken: (name: string) => boolean;
  /** An integer >= 1. */
  readonly maxNetsPerSet: number;
  readonly hostNetworkPods: HostNetworkPods;
};

export type Desired = {
  /** Sorted by name. */
  readonly sets: readonly DesiredSet[];
  /** Sorted by namespace and name. */
  readonly diagnostics: readonly SetDiagnostic[];
};

/**
 * The sets of one key as they should be.
 *
 * What exists is read for two things only: an address stays in its shard, and addresses of nodes that a Go program
 * let in stay (`HostNetworkPods`). Applied, the result is what the next call returns.
 */
export function desiredSets(input: DesiredInput): Desired {
  const { domains, pairs, observed, maxNetsPerSet, hostNetworkPods } = input;
  const contenders = pairs
    .map((pair) => ({ ...pair, names: setNames(pair.cluster, pair.namespace, pair.app) }))
    .toSorted(comparePrecedence);
  const heldByPair = heldShards(contenders, observed, domains);

  const claimed = new Set<string>();
  const sets: DesiredSet[] = [];
  const diagnostics: (readonly SetDiagnostic[])[] = [];
  for (const pair of contenders) {
    const held = heldByPair.get(pairText(pair)) ?? new Map<number, ReadonlySet<string>>();
    const isHeld = (cidr: string): boolean => [...held.values()].some((shard) => shard.has(cidr));
    const addresses = wantedAddresses(pair, hostNetworkPods, isHeld);
    diagnostics.push(addresses.diagnostics);

    const passedOver = new Set<string>();
    const isFreeName = (name: string): boolean => {
      const isTaken = input.isTaken(name);
      if (isTaken) passedOver.add(name);
      return !isTaken && !claimed.has(name);
    };
    const nameOf = (shard: number): string | undefined => namesFor(pair, shard).find(isFreeName);
    const isFree = (shard: number): boolean => nameOf(shard) !== undefined;
    const max = Math.min(maxNetsPerSet, addresses.wanted.some(isIpv6) ? MOST_WITH_IPV6 : Infinity);
    for (const [shard, nets] of distribute({ wanted: addresses.wanted, held, max, isFree })) {
      // Shards were distributed over the free ones only.
      const name = nameOf(shard)!;
      claimed.add(name);
      sets.push({ name, labels: setLabels(pair.identity, pair), nets });
    }
    diagnostics.push(Array.from(passedOver, (name) => nameTaken(pair, name)));
  }
  return {
    sets: sets.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    diagnostics: diagnostics.flat().toSorted(compareNotices),
  };
}

/** An IPv6 address takes up to 46 bytes, and etcd takes objects of 1.5 MiB. With IPv4 alone a set may have 50,000. */
const MOST_WITH_IPV6 = 30_000;

const isIpv6 = (cidr: string): boolean => cidr.includes(':');

type Contender = NamedPair & WantedPair;

/**
 * The order in which pairs choose their names. Of those that spell one plain name, the smallest (namespace, name, cluster)
 * comes first, has it, and leaves the suffixed name to the others. A plain name can also equal the suffixed name or
 * a shard of a shorter pair; the shorter one comes first, as it alone has no other name to go to. What is only held,
 * because a list wasn't believed, comes last of all: a rebuilt cluster isn't kept out by its own old addresses.
 */
function comparePrecedence(a: Contender, b: Contender): number {
  return (
    Number(isHeld(a)) - Number(isHeld(b)) || a.names.suffixed.length - b.names.suffixed.length || comparePairs(a, b)
  );
}

/** A pair that nobody but the deletion guard keeps. */
const isHeld = ({ members }: PairMembers): boolean => members.every(({ held }) => held === true);

/** The names that a shard of a pair may have, best first. */
function namesFor({ names }: NamedPair, shard: number): readonly string[] {
  if (shard > 0) return [shardName(names, shard)];
  return names.plain === undefined ? [names.suffixed] : [names.plain, names.suffixed];
}

function nameTaken({ cluster, namespace, app }: NamedPair, name: string): SetDiagnostic {
  const detail = `an object that is not ours holds the name ${name}, so the set has another`;
  return { kind: 'problem', reason: 'name-taken', cluster, namespace, name: app, detail };
}

function compareNotices(a: SetDiagnostic, b: SetDiagnostic): number {
  const byPlace = comparePairs({ ...a, app: a.name }, { ...b, app: b.name });
  return byPlace || (a.detail < b.detail ? -1 : 1);
}
