import { activeAt, type Machine, type Period } from './machine.ts';
import type { World } from './world.ts';

/** A time in which the network loses requests, or answers. */
export type Cut = Period & { readonly loses: 'requests' | 'answers' };

export type NetworkOptions = {
  readonly world: World;
  readonly machine: Machine;
  readonly cuts: readonly Cut[];
  /** How long a request takes to arrive, and its answer. */
  readonly delayMs: () => number;
};

type RequestOptions = {
  readonly signal: AbortSignal;
  /** Default: that of the network. */
  readonly delayMs?: () => number;
};

/** The network between a machine and the API server. */
export class Network {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /**
   * Runs `execute` at the server, after a delay, and resolves with its result, after another one, or never. An abort only
   * ends the wait: a request that was sent may arrive.
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

/** The answer of the server, which may get lost. */
function attempt<T>(execute: () => T): Promise<T> {
  const answer = (async () => execute())();
  answer.catch(() => undefined);
  return answer;
}
