import { quoted } from '@kube-semaphore/text';
import ipaddr from 'ipaddr.js';
import { isPlainlyCanonical } from './canonical.ts';
import { bad, good, type Parsed } from './parsed.ts';

/** The longest spelling of an address: six full groups and a dotted IPv4 tail (RFC 4291, section 2.2). */
const MAX_TEXT = 45;

/**
 * Parses an IP address and returns its canonical spelling, so that equal addresses are equal strings.
 *
 * - IPv4: only four decimal parts without leading zeros. `010.0.0.1` means 10 to a reader, 8 to a C library, and is an
 *   error in Go.
 * - IPv6: any spelling of RFC 4291, returned in that of RFC 5952 (`FD00:0:0::26` is `fd00::26`).
 * - Zone ids (`fe80::1%eth0`) are refused: they only apply to one host.
 * - IPv4-mapped IPv6 (`::ffff:10.0.0.1`) and its predecessor (`::10.0.0.1`) are refused, as in the API server's strict
 *   validation: a second spelling of an IPv4 address would bypass a list of allowed CIDRs.
 *
 * @returns the canonical text, or what is wrong with `raw`
 */
export function parseIp(raw: string): Parsed<string> {
  if (isPlainlyCanonical(raw)) return good(raw);
  if (raw.length > MAX_TEXT) return bad(`${quoted(raw)} is not a valid IP address`);
  // Checked first: for IPv6, ipaddr.js' check of IPv4 throws and catches an error, which costs ten parses.
  if (raw.includes(':')) return parseIpv6(raw);
  // The strict form of IPv4 has only one spelling per address.
  return ipaddr.IPv4.isValidFourPartDecimal(raw) ? good(raw) : bad(`${quoted(raw)} is not a valid IP address`);
}

function parseIpv6(raw: string): Parsed<string> {
  if (raw.includes('%')) return bad(`${quoted(raw)} has a zone id, which only applies to one host`);
  // ipaddr.js reads the dotted tail as in C, including octal numbers.
  const tail = raw.slice(raw.lastIndexOf(':') + 1);
  const ambiguous = tail.includes('.') && !ipaddr.IPv4.isValidFourPartDecimal(tail);
  if (ambiguous || !ipaddr.IPv6.isValid(raw)) return bad(`${quoted(raw)} is not a valid IP address`);
  // For ipaddr.js `::10.0.0.1` is mapped, too, which is what its writer meant.
  const address = ipaddr.IPv6.parse(raw);
  if (address.isIPv4MappedAddress()) return bad(`${quoted(raw)} is an IPv4 address in IPv6 notation: write it as IPv4`);
  return good(address.toRFC5952String());
}
