import type { OwnerReference } from '@kube-semaphore/kube-objects';
import type { StringMap } from './objects.ts';
import type { Definition, Endpoint, Family, SlicePort } from './source.ts';

/** What every local object has. */
export type Identity = { readonly name: string; readonly uid: string; readonly resourceVersion: string };

/** The part of a Service in the mirror namespace that we use. */
export type ObservedService = Identity & {
  /** `metadata.creationTimestamp`, in ms. */
  readonly createdAt: number;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly definition: Definition;
  /** Its first address; undefined if it has none, as a headless one. */
  readonly ip?: string | undefined;
  readonly familyPolicy: string;
  /** It has type ClusterIP, no selector, and routes to all nodes, like every Service that we write. */
  readonly isPlain: boolean;
  /** It was deleted, and exists until its finalizers are done. */
  readonly isTerminating: boolean;
  /** Complete, because a PUT without them would remove them. */
  readonly ownerReferences: readonly Partial<OwnerReference>[];
  readonly finalizers: readonly string[];
};

/** An EndpointSlice in the mirror namespace. */
export type ObservedSlice = Identity & {
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** The UIDs of its owners. */
  readonly owners: readonly string[];
  /** As in `ObservedService`; absent without any, to save memory: there are many slices. */
  readonly finalizers?: readonly string[] | undefined;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly Endpoint[];
  /** An endpoint has a `targetRef`, as older builds wrote it; absent otherwise, to save memory. */
  readonly hasTargets?: true;
};

/** An Endpoints object in the mirror namespace; a Go program made it. */
export type ObservedEndpoints = Identity & {
  readonly labels: StringMap;
  /** The ready ones. */
  readonly addresses: readonly string[];
};
