/** A number with leading zeros, for names of one length that sort like their numbers. */
export function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}

/** Octets of three digits, 100 to 255. */
const OCTETS = 156;

/**
 * Gives unique IPv4 addresses of one length; they repeat after 3.8 million.
 *
 * @param given number of addresses that are in use already
 */
export function addresses(given = 0): () => string {
  let index = given;
  const octet = (step: number) => 100 + (Math.floor(index / OCTETS ** step) % OCTETS);
  return () => {
    const address = `10.${octet(2)}.${octet(1)}.${octet(0)}`;
    index += 1;
    return address;
  };
}
