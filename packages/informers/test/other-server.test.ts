import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedCluster, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { createPod, pod } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectTo, LONG_TIMEOUTS, reflectPods } from './reflect-pods.ts';

let first: EmbeddedCluster;
let second: EmbeddedCluster;
let dir: string;

beforeAll(async () => {
  [first, second] = await Promise.all([startEmbeddedCluster({ name: 'c2' }), startEmbeddedCluster({ name: 'c2' })]);
  dir = await mkdtemp(join(tmpdir(), 'other-server-'));
  await createPod(first.admin, pod({ name: 'stays', ips: ['10.0.0.1'] }));
  await createPod(first.admin, pod({ name: 'goes', ips: ['10.0.0.2'] }));
  await createPod(second.admin, pod({ name: 'stays', ips: ['10.0.0.3'] }));
});
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await rm(dir, { recursive: true });
});

it.each(['auto', 'never'] as const)(
  'lists another server, whatever the versions, with WatchList: %s',
  async (watchList) => {
    const path = join(dir, 'kubeconfig');
    await copyFile(first.adminKubeconfig, path);
    const connection = await connectTo(path);
    const { addresses, restarts, stop } = reflectPods(connection, { ...LONG_TIMEOUTS, watchList });
    await eventually(addresses, { 'default/goes': ['10.0.0.2'], 'default/stays': ['10.0.0.1'] });
    second.clearRequests();
    await copyFile(second.adminKubeconfig, path);
    await eventually(
      async () => {
        await connection.isStale?.();
        return addresses();
      },
      { 'default/stays': ['10.0.0.3'] },
    );
    await createPod(second.admin, pod({ name: 'comes', ips: ['10.0.0.4'] }));
    await eventually(addresses, { 'default/comes': ['10.0.0.4'], 'default/stays': ['10.0.0.3'] });
    await stop();
    connection.close();
    const [began] = second.requests().filter(({ path: target }) => target.includes('/pods'));
    expect(began?.path).not.toMatch(/[?&]resourceVersion=/);
    expect(restarts).toEqual([]);
    await second.admin.delete('/api/v1/namespaces/default/pods/comes');
  },
);
