import type { Service } from '@kube-semaphore/kube-objects';
import type { Cidr, IpFamily } from '@kube-semaphore/net';
import type { Family } from './source.ts';

/** The address families in a local Service's spec. */
export type FamilySpec = {
  readonly ipFamilyPolicy: 'SingleStack' | 'PreferDualStack';
  /** For requests. With PreferDualStack, the API server adds the second one if the cluster has it. */
  readonly ipFamilies: readonly Family[];
};

/**
 * The families of a local Service. The primary family is immutable, so an existing Service keeps it, and the source's
 * families come second. An existing second family has to be named: only SingleStack may remove it.
 *
 * @param wanted by the source, in its order; never empty
 * @param existing of the Service; empty if it doesn't exist
 */
export function familySpec(wanted: readonly Family[], existing: readonly Family[] = []): FamilySpec {
  const primary = existing[0] ?? wanted[0]!;
  if (wanted.every((family) => family === primary)) return { ipFamilyPolicy: 'SingleStack', ipFamilies: [primary] };
  return { ipFamilyPolicy: 'PreferDualStack', ipFamilies: existing.length > 1 ? existing : [primary] };
}

/** Whether an existing Service meets a spec. On a cluster with one family it has only that one, whatever it prefers. */
export function meetsFamilies(
  observed: { readonly families: readonly Family[]; readonly familyPolicy: string },
  { ipFamilyPolicy, ipFamilies }: FamilySpec,
): boolean {
  if (observed.familyPolicy !== ipFamilyPolicy || observed.families[0] !== ipFamilies[0]) return false;
  return ipFamilyPolicy === 'PreferDualStack' || observed.families.length === 1;
}

/** The families of a cluster's ranges of Services; undefined if it doesn't say which these are. */
export function rangeFamilies(ranges: readonly Cidr[]): readonly Family[] | undefined {
  if (ranges.length === 0) return undefined;
  return [...new Set(ranges.map(({ family }): Family => (family === 4 ? 'IPv4' : 'IPv6')))];
}

/** Servers before dual-stack (1.20) don't set `ipFamilies`: the address shows the family. */
export function familiesOf({
  ipFamilies,
  clusterIP,
}: Pick<Service['spec'], 'ipFamilies' | 'clusterIP'>): readonly Family[] {
  if (ipFamilies.length > 0) return ipFamilies.filter((family) => family === 'IPv4' || family === 'IPv6');
  return [clusterIP.includes(':') ? 'IPv6' : 'IPv4'];
}

export const isFamily = (addressType: string): addressType is Family =>
  addressType === 'IPv4' || addressType === 'IPv6';

/** As addresses and CIDRs name it. */
export const numberOf = (family: Family): IpFamily => (family === 'IPv4' ? 4 : 6);
