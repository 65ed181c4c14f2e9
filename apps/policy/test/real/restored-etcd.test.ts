import type { RealCluster, TestCluster } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it, sides } from '../support/under-faults.ts';

/** Files below test/real run on real clusters only. */
function isReal(cluster: TestCluster): cluster is RealCluster {
  return cluster.kind === 'real';
}

/** Uses up versions, of which an API server that starts needs some: those that are known must lie in the future then. */
async function useUpVersions({ admin }: TestCluster): Promise<void> {
  for (let note = 0; note < 200; note += 1) {
    const patch = { metadata: { annotations: { note: String(note) } } };
    await admin.request('PATCH', '/api/v1/namespaces/default', patch);
  }
}

describe('an etcd that was restored to an older snapshot', () => {
  it.for(sides)(
    'is noticed on the $side side, whose watch would be silent',
    async ({ side }, { begin, clusters, viaProxies, proxies, sets }) => {
      const cluster = clusters[side];
      if (!isReal(cluster)) throw new Error('this needs an etcd');
      const trial = await begin(viaProxies);
      await trial.changePods();
      await trial.settled();
      const snapshot = await cluster.snapshotEtcd();
      await useUpVersions(cluster);
      await trial.changePods();
      await trial.settled();
      // After several failures a policy lists in any case: so that there is only one, it sees nothing of the restore.
      await proxies[side].set({ kind: 'stall' });
      await cluster.restoreEtcd(snapshot);
      await sets.served();
      await proxies[side].clear();
      await trial.survived();
    },
  );
});
