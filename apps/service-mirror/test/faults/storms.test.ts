import { failWrites, loseAnswers, refuseWrites, storms, throttleWrites, weatherStorm, writeStorms } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it, patience } from '../support/under-faults.ts';

describe('a storm', patience, () => {
  it.for(storms)('of $name costs nothing but time, on either side', (storm, { lab }) => weatherStorm(lab, storm));
});

const complaint = 'service not written, will try again';

describe('local writes that are all', patience, () => {
  it.for(writeStorms)('$name are tried again, and complained about once', ({ fault }, { lab }) => failWrites(lab, fault, complaint));

  it('carried out, with an answer that breaks off, make the mirrors right all the same', ({ lab }) => loseAnswers(lab));

  it('refused by 429 are tried again no sooner than it says', ({ lab }) => throttleWrites(lab));

  it('refused by 409 are decided anew, which is no trouble', ({ lab }) => refuseWrites(lab, complaint));
});
