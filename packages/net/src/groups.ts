const COLON = 0x3a;
const DOT = 0x2e;
const SLASH = 0x2f;

/** The eight 16-bit groups of an address. An IPv4 address has the last two, as in `::10.4.1.38`. */
export type Groups = Uint16Array;

/** Space for one address. */
export const newGroups = (): Groups => new Uint16Array(8);

/**
 * Reads the address at the start of `text` into `groups`. Sets of thousands of addresses are sorted and matched with it,
 * so it neither allocates nor validates.
 *
 * @param text canonical; the prefix length of a CIDR isn't read
 * @returns the family of the address
 */
export function readGroups(text: string, groups: Groups): 4 | 6 {
  groups.fill(0);
  if (text.includes(':')) {
    readIpv6(text, groups);
    return 6;
  }
  const number = ipv4Number(text);
  groups[6] = number >>> 16;
  groups[7] = number & 0xffff;
  return 4;
}

/** The number of an IPv4 address. @param text as for `readGroups` */
export function ipv4Number(text: string): number {
  let octet = 0;
  let number = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === SLASH) break;
    if (code === DOT) {
      number = number * 256 + octet;
      octet = 0;
    } else {
      octet = octet * 10 + (code - 0x30);
    }
  }
  return number * 256 + octet;
}

function readIpv6(text: string, groups: Groups): void {
  let count = 0;
  let gap = -1;
  let group = 0;
  let previous = COLON;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === SLASH) break;
    if (code !== COLON) {
      // 0-9 and a-f: canonical text is lower-case.
      group = group * 16 + (code <= 0x39 ? code - 0x30 : code - 0x57);
    } else if (previous !== COLON) {
      groups[count++] = group;
      group = 0;
    } else if (i > 0) {
      gap = count;
    }
    previous = code;
  }
  if (previous !== COLON) groups[count++] = group;
  if (gap < 0) return;
  const afterGap = count - gap;
  groups.copyWithin(8 - afterGap, gap, count);
  groups.fill(0, gap, 8 - afterGap);
}
