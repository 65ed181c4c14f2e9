// Real: API servers are killed, and restored from snapshots; the audit log says who wrote.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { policy } from '../../src/subjects/policy.ts';
import { serviceMirror } from '../../src/subjects/service-mirror.ts';
import { chaos } from '../../src/chaos.ts';
import { script } from '../../src/script.ts';

const ROUNDS = 2;

const launcherOf = (app: string): string =>
  fileURLToPath(new URL(`../../../../apps/${app}/bin/semaphore-${app}.js`, import.meta.url));

/** The seeds are fixed, so that a change of the code is what makes one fail. */
it.each([
  { app: 'service-mirror', subject: serviceMirror, seed: 1 },
  { app: 'policy', subject: policy, seed: 2 },
])('$app is as it must be whenever it is quiet', async ({ app, subject, seed }) => {
  const goesOn = (rounds: number): boolean => rounds < ROUNDS;
  // One replica: if this machine is too busy to renew a Lease, two have no leader.
  const options = { launcher: launcherOf(app), replicas: 1, goesOn } as const;
  const { rounds, violations, logs } = await chaos(subject, script(subject, seed), options);
  expect({ rounds, violations, logs }).toEqual({ rounds: ROUNDS, violations: [], logs: [] });
});
