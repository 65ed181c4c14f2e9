import { restarts, scenarioTimeout } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it } from '../support/under-faults.ts';

describe('an API server that restarts while Services come and go', scenarioTimeout, () => {
  it.for([
    { name: 'the remote one', restarted: ['remote'] },
    { name: 'the local one', restarted: ['local'] },
    { name: 'both at once', restarted: ['remote', 'local'] },
  ] as const)('costs nothing but time: $name, twice', ({ restarted }, { lab }) => restarts(lab, restarted));
});
