import { eventually } from '@kube-semaphore/eventually';
import { globalNetworkSetCrd, type Labeller, startCluster, startLabelledCluster } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { it as itOnClusters } from './support/it.ts';
import { viewOf } from './support/sets.ts';

const it = itOnClusters
  .extend('labelled', { scope: 'file' }, ({ names }) =>
    startLabelledCluster({ name: names.local, kinds: ['GlobalNetworkSet'] }),
  )
  .extend('clusters', { scope: 'file' }, async ({ names, labelled }, { onCleanup }) => {
    const [local, remote] = [labelled.cluster, await startCluster({ name: names.remote })];
    onCleanup(async () => void (await Promise.all([local.stop(), remote.stop()])));
    await local.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    return { local, remote };
  });

const CHANGES = 10;

describe.each<{ by: Labeller }>([{ by: 'controller' }, { by: 'webhook' }])('labels by a $by', ({ by }) => {
  it('stay, and cause no write besides one for each change', async ({ labelled, pods, sets, start }) => {
    labelled.labelBy(by);
    const policy = await start();
    const name = 'c2-default-app';
    await pods.add({ name: 'p0', app: 'app', ips: ['10.4.0.1'] });
    await eventually(async () => (await sets.list()).length === 1 && labelled.isLabelled(await sets.get(name)), true);
    for (let n = 1; n <= CHANGES; n++) {
      await pods.add({ name: `p${n}`, app: 'app', ips: [`10.4.1.${n}`] });
      await eventually(async () => viewOf(await sets.get(name)).nets.length, n + 1);
    }
    expect((await policy.metric('semaphore_policy_repairs_total', { remote: 'c2' })) ?? 0).toBe(0);
    const written = policy.log().filter(({ msg }) => /^set (created|updated)$/.test(msg));
    expect(written).toHaveLength(1 + CHANGES);
    expect(labelled.isLabelled(await sets.get(name))).toBe(true);
    labelled.labelBy('none');
  });
});
