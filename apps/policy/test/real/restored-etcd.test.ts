// Real: etcd is restored to an older snapshot.
import { bothSides, realCluster, useUpVersions } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { it } from '../support/under-faults.ts';

/** An API server uses some versions at its start: those that the program knows must be newer than these. */
const VERSIONS = 200;

describe('an etcd that was restored to an older snapshot', () => {
  it.for(bothSides)('is noticed on the $side side, whose watch would be silent', async ({ side }, { lab }) => {
    const cluster = realCluster(lab.clusters[side]);
    const scenario = await lab.begin();
    await scenario.change();
    await scenario.settled();
    const snapshot = await cluster.snapshotEtcd();
    await useUpVersions(cluster, VERSIONS);
    await scenario.change();
    await scenario.settled();
    // After several failures a program lists in any case, so it must not see the restore.
    await lab.proxies[side].set({ kind: 'stall' });
    await cluster.restoreEtcd(snapshot);
    await scenario.served();
    await lab.proxies[side].clear();
    expect(await scenario.outcome()).toEqual({ gaps: [], errors: [], healthz: 200 });
  });
});
