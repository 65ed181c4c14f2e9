import { bothSides, letTokenExpire, renewToken, scenarioTimeout } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it } from '../support/under-faults.ts';

describe('a token in a file', scenarioTimeout, () => {
  it.for(bothSides)('that expires on the $side side is refused until the file is replaced', ({ side }, { lab }) =>
    letTokenExpire(lab, side),
  );

  it.for(bothSides)('that is replaced on the $side side before it expires is noticed by nobody', ({ side }, { lab }) =>
    renewToken(lab, side),
  );
});
