import { activeAt, type Machine, type Period } from './machine.ts';
import type { World } from './world.ts';

/** A time in which requests, or the answers to them, get lost. */
export type Cut = Period & { readonly loses: 'requests' | 'answers' };

export type NetworkOptions = {
  readonly world: World;
  readonly machine: Machine;
  readonly cuts: readonly Cut[];
  /** How long a request is under way, and its answer. */
  readonly delayMs: () => number;
};

type RequestOptions = {
  readonly signal: AbortSignal;
  /** Default: as slow as the network is. */
  readonly delayMs?: () => number;
};

/** The way from a machine to the API server. */
export class Network {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /**
   * Has `execute` run at the server, later, and resolves with what it returned, later still, or never. An abort ends
   * the wait and takes nothing back: what was sent may arrive.
   */
  request<T>(execute: () => T, { signal, delayMs = this.#options.delayMs }: RequestOptions): Promise<T> {
    const { world, machine } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
    if (!this.#loses('requests')) {
      world.at(world.nowMs + delayMs(), () => {
        const answer = attempt(execute);
        if (this.#loses('answers')) return;
        machine.deliver(world.nowMs + delayMs(), () => void answer.then(resolve, reject), 'answer');
      });
    }
    return promise;
  }

  #loses(what: Cut['loses']): boolean {
    const { cuts, world } = this.#options;
    return (
      activeAt(
        cuts.filter(({ loses }) => loses === what),
        world.nowMs,
      ) !== undefined
    );
  }
}

/** What the server answers; it is of no concern to it whether anybody hears that. */
function attempt<T>(execute: () => T): Promise<T> {
  const answer = (async () => execute())();
  answer.catch(() => undefined);
  return answer;
}
