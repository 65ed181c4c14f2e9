import { limitedLog, type Logger } from '@kube-semaphore/runtime';

export type WriteLogOptions = {
  readonly log: Logger;
  /** What is written, as a log line begins: `set`. */
  readonly what: string;
  /** All writes fail, said with each that does, as a watch that goes on may have said otherwise; or they work again. */
  readonly onTrouble: (inTrouble: boolean) => void;
};

/**
 * Tells of writes and of why they fail. What fails for every object alike (the local API server is away, or forbids us
 * to write) is said once, and once more when it is over; what is wrong with one object is said each time, but
 * not more than 100 times a minute.
 */
export class WriteLog {
  readonly #options: WriteLogOptions;
  readonly #failures: Logger;
  /** What all writes fail of now. */
  #trouble: string | undefined;

  constructor(options: WriteLogOptions) {
    this.#options = options;
    this.#failures = limitedLog(options.log, {});
  }

  /** @param event what was done, as a log line says it: `set created` */
  written(event: string, facts: Readonly<Record<string, unknown>>): void {
    const { log, onTrouble } = this.#options;
    if (this.#trouble !== undefined) {
      this.#trouble = undefined;
      log.info({}, 'local writes work again');
      onTrouble(false);
    }
    log.info(facts, event);
  }

  failed({ key, error, retryInMs }: { key: string; error: unknown; retryInMs: number }): void {
    const trouble = commonTrouble(error);
    const said = trouble !== undefined && trouble === this.#trouble;
    if (trouble !== undefined) {
      this.#trouble = trouble;
      this.#options.onTrouble(true);
    }
    // 409: somebody wrote at the same time, and the next attempt knows. Normal, but worth finding.
    const level = said || isConflict(error) ? 'debug' : 'warn';
    this.#failures[level](
      { key, error, retryInMs: Math.round(retryInMs) },
      `${this.#options.what} not written, will try again`,
    );
  }
}

/** What an error says about all writes; undefined if it is about this one only. */
function commonTrouble(error: unknown): string | undefined {
  const { code, status } = error as { code?: string; status?: number };
  if (status === undefined) return code;
  return status === 401 || status === 403 || status === 429 || status >= 500 ? String(status) : undefined;
}

const isConflict = (error: unknown): boolean => (error as { status?: number }).status === 409;
