import { mirrorClusterLabel, sourceAnnotation } from '../../names.ts';
import type { Change } from './change.ts';
import type { DesiredSlice } from '../objects.ts';
import type { SlicePhases } from './slices.ts';

/** The changes of one cluster's slices of a local Service. A mirror's slices are all of one cluster. */
export type SlicePart = SlicePhases & {
  /** Deletes of Go programs' objects, which come after the writes of the slices that replace them. */
  readonly adopted: readonly Change[];
};

/**
 * The changes of a Service's slices, by cluster: if writes for one cluster fail, endpoints of another must still be
 * deleted. In the order in which the clusters occur.
 */
export function partsOf({ writes, adopted, deletes }: SlicePart): readonly SlicePart[] {
  const writesOf = Map.groupBy(writes, ({ to }) => clusterOf(to));
  const deletesOf = Map.groupBy(deletes, ({ from }) => clusterOf(from));
  // Only mirrors adopt, and their slices name no cluster.
  const clusters = new Set([...writesOf.keys(), ...deletesOf.keys(), ...(adopted.length > 0 ? [''] : [])]);
  return Array.from(clusters, (cluster) => ({
    writes: writesOf.get(cluster) ?? [],
    adopted: cluster === '' ? adopted : [],
    deletes: deletesOf.get(cluster) ?? [],
  }));
}

/**
 * The deletes that are safe although some slices weren't written: not of slices with the same source as an unwritten one.
 * Slices of a Go program don't name their source.
 */
export function deletesBeside(
  deletes: SlicePhases['deletes'],
  unwritten: SlicePhases['writes'],
): SlicePhases['deletes'] {
  if (unwritten.length === 0) return deletes;
  const sources = new Set(unwritten.map(({ to }) => sourceOf(to)));
  return deletes.filter(({ from }) => sourceOf(from) !== undefined && !sources.has(sourceOf(from)));
}

type Marked = Pick<DesiredSlice, 'labels' | 'annotations'>;

const clusterOf = ({ labels }: Marked): string => labels[mirrorClusterLabel] ?? '';

const sourceOf = ({ annotations }: Marked): string | undefined => annotations[sourceAnnotation];
