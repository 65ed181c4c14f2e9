import type { Family } from './source.ts';

/** What a local Service says about its address families. */
export type FamilySpec = {
  readonly ipFamilyPolicy: 'SingleStack' | 'PreferDualStack';
  /** For a request: with PreferDualStack the API server adds the second one, where the cluster has it. */
  readonly ipFamilies: readonly Family[];
};

/**
 * The families of a local Service. The primary one can't be changed, so one that is there already stays, and the
 * source's come beside it.
 *
 * @param wanted by the source, in its order; never empty
 * @param primary of the Service that is there
 */
export function familySpec(wanted: readonly Family[], primary: Family = wanted[0]!): FamilySpec {
  const isSingle = wanted.every((family) => family === primary);
  return { ipFamilyPolicy: isSingle ? 'SingleStack' : 'PreferDualStack', ipFamilies: [primary] };
}

/** Whether a Service that is there says the same: on a cluster with one family it has only that, whatever it prefers. */
export function meetsFamilies(observed: { readonly families: readonly Family[]; readonly familyPolicy: string }, { ipFamilyPolicy, ipFamilies }: FamilySpec): boolean {
  if (observed.familyPolicy !== ipFamilyPolicy || observed.families[0] !== ipFamilies[0]) return false;
  return ipFamilyPolicy === 'PreferDualStack' || observed.families.length === 1;
}
