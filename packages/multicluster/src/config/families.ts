import {
  bad,
  type Cidr,
  familyName,
  familyNamed,
  type FamilyName,
  good,
  type IpFamily,
  isUsedFamily,
  type Parsed,
} from '@kube-semaphore/net';
import { oneOf } from '@kube-semaphore/options';
import * as z from 'zod/mini';

/** The address families that are used of a remote, such as `families: [ipv6]`. */
export const familiesField = z.optional(z.array(z.string()));

const name = oneOf(['ipv4', 'ipv6']);

/**
 * Reads a `familiesField`.
 *
 * @param ranges of the remote's Pods, which must have one of each family; undefined: any
 * @param field where these are
 * @returns ascending; undefined: both
 */
export function familiesOf(
  names: readonly string[] | undefined,
  { ranges = [], field }: { readonly ranges: readonly Cidr[] | undefined; readonly field: string },
): Parsed<readonly IpFamily[] | undefined> {
  if (names === undefined) return good(undefined);
  if (names.length === 0) return bad('it must have ipv4, ipv6 or both; without the field, both are used');
  const families = new Set<IpFamily>();
  for (const raw of names) {
    const known = name.parse(raw);
    if (!known.ok) return known;
    const family = familyNamed(known.value);
    if (ranges.length > 0 && !ranges.some((range) => range.family === family))
      return bad(`${field} has no range of ${raw}`);
    families.add(family);
  }
  return good([...families].toSorted((a, b) => a - b));
}

/** The ranges that are of these families; undefined: any range. */
export const inFamilies = <T extends readonly Cidr[] | undefined>(
  ranges: T,
  families: readonly IpFamily[] | undefined,
): T => ranges?.filter(({ family }) => isUsedFamily(family, { families })) as T;

/** As `/status` and config files have them; null: both. */
export const familyNames = (families: readonly IpFamily[] | undefined): readonly FamilyName[] | null =>
  families?.map(familyName) ?? null;
