import type { Change, Phase } from '../desired/change.ts';
import { readOwner } from '../desired/labels.ts';

/**
 * Carries out the phases of one key, each when the one before it was tried. A cluster whose write failed gets no other,
 * for what goes may wait for what didn't come; the other clusters whose sets are spelled alike get theirs.
 *
 * @param domains of the labels, those that count
 * @throws whatever made the first write fail, when all was tried
 */
export async function carryOut(
  phases: readonly Phase[],
  domains: readonly string[],
  write: (change: Change) => Promise<void>,
): Promise<void> {
  const failed = new Set<string>();
  const failures: unknown[] = [];
  const isHeldUp = (change: Change): boolean => clustersOf(change, domains).some((cluster) => failed.has(cluster));
  for (const phase of phases) {
    const [next, left] = [phase.filter((change) => !isHeldUp(change)), phase.filter(isHeldUp)];
    const results = await Promise.allSettled(next.map(write));
    const lost = next.filter((_, i) => results[i]!.status === 'rejected');
    failures.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : [])));
    // Also what wasn't tried: others may wait for it in turn.
    for (const change of [...lost, ...left]) for (const cluster of clustersOf(change, domains)) failed.add(cluster);
  }
  if (failures.length > 0) throw failures[0];
}

/** Two where a set passes from one cluster's pair to another's. */
function clustersOf(change: Change, domains: readonly string[]): readonly string[] {
  const sets = [...('from' in change ? [change.from] : []), ...('to' in change ? [change.to] : [])];
  return sets.map(({ labels }) => readOwner(labels, domains)?.cluster ?? '');
}
