import { bothSides, restoreEtcd, scenarioTimeout } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it } from '../support/under-faults.ts';

describe('an etcd that was restored to an older snapshot', scenarioTimeout, () => {
  it.for(bothSides)('is noticed on the $side side, although its watch is silent', ({ side }, { lab }) =>
    restoreEtcd(lab, side),
  );
});
