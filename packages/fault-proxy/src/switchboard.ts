import type { Exchange } from './exchange.ts';
import { canHaveFilter, concernsOpenAnswers, type Fault, type FaultKind, type FaultOf } from './fault.ts';
import { type FilteredRequest, matcher, type RequestFilter } from './filter.ts';
import type { Admission } from './port.ts';

/** An active fault. */
type Setting = {
  readonly fault: Fault;
  /** Whether it affects whole connections, not only some requests. */
  readonly everything: boolean;
  readonly strikes: (request: FilteredRequest) => boolean;
};

/** The active faults, and the open exchanges that they affect. */
export class Switchboard {
  /** Each fault with the function that removes it. */
  readonly #settings = new Map<Setting, () => void>();
  readonly #open = new Set<Exchange>();
  readonly #resetAll: () => void;

  /** @param resetAll resets all connections, including those without a request */
  constructor({ resetAll }: { resetAll: () => void }) {
    this.#resetAll = resetAll;
  }

  /** Whether the port must be closed. */
  get refuses(): boolean {
    return this.#strikesEverything('refuse');
  }

  /** What is wrong with the certificate of new connections, if anything. */
  get certificateOf(): FaultOf<'certificate'>['of'] | undefined {
    return [...this.#settings.keys()].flatMap(({ fault }) => (fault.kind === 'certificate' ? fault.of : []))[0];
  }

  /** What to do with a new connection. */
  get admission(): Admission {
    if (this.#strikesEverything('reset')) return 'reset';
    return this.#strikesEverything('stall') ? 'hold' : 'serve';
  }

  /** The open exchanges. */
  get open(): readonly FilteredRequest[] {
    return Array.from(this.#open, ({ seen }) => seen);
  }

  /** @returns a function that removes the fault */
  set(wanted: Fault, filter: RequestFilter = {}): () => void {
    // A copy, because an equal fault may be set again.
    const fault = { ...wanted };
    const everything = Object.values(filter).every((value) => value === undefined);
    if (!canHaveFilter(fault.kind) && !everything)
      throw new TypeError(`${fault.kind} must not have a filter: no request is known yet`);
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

  /** Adds a new exchange, and applies the faults that match it. */
  enter(exchange: Exchange): void {
    this.#open.add(exchange);
    for (const { fault, everything, strikes } of this.#settings.keys()) {
      // The fault is for new connections only, and this connection is older.
      if (fault.kind === 'reset' && everything) continue;
      if (strikes(exchange.seen)) this.#strike(exchange, fault);
    }
  }

  leave(exchange: Exchange): void {
    this.#open.delete(exchange);
  }

  #strikesEverything(kind: FaultKind): boolean {
    // A fault for answers lets new connections through.
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
