import type { Change } from '../desired/sets/change.ts';
import { readOwner } from '../desired/labels.ts';

export type CarryOutOptions<C> = {
  /** The clusters that a change is for. */
  readonly clustersOf: (change: C) => readonly string[];
  /** Whether a change is written even if one before it failed. Asked only then. Default: none is. */
  readonly isIndependent?: ((change: C) => boolean) | undefined;
  readonly write: (change: C) => Promise<void>;
};

/**
 * Carries out the phases of one key, one after the other. After a failed write, a cluster gets no writes of later phases,
 * as these may remove what wasn't added; other clusters whose objects have the same key get theirs.
 *
 * @throws the error of the first write that failed, when all phases are over
 */
export async function carryOut<C>(
  phases: readonly (readonly C[])[],
  { clustersOf, isIndependent = () => false, write }: CarryOutOptions<C>,
): Promise<void> {
  const failed = new Set<string>();
  const failures: unknown[] = [];
  for (const phase of phases) {
    const isBlocked = (change: C): boolean =>
      clustersOf(change).some((cluster) => failed.has(cluster)) && !isIndependent(change);
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
    for (const change of unwritten) for (const cluster of clustersOf(change)) failed.add(cluster);
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * The clusters of a set: two if it passes from a pair of one cluster to a pair of another.
 *
 * @param domains as of `readOwner`
 */
export function clustersOfSet(change: Change, domains: readonly string[]): readonly string[] {
  const sets = [...('from' in change ? [change.from] : []), ...('to' in change ? [change.to] : [])];
  return sets.map(({ labels }) => readOwner(labels, domains)?.cluster ?? '');
}
