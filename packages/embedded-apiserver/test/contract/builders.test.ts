import { createPod, deletePod, endpointSlice, node, pod, service } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer } from './harness.ts';
import { paths } from './objects.ts';

const env = (object: KubeObject) => {
  const { containers } = object['spec'] as { containers: { name: string; env?: object[] }[] };
  return containers.map(({ name, env: variables = [] }) => `${name} ${variables.length}`);
};

onEachServer('a pod that was built', (server) => {
  it('is created with its status, and is deleted at once', async () => {
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

  it('has the requested size, with or without managed fields', async () => {
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

onEachServer('what else was built', (server) => {
  it('is a Service with a slice that both servers accept', async () => {
    const namespace = await server().namespace();
    const { admin } = server().cluster;
    const built = service({
      name: 'web',
      namespace,
      labels: { mirror: 'true' },
      spec: { sessionAffinity: 'ClientIP' },
    });
    const headless = service({
      name: 'db',
      namespace,
      labels: { a: '1' },
      headless: true,
      selector: null,
      annotations: { a: '1' },
    });
    const slices = [
      endpointSlice({
        name: 'web-1',
        namespace,
        service: 'web',
        labels: { mirror: 'true' },
        endpoints: ['198.51.100.1'],
      }),
      endpointSlice({
        name: 'web-2',
        namespace,
        service: 'web',
        endpoints: [{ addresses: ['2001:db8::1'], hostname: 'a' }],
      }),
    ];
    for (const object of [built, headless])
      expect(await admin.create(paths.services(namespace), object)).toMatchObject(object);
    for (const object of slices) expect(await admin.create(paths.slices(namespace), object)).toMatchObject(object);
    expect(slices.map((slice) => slice['addressType'])).toEqual(['IPv4', 'IPv6']);
  });

  it('is a Node, with its status', async () => {
    const built = node({
      name: 'built',
      podCIDRs: ['10.4.0.0/24', 'fd00:4::/64'],
      internalIPs: ['192.0.2.1', '2001:db8::1'],
      zone: 'z1',
      annotations: { 'c1.wireguard.semaphore.uw.io/pubKey': 'x' },
    });
    expect(await server().cluster.admin.create('/api/v1/nodes', built)).toMatchObject(built);
    expect(await server().cluster.admin.create('/api/v1/nodes', node({ name: 'bare' }))).toMatchObject(
      node({ name: 'bare' }),
    );
  });
});
