import { startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { pod } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { connectTo, LONG_TIMEOUTS, reflectPods } from './reflect-pods.ts';

const pods = (count: number) =>
  Array.from({ length: count }, (_, i) => pod({ name: `p${i}`, ips: [`10.0.${i >> 8}.${i & 255}`] }));

it('lists by pages from a server that never ends the initial events, and remembers that for an hour', async () => {
  const cluster = await startEmbeddedCluster({ name: 'c2', ignoreSendInitialEvents: true });
  cluster.seed(pods(1_200));
  const connection = await connectTo(cluster.adminKubeconfig);
  let later = 0;
  const reflected = reflectPods(connection, {
    ...LONG_TIMEOUTS,
    initialEventsIdleMs: 300,
    now: () => performance.now() + later,
  });
  try {
    await eventually(() => reflected.store.view.synced, true);
    expect(reflected.store.size).toBe(1_200);
    expect(reflected.requests.slice(0, 4)).toEqual(['watch', 'list', 'list', 'list']);
    cluster.clearRequests();
    reflected.reflector.relist();
    await eventually(() => cluster.requests().filter(({ query }) => query.includes('limit=500')).length >= 3, true);
    const watchLists = () => cluster.requests().filter(({ query }) => query.includes('sendInitialEvents')).length;
    expect(watchLists()).toBe(0);
    later = 3_600_000;
    reflected.reflector.relist();
    await eventually(() => watchLists() === 1, true);
  } finally {
    await reflected.stop();
    connection.close();
    await cluster.stop();
  }
});
