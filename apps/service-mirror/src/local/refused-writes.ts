import { isDeepStrictEqual } from 'node:util';
import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Change } from '../desired/change.ts';

type Refused = { readonly change: Change; readonly why: string };

/**
 * Changes that the API server refused (400, 413, 422), by key: an address family that the cluster lacks, say. The same
 * change would be refused again, so it is tried again only when it is another one.
 */
export class RefusedWrites {
  readonly #byKey = new Map<string, readonly Refused[]>();

  /** Why this very change was refused the last time; undefined if it wasn't. */
  why(key: string, change: Change): string | undefined {
    return this.#byKey.get(key)?.find((refused) => isDeepStrictEqual(refused.change, change))?.why;
  }

  /** Those of a key from now on, as its last look met them; the others are forgotten. */
  replace(key: string, refused: readonly Refused[]): void {
    if (refused.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, refused);
  }
}

/** Bad Request, Request Entity Too Large, Unprocessable Entity. */
const REFUSALS: readonly number[] = [400, 413, 422];

/** Whether the object itself is at fault, and not the moment. */
export const isRefusal = (error: unknown): error is KubeApiError =>
  error instanceof KubeApiError && REFUSALS.includes(error.status);
