import type { Change } from '../sets/desired/change.ts';
import { type Owner, readOwner } from '../sets/desired/labels.ts';

export type CarryOutOptions<C> = {
  /** The clusters that a change is for. */
  readonly clustersOf: (change: C) => readonly string[];
  /** Whether a change is written even if one before it failed. Asked only then. Default: none is. */
  readonly isIndependent?: ((change: C) => boolean) | undefined;
  /** As `KeyWrites.write`: undefined if the change wasn't made. */
  readonly write: (change: C) => Promise<object | undefined>;
};

/**
 * Carries out the phases of one key, one after the other. After a write that isn't made, a cluster gets only independent writes
 * of later phases, as others may remove what wasn't added; other clusters whose objects have the same key get theirs.
 */
export async function carryOut<C>(
  phases: readonly (readonly C[])[],
  { clustersOf, isIndependent = () => false, write }: CarryOutOptions<C>,
): Promise<void> {
  const failed = new Set<string>();
  for (const phase of phases) {
    const isBlocked = (change: C): boolean =>
      clustersOf(change).some((cluster) => failed.has(cluster)) && !isIndependent(change);
    const [blocked, next] = [phase.filter(isBlocked), phase.filter((change) => !isBlocked(change))];
    const unwritten = [...blocked];
    const made = await Promise.all(next.map(write));
    unwritten.push(...next.filter((_, i) => made[i] === undefined));
    // A blocked change blocks others in turn.
    for (const change of unwritten) for (const cluster of clustersOf(change)) failed.add(cluster);
  }
}

/**
 * The owners of a set: two if it passes from a pair of one cluster to a pair of another.
 *
 * @param domains as of `readOwner`
 */
export function ownersOf(change: Change, domains: readonly string[]): readonly Owner[] {
  const sets = [...('from' in change ? [change.from] : []), ...('to' in change ? [change.to] : [])];
  return sets.flatMap(({ labels }) => readOwner(labels, domains) ?? []);
}
