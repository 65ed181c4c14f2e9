// Real: what a server answers while it starts.
import { useUpVersions } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { it } from '../../support/under-faults.ts';

it('survives that both API servers restart while Services come and go', async ({ lab: { begin, clusters } }) => {
  const both = [clusters.remote, clusters.local];
  const scenario = await begin();
  // So that both sides are watched: between two watches, a restart has no effect.
  await scenario.tamper();
  await scenario.change();
  await scenario.settled();
  // A kube-apiserver that is killed may end its watches properly, or answer 429 when it is back.
  const watched = () => Promise.all([scenario.restarts('remote'), scenario.restarts('local')]);
  const [remote, local] = await watched();
  // A restarted server has no history: the last version that the program saw is too old now.
  await Promise.all(both.map((cluster) => useUpVersions(cluster, 1)));
  await scenario.changeDuring(Promise.all(both.map((cluster) => cluster.restart())));
  expect(await scenario.outcome()).toEqual({ gaps: [], errors: [], healthz: 200 });
  const again = await watched();
  expect([again[0] > remote, again[1] > local]).toEqual([true, true]);
});
