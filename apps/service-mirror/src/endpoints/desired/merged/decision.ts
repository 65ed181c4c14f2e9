import { isDeepStrictEqual } from 'node:util';
import { type DesiredSlice, hasReady } from '../objects.ts';
import type { SourceSlice } from '../source.ts';
import type { SliceSources } from './slices.ts';
import type { Stale } from './stale-endpoints.ts';

/** What a cluster has of a merged Service. All fields but `slices` are the same objects while nothing else changes. */
export type Part = SliceSources & { readonly stale: Stale };

/**
 * What all clusters of a merged Service decided together. While only endpoints change, that stays, and the slices of a cluster
 * follow from its own part alone: of hundreds of clusters, one changes at a time.
 */
export type Decision<P extends Part> = {
  /** The parts that endpoints alone may change. */
  readonly parts: readonly P[];
  readonly slicesOf: (part: P) => readonly DesiredSlice[];
};

/**
 * Whether a part differs in endpoints alone. Each slice is as ready as before: whether a level of an order is up, and whether other
 * clusters can take over from a stale one, depends on that.
 */
export function isOfDecision<P extends Part>({ slices: before, ...others }: P, { slices, ...now }: P): boolean {
  const [fields, last] = [Object.entries(now), others as Readonly<Record<string, unknown>>];
  if (now.stale !== 'no' || fields.length !== Object.keys(last).length) return false;
  if (!fields.every(([field, value]) => last[field] === value) || slices.length !== before.length) return false;
  const byName = new Map(before.map((slice) => [slice.name, slice]));
  return slices.every((slice) => isSameButEndpoints(byName.get(slice.name), slice));
}

const isSameButEndpoints = (before: SourceSlice | undefined, now: SourceSlice): boolean =>
  before !== undefined &&
  before.family === now.family &&
  hasReady(before) === hasReady(now) &&
  isDeepStrictEqual(before.ports, now.ports);
