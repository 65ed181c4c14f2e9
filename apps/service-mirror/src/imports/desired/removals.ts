import { compareText } from '@kube-semaphore/naming';
import { importKey } from '../../names.ts';
import type { PlacedChange } from './changes.ts';
import { keyOfDerived, keyOfSlice, type LocalDerived, type LocalImport, type LocalSlice } from './observed.ts';
import { clusterOf } from './retained.ts';

/** Our objects of all ServiceImports. */
export type OurImports = {
  readonly imports: readonly LocalImport[];
  readonly services: readonly LocalDerived[];
  readonly slices: readonly LocalSlice[];
};

/**
 * How to remove a cluster from all ServiceImports, and those that no other cluster has, in the order of an unexport.
 *
 * @param cluster undefined: all clusters
 */
export function importRemovals(ours: OurImports, cluster: string | undefined): readonly PlacedChange[] {
  const imports = new Map(ours.imports.map((each) => [importKey(each.namespace, each.name), each]));
  const services = Map.groupBy(ours.services, keyOfDerived);
  const slices = Map.groupBy(ours.slices, keyOfSlice);
  const keys = new Set([...imports.keys(), ...services.keys(), ...slices.keys()]);
  return [...keys].toSorted(compareText).flatMap((key) => {
    const own = { found: imports.get(key), services: services.get(key) ?? [], slices: slices.get(key) ?? [] };
    return removalsOf(own, cluster);
  });
}

type One = Omit<OurImports, 'imports'> & { readonly found: LocalImport | undefined };

function removalsOf({ found, services, slices }: One, cluster: string | undefined): readonly PlacedChange[] {
  const parts = new Set([...(found?.clusters ?? []), ...slices.map(clusterOf)]);
  if (cluster !== undefined && !parts.delete(cluster)) return [];
  if (cluster !== undefined && parts.size > 0)
    return [
      ...(found?.clusters.includes(cluster) === true ? [withoutPart(found, cluster)] : []),
      ...slices.filter((slice) => clusterOf(slice) === cluster).map(sliceDeletion),
    ];
  return [
    ...(found === undefined || found.isTerminating
      ? []
      : [{ namespace: found.namespace, change: { kind: 'delete-import', from: found } } as const]),
    ...slices.map(sliceDeletion),
    ...services
      .filter(({ isTerminating }) => !isTerminating)
      .map((from): PlacedChange => ({ namespace: from.namespace, change: { kind: 'delete-derived', from } })),
  ];
}

/** The rest of its status stays: the next reconcile of the process decides. */
function withoutPart(from: LocalImport, cluster: string): PlacedChange {
  const { namespace, clusters, conditions } = from;
  const sliceObjects = from.sliceObjects === 'Present' ? 'Present' : 'Absent';
  const to = { clusters: clusters.filter((each) => each !== cluster), conditions, sliceObjects } as const;
  return { namespace, change: { kind: 'update-import-status', from, to } };
}

const sliceDeletion = (from: LocalSlice): PlacedChange => ({
  namespace: from.namespace,
  change: { kind: 'delete-slice', from },
});
