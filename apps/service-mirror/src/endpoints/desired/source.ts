import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { RoutingWish } from './routing/wish.ts';

/** What is used of an object (undefined for nothing), and what is skipped. */
export type Reading<T> = { readonly value: T | undefined; readonly skipped: readonly Diagnostic[] };

/** An address family, as Services and EndpointSlices name it. */
export type Family = 'IPv4' | 'IPv6';

/** A port of a Service. `name` is `''` if it has none, which requires that it is the only port. */
export type ServicePort = {
  readonly name: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly port: number;
  /** For readers: traffic goes where the slices say. Undefined: the port itself. */
  readonly targetPort: number | string | undefined;
  readonly appProtocol: string | undefined;
};

/** The part of a Service that is copied: what matters to its clients. */
export type Definition = {
  readonly headless: boolean;
  /** The primary one first; never empty. */
  readonly families: readonly Family[];
  /** Those of the source that the config leaves out: the Service is replaced if its first one is among them. */
  readonly unusedFamilies?: readonly Family[];
  readonly ports: readonly ServicePort[];
  /** How long a client stays with one endpoint, in seconds; undefined: `sessionAffinity: None`. */
  readonly affinitySeconds: number | undefined;
  readonly publishNotReadyAddresses: boolean;
};

/** A Service to mirror or merge, as stored. */
export type SourceService = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** `metadata.creationTimestamp`, in ms of Unix time. */
  readonly createdAt: number;
  readonly definition: Definition;
  /** Kubernetes copies its labels to its slices. False also if that is unknown. */
  readonly hasSelector: boolean;
  /** The routing-strategy label asks for local-first routing. */
  readonly localFirst: boolean;
  /** Which clusters are to answer; undefined: it says nothing about that. */
  readonly wish?: RoutingWish | undefined;
};

/** The age of a Service whose real age is unknown: it loses every conflict. */
export const YOUNGEST = Infinity;

/** A port of a slice: where endpoints serve the Service's port of this name. */
export type SlicePort = {
  readonly name: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Undefined: all ports. */
  readonly port: number | undefined;
  readonly appProtocol: string | undefined;
};

/** Never undefined in a source. Undefined is unknown: consumers take an unknown `ready` or `serving` for true. */
type Conditions = {
  readonly ready: boolean | undefined;
  readonly serving: boolean | undefined;
  readonly terminating: boolean | undefined;
};

/**
 * An endpoint. Only local ones have `nodeName` and `zone`: those of other clusters would mislead local consumers. None has a
 * `targetRef`: Istio and Linkerd skip endpoints of Pods that they don't find.
 */
export type Endpoint = {
  /** Canonical text of the slice's family. */
  readonly address: string;
  /** More addresses of the same endpoint; undefined for none, as is usual: no array then, for each of half a million. */
  readonly otherAddresses: readonly string[] | undefined;
  readonly conditions: Conditions;
  readonly hostname: string | undefined;
  readonly nodeName: string | undefined;
  readonly zone: string | undefined;
  /** Of a local slice: the zones whose nodes should use it (`hints.forZones`), sorted. Undefined: no hints. */
  readonly zones: readonly string[] | undefined;
};

/** An EndpointSlice of a Service, as stored. */
export type SourceSlice = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The name of its Service, in the same namespace. */
  readonly service: string;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly Endpoint[];
  /**
   * The names of the endpoints' Pods, in their order, with `''` for one that has none, or none that can be a hostname;
   * undefined if all are `''`. They aren't in the endpoints, which a mirror shares.
   */
  readonly pods?: readonly string[] | undefined;
  /**
   * The names of the endpoints' Nodes, in their order, with `''` for one that has none; undefined if they aren't wanted. They are of
   * the remote, and never written.
   */
  readonly nodes?: readonly string[] | undefined;
};
