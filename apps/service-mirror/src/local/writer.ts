import type { ReconcileContext } from '@kube-semaphore/controller';
import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Service } from '@kube-semaphore/kube-objects';
import type { Change } from '../desired/diff/change.ts';
import { type ClusterDiagnostic, problemOf } from '../desired/diagnostic.ts';
import type { ChangeContext } from './change-writer.ts';
import { isRefusal, type Refused, type RefusedWrites } from './refused-writes.ts';

export type KeyWriterOptions = {
  readonly key: string;
  readonly context: ReconcileContext;
  /** Makes a change. @returns a Service that was written */
  readonly write: (change: Change, context: ChangeContext) => Promise<Service | undefined>;
  readonly refused: RefusedWrites;
};

/** The name of a slice belongs to an object that isn't ours. No event reports when that is gone, so the key is retried. */
type Taken = Refused & { readonly error: unknown };

/** The writes of one reconcile, without those that were refused before. */
export class KeyWriter {
  readonly #options: KeyWriterOptions;
  /** Changes that are refused, now or before. */
  readonly refused: Refused[] = [];
  readonly taken: Taken[] = [];
  #wrote = false;

  constructor(options: KeyWriterOptions) {
    this.#options = options;
  }

  /** Whether anything was sent. */
  get wrote(): boolean {
    return this.#wrote;
  }

  /** Why some changes weren't made. */
  get diagnostics(): readonly ClusterDiagnostic[] {
    const { key } = this.#options;
    const refused = this.refused.map(({ why }) => problemOf(key, 'refused', why));
    return [...refused, ...this.taken.map(({ why }) => problemOf(key, 'name-taken', why))];
  }

  /** Whether a change was made: neither refused, nor its name taken. */
  isDone(change: Change): boolean {
    return ![...this.refused, ...this.taken].some((each) => each.change === change);
  }

  /** @returns a Service that was written. @throws what made the write fail, except for a refusal and a taken name */
  async write(change: Change): Promise<Service | undefined> {
    const { key, context, write, refused } = this.#options;
    const why = refused.why(key, change);
    if (why !== undefined) {
      this.refused.push({ change, why });
      return undefined;
    }
    this.#wrote = true;
    try {
      return await write(change, { key, since: context.since });
    } catch (error) {
      if (isRefusal(error)) this.refused.push({ change, why: error.message });
      else if (isTaken(change, error))
        this.taken.push({ change, why: `the EndpointSlice ${change.to.name} exists, and isn't ours`, error });
      else throw error;
      return undefined;
    }
  }

  /** Tries all changes, then throws what made the first one fail, so that no later phase begins. */
  writeAll(phase: readonly Change[]): Promise<void> {
    return allTried(phase.map((change) => this.write(change)));
  }
}

/** Waits for all attempts, then throws what made the first one fail. */
export async function allTried(attempts: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(attempts);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Whether another slice has the name. `writeChange` has updated the slice if it was ours. */
function isTaken(change: Change, error: unknown): change is Extract<Change, { readonly kind: 'create-slice' }> {
  return change.kind === 'create-slice' && error instanceof KubeApiError && error.reason === 'AlreadyExists';
}
