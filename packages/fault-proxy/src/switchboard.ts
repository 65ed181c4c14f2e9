import type { Exchange } from './exchange.ts';
import { concernsOpenAnswers, type Fault, type FaultKind, type FaultOf } from './fault.ts';
import { type FilteredRequest, matcher, type RequestFilter } from './filter.ts';
import type { Admission } from './port.ts';

/** A fault that was set. */
type Setting = {
  readonly fault: Fault;
  /** Whether it strikes connections as such, and not just some requests. */
  readonly everything: boolean;
  readonly strikes: (request: FilteredRequest) => boolean;
};

/** Which faults there are, and which exchanges that are open they strike. */
export class Switchboard {
  /** Each with what takes it back. */
  readonly #settings = new Map<Setting, () => void>();
  readonly #open = new Set<Exchange>();
  readonly #resetAll: () => void;

  /** @param resetAll resets all connections, those without a request included */
  constructor({ resetAll }: { resetAll: () => void }) {
    this.#resetAll = resetAll;
  }

  /** Whether the port is to be closed. */
  get refuses(): boolean {
    return this.#strikesEverything('refuse');
  }

  /** What is to become of a new connection. */
  get admission(): Admission {
    if (this.#strikesEverything('reset')) return 'reset';
    return this.#strikesEverything('stall') ? 'hold' : 'serve';
  }

  /** What isn't over yet. */
  get open(): readonly FilteredRequest[] {
    return Array.from(this.#open, ({ seen }) => seen);
  }

  /** @returns what takes the fault back */
  set(wanted: Fault, filter: RequestFilter = {}): () => void {
    // A copy, by which this fault is told from the same one set again.
    const fault = { ...wanted };
    const everything = Object.values(filter).every((value) => value === undefined);
    if (fault.kind === 'refuse' && !everything) throw new TypeError('a port is closed to all: refuse takes no filter');
    const setting: Setting = { fault, everything, strikes: matcher(filter) };
    if (concernsOpenAnswers(fault)) this.#strikeOpen(setting);
    if (fault.kind === 'reset' && fault.connections === 'open') return () => {};
    const timer = fault.kind === 'cut' ? setInterval(() => this.#cut(fault), fault.everyMs) : undefined;
    const unset = () => {
      clearInterval(timer);
      this.#settings.delete(setting);
      for (const exchange of this.#open) exchange.faults.remove(fault);
    };
    this.#settings.set(setting, unset);
    return unset;
  }

  clear(): void {
    for (const unset of this.#settings.values()) unset();
  }

  /** An exchange begins, and is struck by the faults that are for it. */
  enter(exchange: Exchange): void {
    this.#open.add(exchange);
    for (const { fault, everything, strikes } of this.#settings.keys()) {
      // All connections that are to be reset were: this one is older than the fault, which is for new ones.
      if (fault.kind === 'reset' && everything) continue;
      if (strikes(exchange.seen)) this.#strike(exchange, fault);
    }
  }

  leave(exchange: Exchange): void {
    this.#open.delete(exchange);
  }

  #strikesEverything(kind: FaultKind): boolean {
    // What strikes answers only lets connections be made.
    const strikes = (fault: Fault) => fault.kind === kind && !(fault.kind === 'stall' && fault.direction === 'answers');
    return [...this.#settings.keys()].some(({ fault, everything }) => everything && strikes(fault));
  }

  #strikeOpen({ fault, everything, strikes }: Setting): void {
    if (fault.kind === 'reset' && fault.connections === 'new') return;
    if (fault.kind === 'reset' && everything) this.#resetAll();
    for (const exchange of this.#open) if (strikes(exchange.seen)) this.#strike(exchange, fault);
  }

  #strike(exchange: Exchange, fault: Fault): void {
    exchange.faults.add(fault);
    if (fault.kind === 'reset') exchange.end('reset');
  }

  #cut(fault: FaultOf<'cut'>): void {
    for (const exchange of this.#open) if (exchange.faults.all().includes(fault)) exchange.end(fault.by);
  }
}
