// Real: controllers of Kubernetes make slices of Endpoints, and no slices of Services without a selector.
import { startRealCluster } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { startLocal } from '../support/clusters.ts';
import { it as itOnClusters } from '../support/it.ts';
import { MIRRORS } from '../support/mirror-process.ts';

const it = itOnClusters.extend('clusters', { scope: 'file' }, async ({ localOptions }, { onCleanup }) => {
  const controllerManager = ['endpointslice-mirroring-controller'];
  const [local, remote] = await Promise.all([
    startLocal(localOptions),
    startRealCluster({ name: 'c2', controllerManager }),
  ]);
  onCleanup(async () => void (await Promise.all([local.stop(), remote.stop()])));
  await local.admin.create('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: MIRRORS },
  });
  return { local, remote };
});

const path = '/api/v1/namespaces/default/endpoints';
const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ name: 'http', port: 5432 }] }];

it('a Service without a selector is mirrored with its Endpoints, whose labels are their own', async ({
  remote,
  sources,
  mirrors,
  start,
}) => {
  const mirror = 'c2-default-73736d-db';
  await sources.add({ name: 'db', selector: null });
  const labels = { 'cluster-name': 'db', role: 'master' };
  await remote.admin.create(path, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'db', labels },
    subsets: subsets('10.4.0.1'),
  });
  await start();
  await mirrors.become({ [mirror]: ['10.4.0.1'] });
  // A failover, as Patroni makes it.
  const answer = await remote.admin.request('PATCH', `${path}/db`, { subsets: subsets('10.4.0.2') });
  expect(answer.status).toBe(200);
  await mirrors.become({ [mirror]: ['10.4.0.2'] });
});
