import type { Diagnostic } from '@kube-semaphore/multicluster';

/** What an object is to us, and what of it is left out. */
export type Reading<T> = { readonly value: T | undefined; readonly skipped: readonly Diagnostic[] };

/** An address family, as Services and EndpointSlices name it. */
export type Family = 'IPv4' | 'IPv6';

/** A port of a Service. `name` is `''` where it has none, as only a Service with one port may. */
export type ServicePort = {
  readonly name: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly port: number;
  /** Where traffic goes in the Pod, as people read it: the slices say where it really goes. Undefined: the port itself. */
  readonly targetPort: number | string | undefined;
  readonly appProtocol: string | undefined;
};

/** What a Service is to those who use it; the part that is copied. */
export type Definition = {
  readonly headless: boolean;
  /** The primary one first; never empty. */
  readonly families: readonly Family[];
  readonly ports: readonly ServicePort[];
  /** How long a client stays with one endpoint, in seconds; undefined: `sessionAffinity: None`. */
  readonly affinitySeconds: number | undefined;
  readonly publishNotReadyAddresses: boolean;
};

/** A Service that is to be mirrored, as it lies in the store of its cluster. */
export type SourceService = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** `metadata.creationTimestamp`, in ms of Unix time. */
  readonly createdAt: number;
  readonly definition: Definition;
  /** It asks for local-first routing, by the routing-strategy label. */
  readonly localFirst: boolean;
};

/** The age of a Service whose real age is unknown: it loses every conflict. */
export const YOUNGEST = Infinity;

/** A port of a slice: where endpoints listen for what the Service calls by this name. */
export type SlicePort = {
  readonly name: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Undefined: all ports. */
  readonly port: number | undefined;
  readonly appProtocol: string | undefined;
};

/** Undefined is neither true nor false: consumers take an unknown `ready` or `serving` for true. */
type Conditions = {
  readonly ready: boolean | undefined;
  readonly serving: boolean | undefined;
  readonly terminating: boolean | undefined;
};

/** An endpoint; `nodeName` and `zone` only of the local cluster, in others' they mean nothing here or worse. */
export type Endpoint = {
  /** One address, as a rule; canonical text of the slice's family. */
  readonly addresses: readonly string[];
  readonly conditions: Conditions;
  readonly hostname: string | undefined;
  readonly target: { readonly kind: string; readonly namespace: string; readonly name: string } | undefined;
  readonly nodeName: string | undefined;
  readonly zone: string | undefined;
};

/** An EndpointSlice of a Service, as it lies in the store of its cluster. */
export type SourceSlice = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The Service that it belongs to, of the same namespace. */
  readonly service: string;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly Endpoint[];
};
