/** Sequence numbers have 16 bits on the wire. */
const WRAP = 65_536;

/** Which requests of a ping were answered, read from what ping(8) writes. */
export class PingReplies {
  /** Numbers of the requests, from 1, without the wrap. */
  readonly #answered = new Set<number>();
  #latest = 0;
  #rest = '';

  /** Takes what ping wrote, cut anywhere. */
  push(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      // An error line, such as "Destination Host Unreachable", has a number as well.
      const digits = /^\d+ bytes from .* icmp_seq=(\d+) ttl=/.exec(line)?.[1];
      if (digits !== undefined) this.#add(Number(digits));
    }
  }

  /** How many requests were answered. */
  get received(): number {
    return this.#answered.size;
  }

  /** The highest number that was answered; 0 for none. */
  get latest(): number {
    return this.#latest;
  }

  /** How many requests up to number `last` were not answered. */
  missing(last = this.#latest): number {
    let missing = 0;
    for (let number = 1; number <= last; number++) if (!this.#answered.has(number)) missing++;
    return missing;
  }

  #add(sequence: number): void {
    // The number nearest to the latest one: answers may overtake each other.
    const turns = Math.max(0, Math.round((this.#latest - sequence) / WRAP));
    const number = sequence + turns * WRAP;
    this.#answered.add(number);
    this.#latest = Math.max(this.#latest, number);
  }
}
