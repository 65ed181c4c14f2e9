import type { DesiredSet, ObservedSet } from './network-set.ts';

export type Create = { readonly kind: 'create'; readonly to: DesiredSet };

/**
 * `to` is what to PUT: the labels and nets that should be, and of `from` the resourceVersion, the owners, the
 * finalizers and the annotations.
 */
export type Update = { readonly kind: 'update'; readonly from: ObservedSet; readonly to: ObservedSet };

/** To be sent with the UID and the resourceVersion of `from` as preconditions. */
export type Delete = { readonly kind: 'delete'; readonly from: ObservedSet };

export type Change = Create | Update | Delete;

/** Changes that may be written in parallel; what another phase has of the same cluster waits for their success. */
export type Phase = readonly Change[];
