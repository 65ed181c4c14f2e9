// Real: etcd is restored to an older snapshot.
import { eventually } from '@kube-semaphore/eventually';
import { createPod, pod, startRealCluster } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { connectTo, reflectPods } from '../reflect-pods.ts';

it('lists again after etcd was restored to an older snapshot, where a watch from the future would hang', async () => {
  const cluster = await startRealCluster({ name: 'c2' });
  const connection = await connectTo(cluster.adminKubeconfig);
  await createPod(cluster.admin, pod({ name: 'old', ips: ['10.0.0.1'] }));
  const snapshot = await cluster.snapshotEtcd();
  for (let i = 0; i < 20; i++) await createPod(cluster.admin, pod({ name: `new-${i}`, ips: ['10.0.0.2'] }));
  const reflected = reflectPods(connection, { idleTimeoutMs: 90_000 });
  try {
    await eventually(() => reflected.store.size === 21, true);
    await cluster.restoreEtcd(snapshot);
    await eventually(() => reflected.store.size === 1, true);
    expect(reflected.addresses()).toEqual({ 'default/old': ['10.0.0.1'] });
  } finally {
    await reflected.stop();
    connection.close();
    await cluster.stop();
  }
});
