import { isDeepStrictEqual } from 'node:util';
import { type DesiredSlice, isSameEndpoints } from '../objects.ts';
import type { ObservedSlice } from '../observed.ts';
import { memoize } from '@kube-semaphore/memoize';
import { hasMarks } from './marks.ts';

/** The Service that slices belong to. */
export type Owner = { readonly name: string; readonly uid: string };

/**
 * `owner`: the Service that the slice belongs to. Its UID is `''` in a plan that creates the Service. Undefined: none, see
 * `ownerOf`.
 */
export type SliceChange =
  | { readonly kind: 'create-slice'; readonly to: DesiredSlice; readonly owner: Owner | undefined }
  | {
      readonly kind: 'update-slice';
      readonly from: ObservedSlice;
      readonly to: DesiredSlice;
      readonly owner: Owner | undefined;
    }
  | { readonly kind: 'delete-slice'; readonly from: ObservedSlice };

/** Writes come before deletes, so that an address that moves between slices is never missing. */
export type SlicePhases = { readonly writes: readonly SliceWrite[]; readonly deletes: readonly SliceDeletion[] };

export type SliceWrite = Extract<SliceChange, { readonly to: DesiredSlice }>;

type SliceDeletion = Extract<SliceChange, { readonly kind: 'delete-slice' }>;

/**
 * The owner of an object's slices. One that is being deleted has none: they would be deleted with it by the garbage collector,
 * and the next object of its name adopts them.
 */
export const ownerOf = ({ name, uid, isTerminating }: Owner & { readonly isTerminating: boolean }): Owner | undefined =>
  isTerminating ? undefined : { name, uid };

/**
 * How the local slices of a Service differ from what they should be. As a slice's family is immutable, a slice that
 * needs another one is deleted now, and created by the next reconcile.
 *
 * @param observed ours, whatever their names
 */
export function diffSlices(
  observed: readonly ObservedSlice[],
  desired: readonly DesiredSlice[],
  owner: Owner | undefined,
): SlicePhases {
  const observedByName = new Map(observed.map((slice) => [slice.name, slice]));
  const wanted = new Set<string>();
  const writes: SliceWrite[] = [];
  const deletes: SliceDeletion[] = [];
  for (const to of desired) {
    wanted.add(to.name);
    const from = observedByName.get(to.name);
    if (from === undefined) writes.push({ kind: 'create-slice', to, owner });
    else if (from.family !== to.family) deletes.push({ kind: 'delete-slice', from });
    else if (!isAsWritten(from, { to, owner })) writes.push({ kind: 'update-slice', from, to, owner });
  }
  for (const from of observed) if (!wanted.has(from.name)) deletes.push({ kind: 'delete-slice', from });
  return { writes, deletes };
}

/** Whether a slice is what a write makes of it. */
export const isAsWritten = (slice: ObservedSlice, { to, owner }: Pick<SliceWrite, 'to' | 'owner'>): boolean =>
  isSame(to, slice, owner?.uid);

/** @param owner the UID of the only one */
const isSame = memoize(
  (to: DesiredSlice, from: ObservedSlice, owner: string | undefined): boolean =>
    from.owners.length === (owner === undefined ? 0 : 1) &&
    from.owners[0] === owner &&
    from.hasTargets === undefined &&
    hasMarks(from, to) &&
    isDeepStrictEqual(from.ports, to.ports) &&
    isSameEndpoints(from.endpoints, to.endpoints),
);
