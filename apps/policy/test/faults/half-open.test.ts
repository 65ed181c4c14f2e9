import { bothSides, halfOpen, hiddenEdit, scenarioTimeout } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it } from '../support/under-faults.ts';

describe('a connection that is half open', scenarioTimeout, () => {
  it.for(bothSides)('to the $side API server is given up, with all that was on its way', ({ side }, { lab }) =>
    halfOpen(lab, [side], 'lost'),
  );

  it('to both is given up, and what was on its way arrives late', ({ lab }) =>
    halfOpen(lab, ['remote', 'local'], 'late'));

  it('hides what somebody does to a set until it is given up', ({ lab }) => hiddenEdit(lab));
});
