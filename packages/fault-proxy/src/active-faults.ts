import { setTimeout as delay } from 'node:timers/promises';
import type { Ending, Fault, FaultKind, FaultOf } from './fault.ts';

/** The faults that strike one exchange, as they come and go, and what they do to its bytes. */
export class ActiveFaults {
  /** Each with the number of bytes of the answer that had passed when it came. */
  readonly #since = new Map<Fault, number>();
  readonly #over: AbortSignal;
  readonly #history: FaultKind[] = [];
  #passed = 0;
  #changed = Promise.withResolvers<void>();

  /** @param over aborted when the exchange is, so that nothing waits any longer */
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

  /** Those that ever were; grows as they come. */
  get history(): readonly FaultKind[] {
    return this.#history;
  }

  /** Those that are, in the order in which they came. */
  all(): Fault[] {
    return [...this.#since.keys()];
  }

  of<K extends FaultKind>(kind: K): FaultOf<K>[] {
    return this.all().filter((fault) => fault.kind === kind) as FaultOf<K>[];
  }

  /** Resolves as soon as nothing stalls what goes in this direction, or the exchange is over. */
  async flowing(what: 'requests' | 'answers'): Promise<void> {
    const stalls = () => this.of('stall').some(({ direction = what }) => direction === what);
    while (stalls() && !this.#over.aborted) await this.#changed.promise;
  }

  /** Waits as long as the delays say. Rejects when the exchange is over. */
  async delayed(what: 'requestMs' | 'chunkMs'): Promise<void> {
    for (const fault of this.of('delay')) await delay(fault[what], undefined, { signal: this.#over });
  }

  /** Whether an answer ends within the next `length` bytes: after how many of them, and how. */
  truncation(length: number): { at: number; by: Ending } | undefined {
    const cuts = this.of('truncate').map((fault) => {
      const passed = this.#passed - this.#since.get(fault)!;
      return { at: fault.after === 'mid-event' ? length - 1 : Math.max(0, fault.after - passed), by: fault.by };
    });
    return cuts.filter(({ at }) => at <= length).toSorted((a, b) => a.at - b.at)[0];
  }

  /** So many bytes of the answer were sent. */
  count(bytes: number): void {
    this.#passed += bytes;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
