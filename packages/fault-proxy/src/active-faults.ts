import { setTimeout as delay } from 'node:timers/promises';
import type { Ending, Fault, FaultKind, FaultOf } from './fault.ts';

/** The pieces of a throttled answer in a second. */
const PIECES = 10;

/** The faults that affect one exchange, and their effect on its bytes. */
export class ActiveFaults {
  /** Each fault with the bytes of the answer sent before it was set. */
  readonly #since = new Map<Fault, number>();
  readonly #over: AbortSignal;
  readonly #history: FaultKind[] = [];
  #passed = 0;
  #changed = Promise.withResolvers<void>();

  /** @param over aborts when the exchange ends, and with it all waiting */
  constructor(over: AbortSignal) {
    this.#over = over;
    over.addEventListener('abort', () => this.#notify());
  }

  add(fault: Fault): void {
    this.#since.set(fault, this.#passed);
    this.#history.push(fault.kind);
    this.#notify();
  }

  remove(fault: Fault): void {
    this.#since.delete(fault);
    this.#notify();
  }

  /** All faults so far. */
  get history(): readonly FaultKind[] {
    return this.#history;
  }

  /** The active faults, in the order in which they were set. */
  all(): Fault[] {
    return [...this.#since.keys()];
  }

  of<K extends FaultKind>(kind: K): FaultOf<K>[] {
    return this.all().filter((fault) => fault.kind === kind) as FaultOf<K>[];
  }

  /** Resolves when nothing stalls this direction, or the exchange is over. */
  async flowing(what: 'requests' | 'answers'): Promise<void> {
    const stalls = () => this.of('stall').some(({ direction = what }) => direction === what);
    while (stalls() && !this.#over.aborted) await this.#changed.promise;
  }

  /** Waits for the sum of the delays. Rejects when the exchange is over. */
  async delayed(what: 'requestMs' | 'chunkMs'): Promise<void> {
    for (const fault of this.of('delay')) await delay(fault[what], undefined, { signal: this.#over });
  }

  /** A chunk, or its pieces while the answer is throttled, each when its turn comes. Rejects when the exchange is over. */
  async *paced(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let rest = chunk; rest.length > 0;) {
      const [throttle] = this.of('throttle');
      if (throttle !== undefined) await delay(1_000 / PIECES, undefined, { signal: this.#over });
      const piece = rest.subarray(0, throttle && Math.ceil(throttle.bytesPerSecond / PIECES));
      yield piece;
      rest = rest.subarray(piece.length);
    }
  }

  /** Where and how an answer ends within the next `length` bytes, if it does. */
  truncation(length: number): { at: number; by: Ending } | undefined {
    const cuts = this.of('truncate').map((fault) => {
      const passed = this.#passed - this.#since.get(fault)!;
      return { at: fault.after === 'mid-event' ? length - 1 : Math.max(0, fault.after - passed), by: fault.by };
    });
    return cuts.filter(({ at }) => at <= length).toSorted((a, b) => a.at - b.at)[0];
  }

  /** Counts the bytes of the answer that were sent. */
  count(bytes: number): void {
    this.#passed += bytes;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
