import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { wireguard } from '../../src/subjects/wireguard.ts';
import { chaos } from '../../src/chaos.ts';
import { script } from '../../src/script.ts';

const ROUNDS = 2;

const launcher = fileURLToPath(new URL('../../../../apps/wireguard/bin/semaphore-wireguard.js', import.meta.url));

/** The seed is fixed, so that a change of the code is what makes it fail. */
it('wireguard is as it must be whenever it is quiet', async () => {
  const goesOn = (rounds: number): boolean => rounds < ROUNDS;
  const { rounds, violations, logs } = await chaos(wireguard, script(wireguard, 3), { launcher, replicas: 1, goesOn });
  expect({ rounds, violations, logs }).toEqual({ rounds: ROUNDS, violations: [], logs: [] });
});
