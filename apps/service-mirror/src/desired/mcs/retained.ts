import { importClusterLabel } from '../../names.ts';
import type { DesiredSlice } from '../objects.ts';
import type { ObservedSlice } from '../observed.ts';
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

const NOTHING_RETAINED: RetainedExports = { clusters: [], slices: [], existing: undefined };

/**
 * The part of unknown clusters in a ServiceImport, as the local objects show it: so a restart of ours doesn't change it.
 *
 * @param slices ours, of the import
 * @param unknown all unknown clusters, also those without a part in it
 */
export function retainedExports(
  { observed, slices }: { readonly observed: ObservedImport | undefined; readonly slices: readonly ObservedSlice[] },
  unknown: readonly string[],
): RetainedExports {
  const isOf = (slice: ObservedSlice, cluster: string): boolean => slice.labels[importClusterLabel] === cluster;
  const clusters = unknown
    .filter((each) => observed?.clusters.includes(each) === true || slices.some((slice) => isOf(slice, each)))
    .toSorted();
  if (clusters.length === 0) return NOTHING_RETAINED;
  return {
    clusters,
    slices: slices.filter((slice) => clusters.some((each) => isOf(slice, each))).map(asDesired),
    existing: observed && existingImport(observed),
  };
}

/** What a ServiceImport says of its exports. */
export function existingImport({ spec, labels, annotations }: ObservedImport): ExistingImport {
  const { type, ips: _, ports, ...policies } = spec;
  const definition = {
    ...policies,
    headless: type === 'Headless',
    ports: ports.map((port) => ({ ...port, targetPort: undefined })),
  };
  return { definition, labels, annotations };
}

const asDesired = ({ name, labels, annotations, family, ports, endpoints }: ObservedSlice): DesiredSlice => ({
  name,
  labels,
  annotations,
  family,
  ports,
  endpoints,
});
