import { importClusterLabel } from '../../names.ts';
import { exportedMarks } from '../../endpoints/desired/diff/marks.ts';
import { retainedSlice } from '../../endpoints/desired/merged/retained.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { DesiredSlice } from '../../endpoints/desired/objects.ts';
import type { ObservedSlice } from '../../endpoints/desired/observed.ts';
import { readWish } from '../../endpoints/desired/routing/wish.ts';
import type { ExistingImport } from './merge-exports.ts';
import type { ObservedImport } from './observed.ts';

/** The part of unknown clusters in a ServiceImport: unknown is not empty, so it stays. */
export type RetainedExports = {
  /** Those with a part in it, sorted. */
  readonly clusters: readonly string[];
  readonly slices: readonly DesiredSlice[];
  /** The import as it is, if it exists: one of the unknown clusters may have the oldest export, which decides. */
  readonly existing: ExistingImport | undefined;
};

/** The local objects of an import: it, and our slices. */
type Present = { readonly observed: ObservedImport | undefined; readonly slices: readonly ObservedSlice[] };

const NOTHING_RETAINED: RetainedExports = { clusters: [], slices: [], existing: undefined };

/**
 * The part of unknown clusters in a ServiceImport, as the local objects show it: so a restart of ours doesn't change it.
 *
 * @param slices ours, of the import
 * @param unknown all unknown clusters, also those without a part in it
 */
export function retainedExports({ observed, slices }: Present, unknown: readonly string[]): RetainedExports {
  const clusters = unknown
    .filter((each) => observed?.clusters.includes(each) === true || slices.some((slice) => clusterOf(slice) === each))
    .toSorted();
  if (clusters.length === 0) return NOTHING_RETAINED;
  return {
    clusters,
    slices: slices.filter((slice) => clusters.includes(clusterOf(slice))).map((slice) => retainedSlice(slice)),
    existing: observed && existingImport(observed),
  };
}

/** The part of clusters that aren't in the config in a ServiceImport: it stays until a cleanup. */
export type OrphanParts = { readonly clusters: readonly string[]; readonly slices: readonly DesiredSlice[] };

export const NO_ORPHANS: OrphanParts = { clusters: [], slices: [] };

/** @param configured the clusters of the config */
export function orphanParts({ observed, slices }: Present, configured: Pick<ReadonlySet<string>, 'has'>): OrphanParts {
  const isOrphan = (cluster: string): boolean => cluster !== '' && !configured.has(cluster);
  const own = slices.filter((slice) => isOrphan(clusterOf(slice)));
  const clusters = new Set([...(observed?.clusters ?? []).filter(isOrphan), ...own.map(clusterOf)]);
  return clusters.size === 0
    ? NO_ORPHANS
    : { clusters: [...clusters], slices: own.map((slice) => retainedSlice(slice)) };
}

/** What a ServiceImport says of its exports. */
export const existingImport = memoize((observed: ObservedImport): ExistingImport => {
  const { spec } = observed;
  const { type, ips: _, ports, ...policies } = spec;
  const definition = {
    ...policies,
    headless: type === 'Headless',
    ports: ports.map((port) => ({ ...port, targetPort: undefined })),
  };
  return { definition, ...exportedMarks(observed), wish: readWish(observed.annotations).wish };
});

/** The cluster of a slice's endpoints; `''` if it isn't known. */
export const clusterOf = ({ labels }: Pick<ObservedSlice, 'labels'>): string => labels[importClusterLabel] ?? '';
