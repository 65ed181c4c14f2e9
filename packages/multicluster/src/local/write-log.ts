import { limitedLog, type Logger } from '@kube-semaphore/runtime';

export type WriteLogOptions = {
  readonly log: Logger;
  /** What is written, at the beginning of log messages: `set`. */
  readonly what: string;
  /** All writes fail, called for each that does, as a watch may report otherwise; or they recovered. */
  readonly onTrouble: (inTrouble: boolean) => void;
};

/**
 * Logs writes and their failures. A failure that all objects share (the local API server is down, or forbids writes) is
 * logged once, and once more when it is over. A failure of one object is logged each time, at most 100 times a minute.
 */
export class WriteLog {
  readonly #options: WriteLogOptions;
  readonly #failures: Logger;
  /** The code or status that all writes fail with now. */
  #trouble: string | undefined;

  constructor(options: WriteLogOptions) {
    this.#options = options;
    this.#failures = limitedLog(options.log, {});
  }

  /** @param event the log message: `set created` */
  written(event: string, facts: Readonly<Record<string, unknown>>): void {
    const { log, onTrouble } = this.#options;
    if (this.#trouble !== undefined) {
      this.#trouble = undefined;
      log.info({}, 'local writes recovered');
      onTrouble(false);
    }
    log.info(facts, event);
  }

  failed(
    { key, error, retryInMs }: { key: string; error: unknown; retryInMs: number },
    what: string = this.#options.what,
  ): void {
    const trouble = commonTrouble(error);
    const isKnown = trouble !== undefined && trouble === this.#trouble;
    if (trouble !== undefined) {
      this.#trouble = trouble;
      this.#options.onTrouble(true);
    }
    // 409: another client wrote at the same time, and the retry reads its write. Normal, but worth finding.
    const level = isKnown || (error as { status?: number }).status === 409 ? 'debug' : 'warn';
    const fields = { key, error, retryInMs: Math.round(retryInMs) };
    this.#failures[level](fields, `${what} not written, retrying`);
  }
}

/** The code or status of an error that all writes share; undefined if it is about one object. */
function commonTrouble(error: unknown): string | undefined {
  const { code, status } = error as { code?: string; status?: number };
  if (status === undefined) return code;
  return [401, 403, 429].includes(status) || status >= 500 ? String(status) : undefined;
}
