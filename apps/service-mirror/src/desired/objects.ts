import type { Definition, Endpoint, Family, SlicePort } from './source.ts';

/** Labels or annotations. */
export type StringMap = Readonly<Record<string, string>>;

/** A local Service as it should be. Its labels and annotations are ours; those of others stay as they are. */
export type DesiredService = {
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly definition: Definition;
};

/** An endpoint of a local slice. */
export type DesiredEndpoint = Endpoint & {
  /** Zones whose nodes should use it (`hints.forZones`), sorted; undefined: no hints. */
  readonly zones: readonly string[] | undefined;
};

/** The source of a local endpoint: everything except the hints, which are ours. */
export const sourceEndpoint = ({
  addresses,
  conditions,
  hostname,
  target,
  nodeName,
  zone,
}: DesiredEndpoint): Endpoint => ({ addresses, conditions, hostname, target, nodeName, zone });

/** A local EndpointSlice as it should be; all of its labels and annotations. It is owned by its Service. */
export type DesiredSlice = {
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly DesiredEndpoint[];
};

/** Consumers take an unknown `ready` for true (EndpointConditions of discovery.k8s.io/v1). */
export const hasReady = ({ endpoints }: Pick<DesiredSlice, 'endpoints'>): boolean =>
  endpoints.some(({ conditions }) => conditions.ready !== false);

/** A local Service with its slices, as they should be. */
export type DesiredObjects = { readonly service: DesiredService; readonly slices: readonly DesiredSlice[] };
