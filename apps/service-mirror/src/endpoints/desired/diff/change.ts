import type { ServiceChange } from './service.ts';
import type { SliceChange } from './slices.ts';
import type { ObservedEndpoints } from '../observed.ts';

/** One write to the mirror namespace. */
export type Change =
  | ServiceChange
  | SliceChange
  /** Go programs write Endpoints where we write slices. */
  | { readonly kind: 'delete-endpoints'; readonly from: ObservedEndpoints };

/** The kind and the name of the object that a change writes. */
export function objectOf(change: Change): string {
  const { name } = 'to' in change ? change.to : change.from;
  if (change.kind === 'delete-endpoints') return `Endpoints ${name}`;
  return change.kind.endsWith('-slice') ? `EndpointSlice ${name}` : `Service ${name}`;
}
