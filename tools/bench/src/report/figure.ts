import type { VerbCounts } from '../measure/requests.ts';
import type { Result } from '../phases/result.ts';

/** One line of the table. */
export type Figure = {
  readonly label: string;
  /** undefined if it wasn't measured. */
  readonly value: (result: Result) => number | VerbCounts | undefined;
  readonly unit: 's' | 'ms' | 'MB' | 'kB' | '%' | '';
  readonly decimals: number;
  /** The most that ours may have; undefined where none is set, or applies. */
  readonly budget?: number | undefined;
};
