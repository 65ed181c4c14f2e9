import type { DesiredSet, ObservedSet } from './network-set.ts';

export type Create = { readonly kind: 'create'; readonly to: DesiredSet };

/**
 * `to` is what to PUT: our labels and nets as desired; resourceVersion, owners, finalizers, annotations and the labels of others
 * as in `from`.
 */
export type Update = { readonly kind: 'update'; readonly from: ObservedSet; readonly to: ObservedSet };

/** Sent with the UID and the resourceVersion of `from` as preconditions. */
export type Delete = { readonly kind: 'delete'; readonly from: ObservedSet };

export type Change = Create | Update | Delete;

/** Changes that can be written in parallel. The changes of a cluster in a later phase wait until these have succeeded. */
export type Phase = readonly Change[];
