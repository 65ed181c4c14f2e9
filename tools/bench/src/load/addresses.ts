/** Octets of three digits, 100 to 255. */
const OCTETS = 156;

/** Unique IPv4 addresses of one length; they repeat after 3.8 million. */
export class Addresses {
  #given: number;

  /** @param given number of addresses that are in use already */
  constructor(given = 0) {
    this.#given = given;
  }

  next(): string {
    const index = this.#given;
    this.#given += 1;
    const octet = (step: number) => 100 + (Math.floor(index / OCTETS ** step) % OCTETS);
    return `10.${octet(2)}.${octet(1)}.${octet(0)}`;
  }
}
