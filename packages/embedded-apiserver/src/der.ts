/** The universal tags that a certificate needs; the constructed bit is part of the tag, as on the wire. */
const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;

/**
 * One DER element: tag, length, content.
 *
 * @param tagByte identifier octet; the low-tag form is all that X.509 uses
 */
export function element(tagByte: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tagByte), lengthOctets(body.length), body]);
}

/** SEQUENCE of elements, in their order. */
export function sequence(...elements: readonly Uint8Array[]): Buffer {
  return element(tag.sequence, ...elements);
}

/** SET with one member. DER wants the members of a set sorted; with one there is nothing to sort. */
export function setOf(member: Uint8Array): Buffer {
  return element(tag.set, member);
}

/** INTEGER from big-endian bytes, read as unsigned: a leading zero octet is added where the sign bit would be set. */
export function unsigned(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const minimal = start === -1 ? Buffer.of(0) : bytes.subarray(start);
  return element(tag.integer, (minimal[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.of(), minimal);
}

/** BOOLEAN TRUE. FALSE is the default wherever X.509 has a boolean, and DER leaves defaults out. */
export const yes: Uint8Array = element(tag.boolean, Buffer.of(0xff));

/** BIT STRING of whole bytes, of which the last `unusedBits` bits don't count. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(tag.bitString, Buffer.of(unusedBits), bytes);
}

/** OCTET STRING. */
export function octetString(bytes: Uint8Array): Buffer {
  return element(tag.octetString, bytes);
}

/** UTF8String. */
export function utf8String(text: string): Buffer {
  return element(tag.utf8String, Buffer.from(text, 'utf8'));
}

/** UTCTime, to the second. Its two-digit year ends in 2049 (RFC 5280, 4.1.2.5). */
export function utcTime(at: Date): Buffer {
  // '2026-11-21T09:00:00.000Z' -> '261121090000Z'
  const digits = at.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '');
  return element(tag.utcTime, Buffer.from(`${digits}Z`, 'latin1'));
}

/** OBJECT IDENTIFIER from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(tag.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** All but the last digit have the high bit set. */
function base128(arc: number): number[] {
  return digits(arc, 128).map((digit, index, all) => (index < all.length - 1 ? digit + 128 : digit));
}

function lengthOctets(length: number): Buffer {
  if (length < 128) return Buffer.of(length);
  const octets = digits(length, 256);
  return Buffer.from([0x80 + octets.length, ...octets]);
}

/** The digits of a number in some base, most significant first. */
function digits(value: number, base: number): number[] {
  return value < base ? [value] : [...digits(Math.floor(value / base), base), value % base];
}
