/**
 * Delay before a failed key is tried again: doubling, without jitter, for keys of one process don't gang up.
 *
 * @param failures failures in a row, an integer >= 1
 * @returns milliseconds in [baseMs, maxMs], or `retryAfterMs` if that is more
 */
export function backoffMs(
  failures: number,
  { baseMs, maxMs }: { baseMs: number; maxMs: number },
  retryAfterMs = 0,
): number {
  return Math.max(Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30)), retryAfterMs);
}
