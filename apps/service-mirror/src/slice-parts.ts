import { mirrorClusterLabel, sourceAnnotation } from '@kube-semaphore/naming';
import type { Change } from './change.ts';
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
  const parts = new Map<string, { writes: SlicePhases['writes'][number][]; adopted: Change[]; deletes: SlicePhases['deletes'][number][] }>();
  const partOf = (cluster: string) => {
    const part = parts.get(cluster) ?? { writes: [], adopted: [], deletes: [] };
    parts.set(cluster, part);
    return part;
  };
  for (const change of writes) partOf(clusterOf(change.to)).writes.push(change);
  for (const change of adopted) partOf('').adopted.push(change);
  for (const change of deletes) partOf(clusterOf(change.from)).deletes.push(change);
  return [...parts.values()];
}

/**
 * The deletions that may be done though some slices weren't written: not that of a slice whose source would be left
 * without any. What a Go program made doesn't tell its source.
 */
export function deletesBeside(deletes: SlicePhases['deletes'], unwritten: SlicePhases['writes']): SlicePhases['deletes'] {
  if (unwritten.length === 0) return deletes;
  const sources = new Set(unwritten.map(({ to }) => sourceOf(to)));
  return deletes.filter(({ from }) => sourceOf(from) !== undefined && !sources.has(sourceOf(from)));
}

type Marked = { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> };

const clusterOf = ({ labels }: Marked): string => labels[mirrorClusterLabel] ?? '';

const sourceOf = ({ annotations }: Marked): string | undefined => annotations[sourceAnnotation];
