import type { Figures } from '../report/report.ts';

/**
 * A value that this many percent don't exceed: the smallest one.
 *
 * @param values at least one, in any order
 */
export function percentile(values: readonly number[], percent: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil((percent / 100) * values.length) - 1] ?? NaN;
}

/** A line for each percentile; 100 is the longest. */
export function durations(label: string, ms: readonly number[], percents: readonly number[]): Figures {
  return Object.fromEntries(
    percents.map((percent) => [
      `${label}, ${percent === 100 ? 'max' : `p${percent}`}`,
      [percentile(ms, percent), 'ms'],
    ]),
  );
}
