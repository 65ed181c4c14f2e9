import { variableOf, type OptionTable } from './table.ts';
import { duration, integer } from './types.ts';

/** When a list of a remote is too bad to be believed at once. */
export type DeletionGuardOptions = {
  /** Share that a list may take away, 0 to 100; 100 switches the guard off. */
  readonly deletionGuardPercent: number;
  /** So many objects are never held. */
  readonly deletionGuardMin: number;
  /** For how long a list is doubted. */
  readonly deletionGuardHoldMs: number;
};

/**
 * The rows of `DeletionGuardOptions`.
 *
 * @param prefix of the app's variables: `SP`
 */
export function deletionGuardOptions({ prefix }: { prefix: string }): OptionTable<DeletionGuardOptions> {
  const named = (flag: string) => ({ flag, env: variableOf(prefix, flag), group: 'Deletion guard' });
  return {
    deletionGuardPercent: {
      ...named('deletion-guard-percent'),
      type: integer({ min: 0, max: 100 }),
      fallback: 50,
      help: 'Holds deletions if a list is missing more than this percentage; 100 holds none.',
    },
    deletionGuardMin: {
      ...named('deletion-guard-min'),
      type: integer({ min: 0, max: 1_000_000 }),
      fallback: 10,
      help: 'Never holds this many deletions or fewer.',
    },
    deletionGuardHoldMs: {
      ...named('deletion-guard-hold'),
      type: duration({ minMs: 1 }),
      fallback: 300_000,
      help: 'Time before the remote is listed again, and believed.',
    },
  };
}
