/** Sequence numbers have 16 bits. */
const WRAP = 65_536;

/** The answered requests of a ping, read from the output of ping(8). */
export class PingReplies {
  /** Request numbers, from 1, without wrapping. */
  readonly #answered = new Set<number>();
  #latest = 0;
  #rest = '';

  /** Reads a piece of ping's output. */
  push(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      // An error line, such as "Destination Host Unreachable", has a number, too.
      const digits = /^\d+ bytes from .* icmp_seq=(\d+) ttl=/.exec(line)?.[1];
      if (digits !== undefined) this.#add(Number(digits));
    }
  }

  /** The number of answered requests. */
  get received(): number {
    return this.#answered.size;
  }

  /** The highest answered number, or 0. */
  get latest(): number {
    return this.#latest;
  }

  /** The number of unanswered requests up to number `last`. */
  missing(last = this.#latest): number {
    let missing = 0;
    for (let number = 1; number <= last; number++) if (!this.#answered.has(number)) missing++;
    return missing;
  }

  #add(sequence: number): void {
    // The nearest number to the latest one, because answers may come out of order.
    const turns = Math.max(0, Math.round((this.#latest - sequence) / WRAP));
    const number = sequence + turns * WRAP;
    this.#answered.add(number);
    this.#latest = Math.max(this.#latest, number);
  }
}
