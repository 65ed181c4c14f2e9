/**
 * Delay before a failed key is retried: doubling, without jitter, as keys of one process don't retry in step.
 *
 * @param failures in a row, an integer >= 1
 * @returns milliseconds in [baseMs, maxMs], or `retryAfterMs` if that is more
 */
export function backoffMs(
  failures: number,
  { baseMs, maxMs }: { baseMs: number; maxMs: number },
  retryAfterMs = 0,
): number {
  return Math.max(Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30)), retryAfterMs);
}
