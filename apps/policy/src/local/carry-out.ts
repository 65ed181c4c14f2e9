import type { Change, Phase } from '../desired/change.ts';
import { readOwner } from '../desired/labels.ts';

/**
 * Carries out the phases of one key, one after the other. After a failed write, a cluster gets no writes of later phases,
 * as these may remove what wasn't added; other clusters whose sets have the same key get theirs.
 *
 * @param domains as of `readOwner`
 * @throws the error of the first write that failed, when all phases are over
 */
export async function carryOut(
  phases: readonly Phase[],
  domains: readonly string[],
  write: (change: Change) => Promise<void>,
): Promise<void> {
  const failed = new Set<string>();
  const failures: unknown[] = [];
  for (const phase of phases) {
    const isBlocked = (change: Change): boolean => clustersOf(change, domains).some((cluster) => failed.has(cluster));
    const [blocked, next] = [phase.filter(isBlocked), phase.filter((change) => !isBlocked(change))];
    const unwritten = [...blocked];
    await Promise.all(
      next.map((change) =>
        write(change).catch((error: unknown) => {
          failures.push(error);
          unwritten.push(change);
        }),
      ),
    );
    // A blocked change blocks others in turn.
    for (const change of unwritten) for (const cluster of clustersOf(change, domains)) failed.add(cluster);
  }
  if (failures.length > 0) throw failures[0];
}

/** Two if a set passes from a pair of one cluster to a pair of another. */
function clustersOf(change: Change, domains: readonly string[]): readonly string[] {
  const sets = [...('from' in change ? [change.from] : []), ...('to' in change ? [change.to] : [])];
  return sets.map(({ labels }) => readOwner(labels, domains)?.cluster ?? '');
}
