/** Octets of three digits, 100 to 255. */
const OCTETS = 156;

/** IPv4 addresses of one length, of which none is given twice: 3.8 million before they begin anew. */
export class Addresses {
  #given: number;

  /** @param given how many count as given already */
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
