import { meetFaults } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { it } from '../support/under-faults.ts';

it('survives cut watches, half-open connections and failed writes', async ({ lab }) => {
  expect(await meetFaults(lab, 'service not written, retrying')).toEqual({
    gaps: [],
    errors: [],
    healthz: 200,
    warnings: 1,
  });
});
