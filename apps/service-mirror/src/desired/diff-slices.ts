import { isDeepStrictEqual } from 'node:util';
import type { DesiredSlice } from './objects.ts';
import type { ObservedSlice } from './observed.ts';

/** The Service that slices belong to. */
export type Owner = { readonly name: string; readonly uid: string };

/** `owner`: the Service that the slice belongs to; its UID is `''` in a plan where that isn't there yet. */
export type SliceChange =
  | { readonly kind: 'create-slice'; readonly to: DesiredSlice; readonly owner: Owner }
  | { readonly kind: 'update-slice'; readonly from: ObservedSlice; readonly to: DesiredSlice; readonly owner: Owner }
  | { readonly kind: 'delete-slice'; readonly from: ObservedSlice };

/** Slices that are written together, and then those that go: an address that moves is never missing in between. */
export type SlicePhases = { readonly writes: readonly SliceWrite[]; readonly deletes: readonly SliceDeletion[] };

type SliceWrite = Extract<SliceChange, { readonly to: DesiredSlice }>;

type SliceDeletion = Extract<SliceChange, { readonly kind: 'delete-slice' }>;

/**
 * How the local slices of a Service differ from what they should be. A slice keeps its family for good: one that is to
 * have another is deleted first, and created with the next look.
 *
 * @param observed ours, by whatever name
 */
export function diffSlices(
  observed: readonly ObservedSlice[],
  desired: readonly DesiredSlice[],
  owner: Owner,
): SlicePhases {
  const there = new Map(observed.map((slice) => [slice.name, slice]));
  const wanted = new Set<string>();
  const writes: SliceWrite[] = [];
  const deletes: SliceDeletion[] = [];
  for (const to of desired) {
    wanted.add(to.name);
    const from = there.get(to.name);
    if (from === undefined) writes.push({ kind: 'create-slice', to, owner });
    else if (from.family !== to.family) deletes.push({ kind: 'delete-slice', from });
    else if (!isSame(from, to, owner)) writes.push({ kind: 'update-slice', from, to, owner });
  }
  for (const from of observed) if (!wanted.has(from.name)) deletes.push({ kind: 'delete-slice', from });
  return { writes, deletes };
}

function isSame(from: ObservedSlice, to: DesiredSlice, owner: Owner): boolean {
  return (
    from.owners.length === 1 &&
    from.owners[0] === owner.uid &&
    isDeepStrictEqual(from.labels, to.labels) &&
    isDeepStrictEqual(from.annotations, to.annotations) &&
    isDeepStrictEqual(from.ports, to.ports) &&
    isDeepStrictEqual(from.endpoints, to.endpoints)
  );
}
