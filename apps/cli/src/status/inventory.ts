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
  ...profiles.flatMap(({ profile, problem: why, heldUntil, controlPlaneHealthy }) => [
    ...(why === null ? [] : [`ClusterProfile ${profile} is skipped: ${why}`]),
    ...(heldUntil === null ? [] : [`ClusterProfile ${profile} is gone; its remote is held until ${heldUntil}`]),
    ...(controlPlaneHealthy === 'False'
      ? [`ClusterProfile ${profile} says that its control plane is not healthy`]
      : []),
  ]),
];
