import { readNet } from './addresses.ts';
import type { Change, Delete, Phase, Update } from './change.ts';
import type { ObservedSet } from './network-set.ts';
import { pairText, readOwner } from './labels.ts';

/**
 * Orders updates so that each address is added before it is removed: the update that removes it from the last set of its
 * pair comes after the update that adds it to another. That can be a chain: a set passes from one pair to another, after
 * the set that gets its addresses, which itself passes from a third pair.
 *
 * It can't be a circle. Within a pair, a shard that loses addresses is full, so it gets none. Between pairs, take the
 * longest name in such a circle: it is the plain name of one of its two pairs, or they couldn't both have it, and the other
 * set of that pair in the circle has a longer name (`SetNames`). Only after someone exchanged the labels of sets can there
 * be a circle. Its updates are one phase, with a gap.
 *
 * @param deletes come after all updates
 * @param domains as of `readOwner`
 * @returns phases, none empty, each in the order of `updates`
 */
export function updatePhases(
  updates: readonly Update[],
  deletes: readonly Delete[],
  domains: readonly string[],
): readonly (readonly Update[])[] {
  // The usual case: a Pod came or went.
  if (updates.length < 2) return updates.length === 0 ? [] : [updates];
  const waits = waitsBetween(updates, deletes, domains);
  const phases: (readonly Update[])[] = [];
  const done = new Set<Update>();
  let pending = updates;
  while (pending.length > 0) {
    const ready = pending.filter((update) => [...(waits.get(update) ?? [])].every((arrival) => done.has(arrival)));
    const phase = ready.length > 0 ? ready : pending;
    phases.push(phase);
    for (const update of phase) done.add(update);
    pending = pending.filter((update) => !done.has(update));
  }
  return phases;
}

/**
 * Tells which changes of a key may be written even if others of it can't: those that remove only addresses which no change adds to
 * another set of the same pair, as these don't move. A Pod that is gone must not keep its access because another shard is
 * refused.
 *
 * @param domains as of `readOwner`
 */
export function independentOf(phases: readonly Phase[], domains: readonly string[]): (change: Change) => boolean {
  let added: ReadonlySet<string> | undefined;
  return (change) => {
    added ??= new Set(phases.flat().flatMap((each) => entriesChanged(each, domains).added));
    return entriesChanged(change, domains).removed.every((entry) => !added!.has(entry));
  };
}

function entriesChanged(
  change: Change,
  domains: readonly string[],
): Readonly<Record<'added' | 'removed', readonly string[]>> {
  const before = 'from' in change ? entriesOf(change.from, domains) : [];
  const after = 'to' in change ? entriesOf(change.to, domains) : [];
  const [had, has] = [new Set(before), new Set(after)];
  return { added: after.filter((entry) => !had.has(entry)), removed: before.filter((entry) => !has.has(entry)) };
}

/** By update that removes addresses: the updates that add these to another set of the same pair. */
function waitsBetween(
  updates: readonly Update[],
  deletes: readonly Delete[],
  domains: readonly string[],
): ReadonlyMap<Update, ReadonlySet<Update>> {
  const deleted = new Set(deletes.flatMap(({ from }) => entriesOf(from, domains)));
  const arrivals = new Map<string, Update>();
  const departures = new Map<string, Update>();
  for (const update of updates) {
    const before = new Set(entriesOf(update.from, domains));
    const after = new Set(entriesOf(update.to, domains));
    for (const entry of after) if (!before.has(entry)) arrivals.set(entry, update);
    for (const entry of before) {
      // Of several sets with an address one must wait: preferably the one that passes to another pair.
      if (after.has(entry) || deleted.has(entry)) continue;
      if (!departures.has(entry) || passes(update, domains)) departures.set(entry, update);
    }
  }
  const waits = new Map<Update, Set<Update>>();
  for (const [entry, leaving] of departures) {
    const arriving = arrivals.get(entry);
    if (arriving !== undefined) waits.set(leaving, (waits.get(leaving) ?? new Set()).add(arriving));
  }
  return waits;
}

/** Whether a set passes from one pair to another. */
function passes({ from, to }: Update, domains: readonly string[]): boolean {
  return ownerText(from, domains) !== ownerText(to, domains);
}

/** Each address, with the pair in the labels. */
function entriesOf(set: Pick<ObservedSet, 'labels' | 'nets'>, domains: readonly string[]): readonly string[] {
  const owner = ownerText(set, domains);
  if (owner === undefined) return [];
  return set.nets.flatMap((net) => readNet(net) ?? []).map((cidr) => `${owner} ${cidr}`);
}

/** The pair in the labels of a set. */
export function ownerText({ labels }: Pick<ObservedSet, 'labels'>, domains: readonly string[]): string | undefined {
  const pair = readOwner(labels, domains)?.pair;
  return pair && pairText(pair);
}
