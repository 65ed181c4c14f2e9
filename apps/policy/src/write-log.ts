import type { Logger } from '@kube-semaphore/runtime';
import type { Change } from './change.ts';

export type WriteLogOptions = {
  readonly log: Logger;
  /** All writes fail from now on, or work again. */
  readonly onTrouble: (inTrouble: boolean) => void;
};

/**
 * Tells of writes and of why they fail. What fails for every set alike (the local API server is away, or forbids us
 * to write) is said once, and once more when it is over; what is wrong with one set is said each time.
 */
export class WriteLog {
  readonly #options: WriteLogOptions;
  /** What all writes fail of now. */
  #trouble: string | undefined;

  constructor(options: WriteLogOptions) {
    this.#options = options;
  }

  written(change: Change): void {
    const { log, onTrouble } = this.#options;
    if (this.#trouble !== undefined) {
      this.#trouble = undefined;
      log.info({}, 'local writes work again');
      onTrouble(false);
    }
    log.info(factsOf(change), MESSAGES[change.kind]);
  }

  failed({ key, error, retryInMs }: { key: string; error: unknown; retryInMs: number }): void {
    const trouble = commonTrouble(error);
    const said = trouble !== undefined && trouble === this.#trouble;
    if (trouble !== undefined && !said) {
      this.#trouble = trouble;
      this.#options.onTrouble(true);
    }
    // 409: somebody wrote at the same time, and the next attempt knows. Normal, but worth finding.
    const level = said || isConflict(error) ? 'debug' : 'warn';
    this.#options.log[level]({ key, error, retryInMs: Math.round(retryInMs) }, 'set not written, will try again');
  }
}

const MESSAGES = { create: 'set created', update: 'set updated', delete: 'set deleted' } as const;

function factsOf(change: Change): Record<string, unknown> {
  switch (change.kind) {
    case 'create':
      return { set: change.to.name, nets: change.to.nets.length };
    case 'update': {
      const before = new Set(change.from.nets);
      const added = change.to.nets.filter((net) => !before.delete(net)).length;
      return { set: change.to.name, nets: change.to.nets.length, added, removed: before.size };
    }
    case 'delete':
      return { set: change.from.name, removed: change.from.nets.length };
  }
}

/** What an error says about all writes; undefined if it is about this one only. */
function commonTrouble(error: unknown): string | undefined {
  const { code, status } = error as { code?: string; status?: number };
  if (status === undefined) return code;
  return status === 401 || status === 403 || status === 429 || status >= 500 ? String(status) : undefined;
}

const isConflict = (error: unknown): boolean => (error as { status?: number }).status === 409;
