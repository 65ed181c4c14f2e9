import type { VerbCounts } from '../measure/requests.ts';
import type { Result } from '../phases/result.ts';

/** One line of the table. Less is better in all of them. */
export type Figure = {
  readonly label: string;
  /** Undefined if it wasn't measured. */
  readonly value: (result: Result) => number | VerbCounts | undefined;
  readonly unit: 's' | 'ms' | 'MB' | 'kB' | '%' | '';
  /** The limit for our program; undefined if none is set, or applies. */
  readonly target?: number | undefined;
};
