/** The time in which a replica leads; a later one has a higher number. */
export type Term = { readonly identity: string; readonly number: number };

/** Every write that the API server received, with its term. */
export class Journal {
  #terms = 0;
  #latest: Term | undefined;
  #landed = 0;
  readonly violations: string[] = [];

  /** The number of writes. */
  get landed(): number {
    return this.#landed;
  }

  begin(identity: string): Term {
    this.#latest = { identity, number: ++this.#terms };
    return this.#latest;
  }

  /** A write reaches the API server: a violation if a later term has begun. */
  land(term: Term): void {
    this.#landed++;
    if (term !== this.#latest) this.violations.push(`a write of ${name(term)} lands in ${name(this.#latest)}`);
  }
}

const name = (term: Term | undefined): string => `term ${term?.number} of ${term?.identity}`;
