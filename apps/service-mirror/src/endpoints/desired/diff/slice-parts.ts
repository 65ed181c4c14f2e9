import { importClusterLabel, mirrorClusterLabel } from '../../../names.ts';
import { clusterOf } from '../diagnostic.ts';
import type { Change } from './change.ts';
import { type DesiredSlice, hasReady } from '../objects.ts';
import type { SlicePhases } from './slices.ts';

/** The changes of one cluster's slices of a local Service or ServiceImport. A mirror's slices are all of one cluster. */
export type SlicePart = SlicePhases & {
  /** Deletes of Go programs' objects, which come after the writes of the slices that replace them. */
  readonly adopted: readonly Change[];
};

/**
 * The changes of a Service's slices, by cluster: if writes for one cluster fail, endpoints of another must still be
 * deleted. In the order in which the clusters occur.
 */
export function partsOf({ writes, adopted, deletes }: SlicePart): readonly SlicePart[] {
  const writesOf = Map.groupBy(writes, ({ to }) => clusterOfSlice(to));
  const deletesOf = Map.groupBy(deletes, ({ from }) => clusterOfSlice(from));
  // Only mirrors adopt, and their slices name no cluster.
  const clusters = new Set([...writesOf.keys(), ...deletesOf.keys(), ...(adopted.length > 0 ? [''] : [])]);
  return Array.from(clusters, (cluster) => ({
    writes: writesOf.get(cluster) ?? [],
    adopted: cluster === '' ? adopted : [],
    deletes: deletesOf.get(cluster) ?? [],
  }));
}

/**
 * The writes of slices that are safe although their Service isn't updated: not those that take away a port which it has, as
 * nothing would answer there.
 *
 * @param ports of the Service as it is
 */
export function writesBeside(
  writes: SlicePhases['writes'],
  ports: readonly { readonly name: string }[],
): SlicePhases['writes'] {
  const has = ({ ports: all }: Pick<DesiredSlice, 'ports'>, name: string): boolean =>
    all.some((port) => port.name === name);
  return writes.filter(
    (change) =>
      change.kind === 'create-slice' || ports.every(({ name }) => !has(change.from, name) || has(change.to, name)),
  );
}

/**
 * The deletes of a cluster's slices that are safe although some of its slices weren't written: not of an address that moves
 * to one of these, nor of the last ready endpoint.
 *
 * @param isLast all deletes together would leave no ready endpoint
 */
export function deletesBeside(
  deletes: SlicePhases['deletes'],
  unwritten: SlicePhases['writes'],
  { isLast }: { readonly isLast: boolean },
): SlicePhases['deletes'] {
  if (unwritten.length === 0) return deletes;
  if (isLast && unwritten.some(({ to }) => hasReady(to))) return [];
  const moving = new Set(unwritten.flatMap(({ to }) => to.endpoints.map(({ address }) => address)));
  return deletes.filter(({ from }) => !from.endpoints.some(({ address }) => moving.has(address)));
}

/** The cluster that a write of a key is about: that of a slice, if it names one. @param change as `Unwritten.change` */
export function clusterOfWrite(key: string, change: unknown): string {
  const { to } = change as { readonly to?: Partial<DesiredSlice> };
  return clusterOfSlice({ labels: to?.labels ?? {} }) || clusterOf(key);
}

/** The cluster of a slice's endpoints, in a global Service or an import; `''` if it names none. */
export const clusterOfSlice = ({ labels }: Pick<DesiredSlice, 'labels'>): string =>
  labels[mirrorClusterLabel] ?? labels[importClusterLabel] ?? '';
