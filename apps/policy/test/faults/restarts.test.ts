import { eventually } from '@kube-semaphore/eventually';
import { useUpVersions } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { it } from '../support/under-faults.ts';

describe('an API server that restarts while pods come and go', () => {
  it.for([
    { name: 'the remote one', restarted: ['remote'] },
    { name: 'the local one', restarted: ['local'] },
    { name: 'both at once', restarted: ['remote', 'local'] },
  ] as const)('costs only time: $name, twice', async ({ restarted }, { lab: { begin, clusters, direct } }) => {
    const scenario = await begin({ kubeconfigs: direct });
    // A kube-apiserver that is killed may end its watches properly, or answer 429 when it is back.
    const watchRestarts = () => Promise.all(restarted.map((side) => scenario.restarts(side)));
    for (let count = 1; count <= 2; count += 1) {
      // So that both sides are watched: between two watches, a restart has no effect.
      await scenario.tamper();
      await scenario.change();
      await scenario.settled();
      const before = await watchRestarts();
      // A restarted server has no history: the last version that the program saw is too old now.
      await Promise.all(restarted.map((side) => useUpVersions(clusters[side], 1)));
      await scenario.changeDuring(Promise.all(restarted.map((side) => clusters[side].restart())));
      await scenario.served();
      await scenario.settled();
      await eventually(async () => (await watchRestarts()).every((times, index) => times > before[index]!), true);
      await scenario.bothUp();
    }
    expect(await scenario.outcome()).toEqual({ gaps: [], errors: [], healthz: 200 });
  });
});
