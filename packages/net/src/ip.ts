import { quoted } from '@kube-semaphore/text';
import ipaddr from 'ipaddr.js';
import { isPlainlyCanonical } from './canonical.ts';
import { bad, good, type Parsed } from './parsed.ts';

/** The longest spelling of an address: six full groups and a dotted IPv4 tail, as in RFC 4291, section 2.2. */
const MAX_TEXT = 45;

/**
 * Reads an IP address and spells it canonically, so that equal addresses are equal strings.
 *
 * - IPv4: four decimal parts without leading zeros, and nothing else. `010.0.0.1` is ten to a reader, eight to a C
 *   library and an error to Go; an address that means two things is refused.
 * - IPv6: any spelling of RFC 4291, returned in that of RFC 5952 (`FD00:0:0::26` is `fd00::26`).
 * - Zone ids (`fe80::1%eth0`) are refused: they mean something on one host only.
 * - IPv4-mapped IPv6 (`::ffff:10.0.0.1`) is refused, as the API server's strict validation does: it is a second
 *   spelling of an IPv4 address, and a way around a list of allowed CIDRs that only knows the first. So is the form
 *   that came before it (`::10.0.0.1`).
 *
 * @returns the canonical text, or what is wrong with `raw`
 */
export function parseIp(raw: string): Parsed<string> {
  if (isPlainlyCanonical(raw)) return good(raw);
  if (raw.length > MAX_TEXT) return bad(`${quoted(raw)} is not an IP address`);
  // Told apart first: ipaddr.js throws inside when it is asked whether IPv6 is IPv4, which costs ten parses.
  if (raw.includes(':')) return parseIpv6(raw);
  // The strict form of IPv4 has one spelling per address: what passes is canonical.
  return ipaddr.IPv4.isValidFourPartDecimal(raw) ? good(raw) : bad(`${quoted(raw)} is not an IP address`);
}

function parseIpv6(raw: string): Parsed<string> {
  if (raw.includes('%')) return bad(`${quoted(raw)} has a zone id, which means nothing on another host`);
  // ipaddr.js reads the dotted tail as C does, octal included.
  const tail = raw.slice(raw.lastIndexOf(':') + 1);
  const ambiguous = tail.includes('.') && !ipaddr.IPv4.isValidFourPartDecimal(tail);
  if (ambiguous || !ipaddr.IPv6.isValid(raw)) return bad(`${quoted(raw)} is not an IP address`);
  // ipaddr.js takes `::10.0.0.1` for mapped too, which is what its writer meant.
  const address = ipaddr.IPv6.parse(raw);
  if (address.isIPv4MappedAddress()) return bad(`${quoted(raw)} is an IPv4 address in IPv6 notation: write it as IPv4`);
  return good(address.toRFC5952String());
}
