import { bothSides, restoreEtcd } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it, patience } from '../support/under-faults.ts';

describe('an etcd that was restored to an older snapshot', patience, () => {
  it.for(bothSides)('is noticed on the $side side, whose watch would be silent', ({ side }, { lab }) => restoreEtcd(lab, side));
});
