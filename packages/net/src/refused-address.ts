import { containsCidr } from './blocks.ts';
import { type Cidr, contains } from './cidr.ts';
import { familyOf, type IpFamily } from './family.ts';
import { specialUse } from './special.ts';

/** Which addresses a remote may have. */
export type AddressRules = {
  /** The address families that are used of it; undefined: both. */
  readonly families?: readonly IpFamily[] | undefined;
  /** Its addresses must be in these blocks (`allowedPodCIDRs`); undefined: no limit. */
  readonly allowed: readonly Cidr[] | undefined;
  /** Blocks of the local cluster: no remote may have an address in them, even if it is allowed. */
  readonly local: readonly Cidr[];
  /** Service ranges of the local cluster, as it reports them: an address in one must be in an allowed block inside it. */
  readonly services?: readonly Cidr[];
};

/**
 * Why a remote may not have an address. `bad-address`: no Pod or Node of any cluster can have it. `other-family`: it may be
 * right, but isn't used.
 */
export type AddressRefusal = {
  readonly reason: 'bad-address' | 'address-not-allowed' | 'other-family';
  readonly detail: string;
};

/** Whether addresses of a family are used of a remote. */
export const isUsedFamily = (family: IpFamily, { families }: Pick<AddressRules, 'families'>): boolean =>
  families === undefined || families.includes(family);

/**
 * Checks whether a remote may have an address.
 *
 * @param ip canonical
 * @returns undefined if it may
 */
export function addressRefusal(
  ip: string,
  { families, allowed, local, services = [] }: AddressRules,
): AddressRefusal | undefined {
  const family = familyOf(ip);
  if (!isUsedFamily(family, { families }))
    return { reason: 'other-family', detail: `${ip} is an IPv${family} address, and families of the remote lacks it` };
  const use = specialUse(ip);
  if (use !== undefined && !use.isReserved) return { reason: 'bad-address', detail: `${ip} is ${use.what}` };
  const own = local.find((cidr) => contains(cidr, ip));
  if (own !== undefined) return notAllowed(`${ip} is in ${own.text} of the local cluster`);
  const range = services.find((cidr) => contains(cidr, ip));
  if (range !== undefined && !isNamed(ip, range, allowed))
    return notAllowed(`${ip} is in ${range.text}, a Service range of the local cluster`);
  if (use !== undefined && !isNamed(ip, use.cidr, allowed))
    return notAllowed(`${ip} is ${use.what}, and allowedPodCIDRs has no block inside ${use.cidr.text}`);
  if (allowed === undefined || allowed.some((cidr) => contains(cidr, ip))) return undefined;
  return notAllowed(`${ip} is outside of allowedPodCIDRs`);
}

/** Whether a block inside of the reserved one is allowed; `0.0.0.0/0` isn't enough. */
function isNamed(ip: string, reserved: Cidr, allowed: readonly Cidr[] = []): boolean {
  return allowed.some((cidr) => containsCidr(reserved, cidr) && contains(cidr, ip));
}

const notAllowed = (detail: string): AddressRefusal => ({ reason: 'address-not-allowed', detail });
