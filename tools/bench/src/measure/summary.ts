/** The distribution of durations. */
export type Summary = { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number };

/**
 * Each percentile is one of the values: the smallest that this many percent don't exceed.
 *
 * @param values at least one, in any order
 */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const percentile = (percent: number) => sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? NaN;
  return { p50: percentile(50), p90: percentile(90), p99: percentile(99), max: percentile(100) };
}
