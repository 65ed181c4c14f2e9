import { startCluster } from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { findingsIn } from '../src/mesh-report.ts';
import { semaphore } from '../src/semaphore.ts';

it('the findings of a check that ends with 1 are read, and another error says what was printed', async () => {
  const cluster = await startCluster({ name: 'c1' });
  onTestFinished(() => cluster.stop());
  const sides = [{ cluster }];
  expect(await findingsIn(sides)).toContain('apps-found');
  await expect(semaphore(sides, 'check')).rejects.toThrow('apps-found: c1: no Pod of an app was found');
});
