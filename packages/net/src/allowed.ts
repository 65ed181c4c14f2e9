import { containsCidr } from './blocks.ts';
import { type Cidr, contains } from './cidr.ts';
import { specialUse } from './special.ts';

/** Which addresses a remote cluster may bring in. */
export type AddressRules = {
  /** Blocks that its addresses must be in (`allowedPodCIDRs`); undefined: anywhere. */
  readonly allowed: readonly Cidr[] | undefined;
  /** Blocks of the local cluster: no other cluster has an address in them, whatever is allowed. */
  readonly local: readonly Cidr[];
  /** Service ranges of the local cluster, as it tells them: only an allowed block inside of one lets an address pass. */
  readonly services?: readonly Cidr[];
};

/** Why a remote may not bring in an address. `bad-address`: it can't be that of a Pod or Node of any cluster. */
export type AddressRefusal = { readonly reason: 'bad-address' | 'address-not-allowed'; readonly detail: string };

/**
 * Whether a remote may bring in an address.
 *
 * @param ip canonical
 * @returns undefined if it may
 */
export function addressRefusal(
  ip: string,
  { allowed, local, services = [] }: AddressRules,
): AddressRefusal | undefined {
  const use = specialUse(ip);
  if (use !== undefined && !use.isReserved) return { reason: 'bad-address', detail: `${ip} is ${use.what}` };
  const own = local.find((cidr) => contains(cidr, ip));
  if (own !== undefined) return notAllowed(`${ip} is in ${own.text} of the local cluster`);
  const range = services.find((cidr) => contains(cidr, ip));
  if (range !== undefined && !isNamed(ip, range, allowed))
    return notAllowed(`${ip} is in ${range.text}, a Service range of the local cluster`);
  if (use !== undefined && !isNamed(ip, use.cidr, allowed))
    return notAllowed(`${ip} is ${use.what}, and allowedPodCIDRs has no block of ${use.cidr.text}`);
  if (allowed === undefined || allowed.some((cidr) => contains(cidr, ip))) return undefined;
  return notAllowed(`${ip} is outside of allowedPodCIDRs`);
}

/** `0.0.0.0/0` allows everything, but names nothing. */
function isNamed(ip: string, reserved: Cidr, allowed: readonly Cidr[] = []): boolean {
  return allowed.some((cidr) => containsCidr(reserved, cidr) && contains(cidr, ip));
}

const notAllowed = (detail: string): AddressRefusal => ({ reason: 'address-not-allowed', detail });
