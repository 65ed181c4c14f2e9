import { faultSeed } from '@kube-semaphore/fault-proxy';
import { randomFaults } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it as itUnderFaults } from '../support/under-faults.ts';

/** A seed that is printed, and that FAULT_SEED sets. */
const it = itUnderFaults.extend('seed', () => faultSeed());

describe('faults on both sides and changes at random', () => {
  it('cost nothing but time', { timeout: 240_000 }, ({ seed, lab }) => randomFaults(lab, { seed, lastsMs: 20_000 }));
});
