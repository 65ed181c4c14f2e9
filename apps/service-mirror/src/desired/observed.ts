import type { OwnerReference } from '@kube-semaphore/kube-objects';
import type { DesiredEndpoint } from './objects.ts';
import type { Definition, Family, SlicePort } from './source.ts';

type StringMap = Readonly<Record<string, string>>;

/** What every local object has. */
export type Identity = { readonly name: string; readonly uid: string; readonly resourceVersion: string };

/** A Service of the mirror namespace, as far as we look at it. */
export type ObservedService = Identity & {
  /** `metadata.creationTimestamp`, in ms. */
  readonly createdAt: number;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly definition: Definition;
  readonly familyPolicy: string;
  /** It is of type ClusterIP, has no selector, and routes to all nodes: nothing that we would never write. */
  readonly isPlain: boolean;
  /** It was deleted, and is there until its finalizers are done. */
  readonly isTerminating: boolean;
  /** Kept whole, because a PUT that leaves them out would remove them. */
  readonly ownerReferences: readonly Partial<OwnerReference>[];
  readonly finalizers: readonly string[];
};

/** An EndpointSlice of the mirror namespace. */
export type ObservedSlice = Identity & {
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** The UIDs of its owners. */
  readonly owners: readonly string[];
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly DesiredEndpoint[];
};

/** An Endpoints object of the mirror namespace, which a Go program made. */
export type ObservedEndpoints = Identity & {
  readonly labels: StringMap;
  /** The ready ones. */
  readonly addresses: readonly string[];
};
