/** Milliseconds; `random` returns a number in [0, 1). */
export type BackoffOptions = { readonly baseMs: number; readonly maxMs: number; readonly random: () => number };

/** Even with the least jitter, a server that fails at once isn't asked more often than this. */
const MIN_MS = 20;

/**
 * Exponential backoff with full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/):
 * clients that lost one server return spread over the whole interval.
 *
 * @param failures failures in a row, an integer >= 1
 * @param retryAfterMs what the server requested, a lower bound
 * @returns milliseconds in [20, maxMs], or `retryAfterMs` and up to a tenth if that is more
 */
export function backoffMs(failures: number, { baseMs, maxMs, random }: BackoffOptions, retryAfterMs = 0): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));
  return Math.max(MIN_MS, random() * ceiling, retryAfterMs * (1 + random() / 10));
}
