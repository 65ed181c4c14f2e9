import { hasCalicoMetadata, isSameMap, withoutCalicoMetadata } from '@kube-semaphore/network-policies';
import type { Create, Delete, Phase, Update } from './change.ts';
import { shardOf } from '../../names.ts';
import { labelsOfOthers, readOwner } from './labels.ts';
import { named } from './observed-shards.ts';
import { compareNames } from '@kube-semaphore/naming';
import type { DesiredSet, ObservedSet } from './network-set.ts';
import { ownerText, updatePhases } from './write-phases.ts';

/**
 * The writes that turn `observed` into `desired`, in an order without a gap: an address that is in a set of its pair before
 * and after is in one after each single write, too. So creates come first; an update that removes an address waits for the
 * update that adds it to another set; deletes come last.
 *
 * @param observed the sets of one key that are ours, in any order
 * @param desired the result of `desiredSets`, in any order
 * @param domains as of `readOwner`
 * @returns phases, none empty, each sorted by name
 */
export function diffSets(
  observed: readonly ObservedSet[],
  desired: readonly DesiredSet[],
  domains: readonly string[],
): readonly Phase[] {
  const existing = new Map(observed.map((set) => [set.name, set]));
  const wanted = new Set(desired.map(({ name }) => name));

  const creates: Create[] = [];
  const updates: Update[] = [];
  for (const to of desired.toSorted(compareNames)) {
    const from = existing.get(to.name);
    if (from === undefined) creates.push({ kind: 'create', to });
    else {
      const next = updated(from, to, domains);
      if (differs(from, next)) updates.push({ kind: 'update', from, to: next });
    }
  }
  const deletes = observed
    .filter(({ name }) => !wanted.has(name))
    .toSorted(compareNames)
    .map((from): Delete => ({ kind: 'delete', from }));
  return [creates, ...updatePhases(updates, deletes, domains), deletes].filter((phase) => phase.length > 0);
}

/** Order makes no difference. A net that is there twice, or in another spelling, does. */
function differs(from: ObservedSet, { labels, nets }: ObservedSet): boolean {
  if (hasCalicoMetadata(from.annotations) || !isSameMap(from.labels, labels)) return true;
  if (from.nets.length !== nets.length) return true;
  if (from.nets.every((net, i) => net === nets[i])) return false;
  const present = new Set(from.nets);
  return !nets.every((net) => present.has(net));
}

function updated(from: ObservedSet, to: DesiredSet, domains: readonly string[]): ObservedSet {
  const { labels, nets } = to;
  const others = passes(from, to, domains) ? {} : labelsOfOthers(from.labels, domains);
  return { ...from, labels: { ...others, ...labels }, nets, annotations: withoutCalicoMetadata(from.annotations) };
}

/**
 * Whether a set passes to another pair that can have its name. Then labels of others go: policies that select them would let in
 * other Pods, and a remote can cause this.
 */
function passes(from: ObservedSet, to: DesiredSet, domains: readonly string[]): boolean {
  if (ownerText(from, domains) === ownerText(to, domains)) return false;
  // After someone edited the labels, they name a pair that can't have this name.
  const before = readOwner(from.labels, domains)?.pair;
  return before !== undefined && shardOf(named(before).names, from.name) !== undefined;
}
