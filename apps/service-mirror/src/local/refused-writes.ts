import { isDeepStrictEqual } from 'node:util';
import { isStatus, type KubeApiError } from '@kube-semaphore/kube-client';
import type { Change } from '../desired/diff/change.ts';

/** A refused change. `why` is the API server's message. */
export type Refused = { readonly change: Change; readonly why: string };

/**
 * Changes that the API server refused, by key: for example, the cluster lacks an address family. The same change would be
 * refused again, so it isn't sent again.
 */
export class RefusedWrites {
  readonly #byKey = new Map<string, readonly Refused[]>();

  /** Why the same change was refused in the last reconcile; undefined if it wasn't. */
  why(key: string, change: Change): string | undefined {
    return this.#byKey.get(key)?.find((refused) => isDeepStrictEqual(refused.change, change))?.why;
  }

  /** Replaces the refused changes of a key by those of its last reconcile. */
  replace(key: string, refused: readonly Refused[]): void {
    if (refused.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, refused);
  }
}

/** Whether the object itself is at fault: Bad Request, Request Entity Too Large, Unprocessable Entity. */
export const isRefusal = (error: unknown): error is KubeApiError => isStatus(error, 400, 413, 422);
