import type { Logger } from '@kube-semaphore/runtime';

/** Tells of failures: each once when it begins, and once when it is over, however often it is tried again meanwhile. */
export class FailureLog {
  readonly #log: Logger;
  readonly #failing = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param key what failed, a remote */
  failed({
    key,
    error,
    retryInMs,
  }: {
    readonly key: string;
    readonly error: unknown;
    readonly retryInMs?: number;
  }): void {
    const message = error instanceof Error ? error.message : String(error);
    const isKnown = this.#failing.get(key) === message;
    this.#failing.set(key, message);
    const retry = retryInMs === undefined ? {} : { retryInMs: Math.round(retryInMs) };
    this.#log[isKnown ? 'debug' : 'warn']({ cluster: key, error, ...retry }, 'not done, will try again');
  }

  succeeded(key: string): void {
    if (this.#failing.delete(key)) this.#log.info({ cluster: key }, 'works again');
  }
}
