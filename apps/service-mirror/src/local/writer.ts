import type { ReconcileContext } from '@kube-semaphore/controller';
import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Service } from '@kube-semaphore/kube-objects';
import type { Change } from '../desired/change.ts';
import type { ChangeContext } from './change-writer.ts';
import { isRefusal, type RefusedWrites } from './refused-writes.ts';

export type KeyWriterOptions = {
  readonly key: string;
  readonly context: ReconcileContext;
  /** Makes a change. @returns a Service that was written */
  readonly write: (change: Change, context: ChangeContext) => Promise<Service | undefined>;
  readonly refused: RefusedWrites;
};

/** A slice of somebody else has the name: nothing tells us when it goes, so it is to be tried again. */
type Taken = { readonly change: Change; readonly why: string; readonly error: unknown };

/** The writes of one reconcile, but for those that were refused before. */
export class KeyWriter {
  readonly #options: KeyWriterOptions;
  readonly #refused: { readonly change: Change; readonly why: string }[] = [];
  readonly #taken: Taken[] = [];
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

  /** What can't be written because of somebody else's object. */
  get taken(): readonly Taken[] {
    return this.#taken;
  }

  /** Whether a change was neither refused nor met with somebody else's object. */
  isDone(change: Change): boolean {
    return ![...this.#refused, ...this.#taken].some((each) => each.change === change);
  }

  /** @returns the Service that was written. @throws whatever made a write fail, but for a refusal and for a name that is taken */
  async write(change: Change): Promise<Service | undefined> {
    const { key, context, write, refused } = this.#options;
    const why = refused.why(key, change);
    if (why !== undefined) {
      this.#refused.push({ change, why });
      return undefined;
    }
    this.#wrote = true;
    try {
      return await write(change, { key, since: context.since });
    } catch (error) {
      if (isRefusal(error)) this.#refused.push({ change, why: error.message });
      else if (isTaken(change, error))
        this.#taken.push({ change, why: `there is an EndpointSlice ${change.to.name} that isn't ours`, error });
      else throw error;
      return undefined;
    }
  }

  /** All changes are tried; then the first that failed is thrown, so that no later phase begins. */
  writeAll(phase: readonly Change[]): Promise<void> {
    return allTried(phase.map((change) => this.write(change)));
  }
}

/** Waits for all of them, and then throws what made the first one fail. */
export async function allTried(attempts: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(attempts);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Whether a slice that isn't known to us has the name: one of ours would have been put right. */
function isTaken(change: Change, error: unknown): change is Extract<Change, { readonly kind: 'create-slice' }> {
  return change.kind === 'create-slice' && error instanceof KubeApiError && error.reason === 'AlreadyExists';
}
