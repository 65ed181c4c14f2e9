import type { Logger } from '@kube-semaphore/runtime';

/** Logs each failure once when it begins and once when it ends, however often it is retried. Retries are logged at debug. */
export class FailureLog {
  readonly #log: Logger;
  readonly #failing = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param failure `key` is a remote */
  failed({ key, error, retryInMs }: { key: string; error: unknown; retryInMs?: number }): void {
    const message = error instanceof Error ? error.message : String(error);
    const isKnown = this.#failing.get(key) === message;
    this.#failing.set(key, message);
    const retry = retryInMs === undefined ? {} : { retryInMs: Math.round(retryInMs) };
    this.#log[isKnown ? 'debug' : 'warn']({ cluster: key, error, ...retry }, 'reconcile failed, retrying');
  }

  succeeded(key: string): void {
    if (this.#failing.delete(key)) this.#log.info({ cluster: key }, 'recovered');
  }

  /** Why the last try failed; undefined: it didn't, or there was none. */
  reasonOf(key: string): string | undefined {
    return this.#failing.get(key);
  }

  /** Nothing is tried again. */
  forget(key: string): void {
    this.#failing.delete(key);
  }
}
