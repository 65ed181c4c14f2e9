import { watchCuts } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it } from '../support/under-faults.ts';

const MINUTE_MS = 60_000;

describe('watches that are cut every second for a minute, on both sides', () => {
  it('hold no change back for long', { timeout: 5 * MINUTE_MS }, ({ lab }) => watchCuts(lab, { lastsMs: MINUTE_MS }));
});
