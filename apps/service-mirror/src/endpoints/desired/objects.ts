import { isDeepStrictEqual } from 'node:util';
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

/** Whether two slices have the same endpoints. Slices of a source and of its mirror share them, so most are identical. */
export function isSameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  return a === b || (a.length === b.length && a.every((endpoint, i) => isSameEndpoint(endpoint, b[i]!)));
}

/** The known endpoints if they are the same, so that both have one copy: a remote may have half a million. */
export const sharedEndpoints = (
  known: readonly Endpoint[] | undefined,
  endpoints: readonly Endpoint[],
): readonly Endpoint[] => (known !== undefined && isSameEndpoints(known, endpoints) ? known : endpoints);

const isSameEndpoint = (a: Endpoint, b: Endpoint): boolean =>
  a.address === b.address &&
  isSameTexts(a.otherAddresses, b.otherAddresses) &&
  (a.conditions === b.conditions || isDeepStrictEqual(a.conditions, b.conditions)) &&
  a.hostname === b.hostname &&
  a.nodeName === b.nodeName &&
  a.zone === b.zone &&
  isSameTexts(a.zones, b.zones);

const isSameTexts = (a: readonly string[] | undefined, b: readonly string[] | undefined): boolean =>
  a === b || (a?.length === b?.length && a?.every((text, i) => text === b?.[i]) === true);

/** A local EndpointSlice as it should be; its labels and annotations as in `DesiredService`. Its Service alone owns it. */
export type DesiredSlice = {
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly Endpoint[];
};

/** Consumers take an unknown `ready` for true (EndpointConditions of discovery.k8s.io/v1). */
export const isReady = ({ conditions }: Pick<Endpoint, 'conditions'>): boolean => conditions.ready !== false;

export const hasReady = ({ endpoints }: Pick<DesiredSlice, 'endpoints'>): boolean => endpoints.some(isReady);

/** A local Service with its slices, as they should be. */
export type DesiredObjects = { readonly service: DesiredService; readonly slices: readonly DesiredSlice[] };
