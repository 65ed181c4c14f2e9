import type { Change } from '@kube-semaphore/informers';
import { isAsWritten, type SliceWrite } from '../desired/diff/slices.ts';
import type { ObservedSlice } from '../desired/observed.ts';
import type { Endpoint } from '../desired/source.ts';

/** The slices that are being written, by the key of their store. */
export class OwnWrites {
  readonly #writes = new Map<string, SliceWrite>();

  /** The endpoints that are being written to a slice: those that the store gets share their memory. */
  endpoints(key: string): readonly Endpoint[] | undefined {
    return this.#writes.get(key)?.to.endpoints;
  }

  /**
   * Whether a slice has become what is being written, so that nothing has to be done. The answer and the watch both report that;
   * the store takes the first of them.
   */
  made({ key, current }: Change<ObservedSlice>): boolean {
    const write = this.#writes.get(key);
    return write !== undefined && current !== undefined && isAsWritten(current, write);
  }

  /** @param write resolves when the answer is stored */
  async during<T>(key: string, change: SliceWrite, write: () => Promise<T>): Promise<T> {
    this.#writes.set(key, change);
    try {
      return await write();
    } finally {
      this.#writes.delete(key);
    }
  }
}
