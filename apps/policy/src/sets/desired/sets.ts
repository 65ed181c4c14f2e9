import { shardName } from '../../names.ts';
import { currentShards, named, type NamedPair } from './observed-shards.ts';
import { type HostNetworkPods, wantedAddresses } from './host-network.ts';
import type { PairMembers } from './member.ts';
import { compareNames, compareText } from '@kube-semaphore/naming';
import type { DesiredSet, ObservedSet } from './network-set.ts';
import type { SetDiagnostic } from './diagnostic.ts';
import { comparePairs, type Identity, pairText, setLabels } from './labels.ts';
import { distribute } from '@kube-semaphore/network-policies';

/** A pair with members, and under which labels its sets are written. */
export type WantedPair = PairMembers & { readonly identity: Identity };

/** All input for the sets of one key. Its order makes no difference. */
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
 * The existing sets decide two things only: an address stays in its shard, and addresses of nodes may be retained
 * (`HostNetworkPods`). Once the result is applied, the next call returns the same.
 */
export function desiredSets(input: DesiredInput): Desired {
  const { domains, observed, maxNetsPerSet, hostNetworkPods, isTaken } = input;
  const contenders = input.pairs.map(named).toSorted(comparePrecedence);
  const shardsByPair = currentShards(contenders, observed, domains);

  const claimed = new Set<string>();
  const sets: DesiredSet[] = [];
  const diagnostics: (readonly SetDiagnostic[])[] = [];
  for (const pair of contenders) {
    const current = shardsByPair.get(pairText(pair)) ?? new Map<number, ReadonlySet<string>>();
    const isInSet = (cidr: string): boolean => [...current.values()].some((shard) => shard.has(cidr));
    const addresses = wantedAddresses(pair, hostNetworkPods, isInSet);
    const { wanted } = addresses;

    const taken = new Set<string>();
    const isFreeName = (name: string): boolean => {
      if (isTaken(name)) taken.add(name);
      return !taken.has(name) && !claimed.has(name);
    };
    const nameOf = (shard: number): string | undefined => namesFor(pair, shard).find(isFreeName);
    const isFree = (shard: number): boolean => nameOf(shard) !== undefined;
    const max = wanted.some(isIpv6) ? Math.min(maxNetsPerSet, MOST_WITH_IPV6) : maxNetsPerSet;
    for (const [shard, nets] of distribute({ wanted, current, max, isFree })) {
      // Only free shards get addresses.
      const name = nameOf(shard)!;
      claimed.add(name);
      sets.push({ name, labels: setLabels(pair.identity, pair), nets });
    }
    diagnostics.push(
      addresses.diagnostics,
      Array.from(taken, (name) => nameTaken(pair, name)),
    );
  }
  return { sets: sets.toSorted(compareNames), diagnostics: diagnostics.flat().toSorted(compareDiagnostics) };
}

/** An IPv6 address takes up to 46 bytes, and etcd takes objects of 1.5 MiB. With IPv4 alone a set may have 50,000. */
const MOST_WITH_IPV6 = 30_000;

const isIpv6 = (cidr: string): boolean => cidr.includes(':');

type Contender = NamedPair & WantedPair;

/**
 * The order in which pairs choose their names. Of those with one plain name, the smallest (namespace, name, cluster) gets
 * it, and the others get suffixed names. A plain name can also equal the suffixed name or a shard of a shorter pair: the
 * shorter pair comes first, as it has no other name. Pairs with held members only come last, so that old addresses of a
 * rebuilt cluster don't take its names.
 */
function comparePrecedence(a: Contender, b: Contender): number {
  return (
    Number(isHeld(a)) - Number(isHeld(b)) || a.names.suffixed.length - b.names.suffixed.length || comparePairs(a, b)
  );
}

/** Whether only the deletion guard keeps the pair. */
const isHeld = ({ members }: PairMembers): boolean => members.every(({ held }) => held === true);

/** The names that a shard of a pair can have, best first. */
function namesFor({ names }: NamedPair, shard: number): readonly string[] {
  if (shard > 0) return [shardName(names, shard)];
  return names.plain === undefined ? [names.suffixed] : [names.plain, names.suffixed];
}

function nameTaken({ cluster, namespace, app }: NamedPair, name: string): SetDiagnostic {
  const detail = `an object that is not ours has the name ${name}, so the set gets another name`;
  return { kind: 'problem', reason: 'name-taken', cluster, namespace, name: app, detail };
}

function compareDiagnostics(a: SetDiagnostic, b: SetDiagnostic): number {
  return comparePairs({ ...a, app: a.name }, { ...b, app: b.name }) || compareText(a.detail, b.detail);
}
