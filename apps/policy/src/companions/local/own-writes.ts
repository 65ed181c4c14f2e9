import { type CompanionChange, isWritten, type ObservedCompanion } from '@kube-semaphore/network-policies';
import { idOf } from './companion-index.ts';

/** The writes of companions under way. What they do needs no reconcile: one has just decided it. */
export class OwnWrites {
  readonly #changes = new Map<string, CompanionChange>();

  /** Sends a change, whose answer or event may come first. */
  async send<T>(change: CompanionChange, send: () => Promise<T>): Promise<T> {
    const id = idOf(change.kind === 'delete' ? change.from : { resource: change.resource, object: change.to });
    this.#changes.set(id, change);
    try {
      return await send();
    } finally {
      this.#changes.delete(id);
    }
  }

  /** Whether such a write made an object what it is now; undefined: it is gone. */
  caused(previous: ObservedCompanion | undefined, current: ObservedCompanion | undefined): boolean {
    const observed = current ?? previous;
    if (observed === undefined) return false;
    const change = this.#changes.get(idOf(observed));
    if (change === undefined || change.kind === 'delete') return change !== undefined && current === undefined;
    return current !== undefined && isWritten(change.to, current.object);
  }
}
