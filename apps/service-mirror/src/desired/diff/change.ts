import type { ServiceChange } from './service.ts';
import type { SliceChange } from './slices.ts';
import type { ObservedEndpoints } from '../observed.ts';

/** One write to the mirror namespace. */
export type Change =
  | ServiceChange
  | SliceChange
  /** Go programs write Endpoints where we write slices. */
  | { readonly kind: 'delete-endpoints'; readonly from: ObservedEndpoints };
