import { expect } from 'vitest';
import type { Tally } from '../../src/calls/calls.ts';

/** The failed calls. Throws if there were too few calls. */
export const failedIn = ({ calls, failed }: Tally): readonly object[] => {
  expect(calls.length).toBeGreaterThan(20);
  return failed;
};

/** Whether calls failed for no longer than a tunnel takes to come back, with a wide margin for a busy machine. */
export const mostlyAnswered = (tally: Tally): boolean => failedIn(tally).length < tally.calls.length / 2;
