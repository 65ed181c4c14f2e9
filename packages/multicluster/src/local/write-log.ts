import { limitedLog, type Logger } from '@kube-semaphore/runtime';
import { isMissingRight, isNamespaceGone, isRefusal } from './refusal.ts';

export type WriteLogOptions = {
  readonly log: Logger;
  /** What is written, at the beginning of log messages: `set`. */
  readonly what: string;
  /** No write succeeds, called for each that fails, as a watch may report otherwise; or they recovered. */
  readonly onTrouble: (inTrouble: boolean) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

/** A write or a whole reconcile that failed. */
export type FailedWrite = {
  readonly key: string;
  readonly object?: string;
  readonly error: unknown;
  readonly retryInMs: number;
};

/** How often a failure is logged that lasts. */
const AGAIN_MS = 60_000;

/** Without a success for so long, errors of several objects are the API server's fault. */
const TROUBLE_MS = 10_000;

/**
 * Logs writes and their failures: one line a minute for each right that is missing, and for each other status. What is refused
 * is a diagnostic, which is logged once. An answer shows that the API server is up. Writes are in trouble if it doesn't
 * answer, or if for a while several objects fail and none succeeds.
 */
export class WriteLog {
  readonly #options: Required<WriteLogOptions>;
  readonly #failures: Logger;
  readonly #loggedAt = new Map<string, number>();
  /** The objects that failed since the last success, and since when. */
  #failing: { readonly objects: Set<string>; readonly sinceMs: number } | undefined;
  #isInTrouble = false;

  constructor(options: WriteLogOptions) {
    this.#options = { now: () => performance.now(), ...options };
    this.#failures = limitedLog(options.log, {});
  }

  /** @param event the log message: `set created` */
  written(event: string, facts: Readonly<Record<string, unknown>>): void {
    const { log, onTrouble } = this.#options;
    this.#failing = undefined;
    if (this.#isInTrouble) {
      this.#isInTrouble = false;
      log.info({}, 'local writes recovered');
      onTrouble(false);
    }
    log.info(facts, event);
  }

  failed(failure: FailedWrite, what: string = this.#options.what): void {
    const { key, object, error, retryInMs } = failure;
    if (this.#isTrouble(failure)) {
      this.#isInTrouble = true;
      this.#options.onTrouble(true);
    }
    const level = isUsual(error) || !this.#isNew(causeOf(error)) ? 'debug' : 'warn';
    const fields = { key, object, error, retryInMs: Math.round(retryInMs) };
    this.#failures[level](fields, `${what} not written, retrying`);
  }

  #isTrouble({ key, object = key, error }: FailedWrite): boolean {
    if (statusOf(error) === undefined) return (error as { code?: string }).code !== undefined;
    if (isUsual(error)) return false;
    const nowMs = this.#options.now();
    this.#failing ??= { objects: new Set(), sinceMs: nowMs };
    const { objects, sinceMs } = this.#failing;
    if (objects.size < 2) objects.add(object);
    return objects.size === 2 && nowMs - sinceMs >= TROUBLE_MS;
  }

  #isNew(cause: string): boolean {
    const nowMs = this.#options.now();
    const isNew = nowMs - (this.#loggedAt.get(cause) ?? -Infinity) >= AGAIN_MS;
    if (!isNew) return false;
    for (const [other, atMs] of this.#loggedAt) if (nowMs - atMs >= AGAIN_MS) this.#loggedAt.delete(other);
    this.#loggedAt.set(cause, nowMs);
    return true;
  }
}

/**
 * Whether an error is no fault of the API server, nor of our rights. 409: another client wrote at the same time, and the retry
 * reads its write. A namespace that is being deleted: so are its objects.
 */
const isUsual = (error: unknown): boolean =>
  isRefusal(error) || isNamespaceGone(error) || (error as { status?: number }).status === 409;

/** The status of the API server's answer; undefined without one. */
function statusOf(error: unknown): number | undefined {
  const { status, cause } = error as { status?: number; cause?: { status?: number } };
  return status ?? cause?.status;
}

/** What failures have in common that are logged once. */
function causeOf(error: unknown): string {
  if (isMissingRight(error)) return /\bcannot .*$/s.exec(error.message)![0];
  const { code = '', status } = error as { code?: string; status?: number };
  return String(status ?? code);
}
