import {
  errorAnswers,
  failWrites,
  loseAnswers,
  refuseWrites,
  scenarioTimeout,
  surviveErrorAnswers,
  throttleWrites,
  writeFailures,
} from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it } from '../support/under-faults.ts';

describe('error answers', scenarioTimeout, () => {
  it.for(errorAnswers)('of $name cost nothing but time, on either side', (answers, { lab }) =>
    surviveErrorAnswers(lab, answers),
  );
});

const complaint = 'service not written, retrying';

describe('local writes that are all', scenarioTimeout, () => {
  it.for(writeFailures)('$name are tried again, and complained about once', ({ fault }, { lab }) =>
    failWrites(lab, fault, complaint),
  );

  it('carried out, with an answer that breaks off, make the mirrors right all the same', ({ lab }) => loseAnswers(lab));

  it('refused by 429 are tried again no sooner than it says', ({ lab }) => throttleWrites(lab));

  it('refused by 409 are decided anew, which is no trouble', ({ lab }) => refuseWrites(lab, complaint));
});
