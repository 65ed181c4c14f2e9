import type { Service } from '@kube-semaphore/kube-objects';
import type { Family } from './source.ts';

/** What a local Service says about its address families. */
export type FamilySpec = {
  readonly ipFamilyPolicy: 'SingleStack' | 'PreferDualStack';
  /** For a request: with PreferDualStack the API server adds the second one, where the cluster has it. */
  readonly ipFamilies: readonly Family[];
};

/**
 * The families of a local Service. The primary one can't be changed, so one that is there already stays, and the
 * source's come beside it. A second one that is there and may stay has to be named, or it would be given up, which only
 * SingleStack may do.
 *
 * @param wanted by the source, in its order; never empty
 * @param there of the Service, where there is one
 */
export function familySpec(wanted: readonly Family[], there: readonly Family[] = []): FamilySpec {
  const primary = there[0] ?? wanted[0]!;
  if (wanted.every((family) => family === primary)) return { ipFamilyPolicy: 'SingleStack', ipFamilies: [primary] };
  return { ipFamilyPolicy: 'PreferDualStack', ipFamilies: there.length > 1 ? there : [primary] };
}

/** Whether a Service that is there says the same: on a cluster with one family it has only that, whatever it prefers. */
export function meetsFamilies(
  observed: { readonly families: readonly Family[]; readonly familyPolicy: string },
  { ipFamilyPolicy, ipFamilies }: FamilySpec,
): boolean {
  if (observed.familyPolicy !== ipFamilyPolicy || observed.families[0] !== ipFamilies[0]) return false;
  return ipFamilyPolicy === 'PreferDualStack' || observed.families.length === 1;
}

/** Servers before dual-stack (1.20) have none, and then the address tells. */
export function familiesOf({
  ipFamilies,
  clusterIP,
}: Pick<Service['spec'], 'ipFamilies' | 'clusterIP'>): readonly Family[] {
  if (ipFamilies.length > 0) return ipFamilies.filter((family) => family === 'IPv4' || family === 'IPv6');
  return [clusterIP.includes(':') ? 'IPv6' : 'IPv4'];
}

export const isFamily = (addressType: string): addressType is Family =>
  addressType === 'IPv4' || addressType === 'IPv6';
