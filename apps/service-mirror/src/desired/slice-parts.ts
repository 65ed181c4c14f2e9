import { mirrorClusterLabel, sourceAnnotation } from '../names.ts';
import type { Change } from './change.ts';
import type { DesiredSlice } from './objects.ts';
import type { SlicePhases } from './diff-slices.ts';

/** What one cluster's slices of a local Service need. Those of a mirror are one cluster's all. */
export type SlicePart = SlicePhases & {
  /** What a Go program made in the place of slices: it goes when these are there. */
  readonly adopted: readonly Change[];
};

/**
 * What a Service's slices need, by cluster: what one cluster makes fail must not keep the endpoints of another that is
 * gone. In the order in which clusters are met.
 */
export function partsOf({ writes, adopted, deletes }: SlicePart): readonly SlicePart[] {
  const coming = Map.groupBy(writes, ({ to }) => clusterOf(to));
  const going = Map.groupBy(deletes, ({ from }) => clusterOf(from));
  // There is something to adopt of mirrors alone, whose slices name no cluster.
  const clusters = new Set([...coming.keys(), ...going.keys(), ...(adopted.length > 0 ? [''] : [])]);
  return Array.from(clusters, (cluster) => ({
    writes: coming.get(cluster) ?? [],
    adopted: cluster === '' ? adopted : [],
    deletes: going.get(cluster) ?? [],
  }));
}

/**
 * The deletions that may be done though some slices weren't written: not that of a slice whose source would be left
 * without any. What a Go program made doesn't tell its source.
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
