import type { ReconcileContext } from '@kube-semaphore/controller';
import type { Service } from '@kube-semaphore/kube-objects';
import type { Change } from './change.ts';
import { isInvalid, type RefusedWrites } from './refused-writes.ts';

export type KeyWriterOptions = {
  readonly key: string;
  readonly context: ReconcileContext;
  /** Carries out a change. A Service that is written is returned. */
  readonly write: (change: Change, context: ReconcileContext) => Promise<Service | undefined>;
  readonly refused: RefusedWrites;
};

/** The writes of one reconcile, but for those that were refused before. */
export class KeyWriter {
  readonly #options: KeyWriterOptions;
  readonly #refused: { readonly change: Change; readonly why: string }[] = [];
  #wrote = false;

  constructor(options: KeyWriterOptions) {
    this.#options = options;
  }

  /** Whether anything was sent. */
  get wrote(): boolean {
    return this.#wrote;
  }

  /** What is refused, now or as before. */
  get refused(): readonly { readonly change: Change; readonly why: string }[] {
    return this.#refused;
  }

  /** @returns the Service that was written. @throws whatever made a write fail, but for a refusal */
  async write(change: Change): Promise<Service | undefined> {
    const { key, context, write, refused } = this.#options;
    const why = refused.why(key, change);
    if (why !== undefined) {
      this.#refused.push({ change, why });
      return undefined;
    }
    this.#wrote = true;
    try {
      return await write(change, context);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      this.#refused.push({ change, why: error.message });
      return undefined;
    }
  }

  /** All changes are tried; then the first that failed is thrown, so that no later phase begins. */
  async writeAll(phase: readonly Change[]): Promise<void> {
    const results = await Promise.allSettled(phase.map((change) => this.write(change)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
