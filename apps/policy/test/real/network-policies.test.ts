// Real: the garbage collector deletes what has lost its owner.
import { eventually } from '@kube-semaphore/eventually';
import { globalNetworkSetCrd, startRealCluster } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { it as itOnClusters } from '../support/it-with-network-policies.ts';
import { fromApp } from '../support/user-policies.ts';

/** One real API server as both clusters, with the garbage collector. */
const it = itOnClusters.extend('clusters', { scope: 'file' }, async ({ names }, { onCleanup }) => {
  const server = await startRealCluster({ name: names.local, controllerManager: ['garbage-collector-controller'] });
  onCleanup(() => server.stop());
  await server.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
  return { local: server, remote: server };
});

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const LINE = 'db c2 ingress 5432: 10.4.0.20/32';

describe('a companion, with the garbage collector', () => {
  it('goes with its source while no process runs', async ({ pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const policy = await start();
    await policies.open(LINE);
    await policy.stop();
    await policies.remove('db');
    await policies.open();
  });

  it('stays, or comes back, when its source is created again', async ({ pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    await start();
    await policies.open(LINE);
    await policies.remove('db');
    const { metadata } = await policies.add('db', fromApp('c2', 'web', 5433));
    await policies.open('db c2 ingress 5433: 10.4.0.20/32');
    await eventually(() => policies.owners('uid'), [metadata['uid']]);
  });
});
