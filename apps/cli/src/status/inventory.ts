import type { AppStatus } from '../clusters/app-status.ts';
import { type ClusterReport, readPods } from '../clusters/report.ts';

/** What is wrong with the clusters of inventories, and which are held: a sentence each. Undefined: no app has an inventory. */
export function inventoryIn(reports: readonly ClusterReport[]): readonly string[] | undefined {
  const found = readPods(reports).flatMap(({ cluster, pod, status: { inventory } }) =>
    inventory === undefined ? [] : [{ place: `${cluster} (${pod.app.replace('semaphore-', '')})`, inventory }],
  );
  if (found.length === 0) return undefined;
  // Agents of all nodes say the same.
  const all = found.flatMap(({ place, inventory }) => wordsOf(inventory).map((words) => `${place}: ${words}`));
  return [...new Set(all)];
}

type Inventory = NonNullable<AppStatus['inventory']>;

const wordsOf = ({ problem, profiles }: Inventory): readonly string[] => [
  ...(problem === null ? [] : [`the inventory: ${problem}`]),
  ...profiles.flatMap((each) =>
    [
      ...lossOf(each),
      ...(each.controlPlaneHealthy === 'False' ? ['says that its control plane is not healthy'] : []),
    ].map((words) => `ClusterProfile ${each.profile} ${words}`),
  ),
];

/** Why its remote isn't there, or won't be for long. */
function lossOf({ problem, heldUntil }: Inventory['profiles'][number]): readonly string[] {
  if (heldUntil === null) return problem === null ? [] : [`is skipped: ${problem}`];
  const why = problem === null ? 'is gone' : `can't be used (${problem})`;
  return [`${why}; its remote is held until ${heldUntil}`];
}
