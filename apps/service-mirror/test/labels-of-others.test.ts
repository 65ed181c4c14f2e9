import { eventually } from '@kube-semaphore/eventually';
import { type Labeller, startCluster, startLabelledCluster } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { it as itOnClusters } from './support/it.ts';
import { MIRRORS } from './support/mirror-process.ts';

const it = itOnClusters
  .extend('labelled', { scope: 'file' }, () =>
    startLabelledCluster({ name: 'c1', kinds: ['Service', 'EndpointSlice'] }),
  )
  .extend('clusters', { scope: 'file' }, async ({ labelled }, { onCleanup }) => {
    const [local, remote] = [labelled.cluster, await startCluster({ name: 'c2' })];
    onCleanup(async () => void (await Promise.all([local.stop(), remote.stop()])));
    await local.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: MIRRORS },
    });
    return { local, remote };
  });

const web = { name: 'web', namespace: 'default' };
const mirror = 'c2-default-73736d-web';
const CHANGES = 10;

describe.each<{ by: Labeller }>([{ by: 'controller' }, { by: 'webhook' }])('labels by a $by', ({ by }) => {
  it('stay, and cause no write besides one for each change', async ({ labelled, sources, mirrors, start }) => {
    labelled.labelBy(by);
    const program = await start({ 'min-write-interval': '0s' });
    const isLabelled = async () => {
      const objects = [await mirrors.service(mirror), ...(await mirrors.slices(mirror))];
      return objects.length === 2 && objects.every((object) => labelled.isLabelled(object as never));
    };
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await eventually(isLabelled, true);
    for (let n = 1; n <= CHANGES; n++) {
      const endpoints = [{ addresses: [`10.4.1.${n}`], conditions: { ready: true } }];
      await sources.patch('endpointslices', { name: 'web-a' }, { endpoints });
      await mirrors.become({ [mirror]: [`10.4.1.${n}`] });
    }
    expect((await program.metric('semaphore_service_mirror_repairs_total', { remote: 'c2' })) ?? 0).toBe(0);
    const written = program.log().filter(({ msg }) => /^(service|slice) (created|updated)$/.test(msg));
    expect(written).toHaveLength(2 + CHANGES);
    expect(await isLabelled()).toBe(true);
    labelled.labelBy('none');
  });
});
