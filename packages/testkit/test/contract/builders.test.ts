import { expect, it } from 'vitest';
import { createPod, deletePod, type KubeObject, pod } from '../../src/index.ts';
import { onEachServer } from './harness.ts';

const env = (object: KubeObject) => {
  const { containers } = object['spec'] as { containers: { name: string; env?: object[] }[] };
  return containers.map(({ name, env: variables = [] }) => `${name} ${variables.length}`);
};

onEachServer('a pod that was built', (server) => {
  it('is created with its status, and deleted at once', async () => {
    const namespace = await server().namespace();
    const { admin } = server().cluster;
    const options = {
      name: 'web-1',
      namespace,
      labels: { app: 'web' },
      ips: ['192.0.2.1', '2001:db8::1'],
      nodeName: 'n1',
    };
    const built = pod(options);
    const created = await createPod(admin, built);
    expect(created['status']).toEqual(built['status']);
    expect(created).toMatchObject({ metadata: { labels: { app: 'web' } }, spec: { nodeName: 'n1' } });
    await deletePod(admin, created.metadata);
    expect(await admin.list(`/api/v1/namespaces/${namespace}/pods`)).toEqual([]);
  });

  it('is as large as it was asked to be, whoever keeps the managed fields', async () => {
    const namespace = await server().namespace();
    const built = pod({ name: 'web-1', namespace, ips: ['192.0.2.1'], sizeBytes: 15_000 });
    const { kind: _kind, ...created } = await createPod(server().cluster.admin, built);
    expect({ env: env(created as KubeObject), status: created['status'] }).toEqual({
      env: ['app 30', 'sidecar 30'],
      status: built['status'],
    });
    expect(Math.abs(JSON.stringify(created).length - 15_000)).toBeLessThan(2_000);
  });
});
