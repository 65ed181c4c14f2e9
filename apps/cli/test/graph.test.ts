import { expect, it } from 'vitest';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { run, runHere } from './support/run.ts';

const mirror = {
  metadata: { namespace: 'sys-semaphore', name: 'c2-a', annotations: { 'mirror-svc-source': 'c2/shop/a' } },
};
const objects = {
  '/api/v1/services?mirrored-svc=true': {
    apiVersion: 'v1',
    kind: 'ServiceList',
    metadata: { resourceVersion: '1' },
    items: [mirror],
  },
  '/apis': { groups: [{ name: 'multicluster.x-k8s.io' }] },
  '/apis/multicluster.x-k8s.io/v1beta1/serviceimports?app.kubernetes.io/managed-by=semaphore-service-mirror': {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImportList',
    metadata: { resourceVersion: '1' },
    items: [{ metadata: { namespace: 'shop', name: 'b' }, status: { clusters: [{ cluster: 'c2' }] } }],
  },
};

it('graph draws what can be read, and names what can not', async () => {
  const agent = { app: 'semaphore-wireguard', name: 'agent', status: 503 };
  const kubeconfig = await kubeconfigOf({ c1: await startApiServer({ pods: [agent], objects }) }, 'c1');
  const { code, stdout, stderr } = await run('graph', '--kubeconfig', kubeconfig, '-o', 'json');
  expect([code, stderr]).toEqual([1, "semaphore: Pods don't report their status: in c1 (wireguard): it is away\n"]);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: '1',
    clusters: [
      { name: 'c1', nodes: ['n1'] },
      { name: 'c2', nodes: [] },
    ],
    tunnels: [],
    services: [
      { cluster: 'c1', kind: 'import', service: 'shop/b', sources: ['c2'] },
      { cluster: 'c1', kind: 'mirror', service: 'shop/a', sources: ['c2'] },
    ],
  });
});

it.each(['svg', 'mermaid', 'dot', 'json', 'yaml'])(
  'graph -o %s draws nothing without an app, with the sentence and the code of status',
  async (format) => {
    const words = ['--kubeconfig', await kubeconfigOf({ c1: await startApiServer({ pods: [] }) }, 'c1')];
    const { code, stdout } = await runHere({}, 'status', ...words);
    expect(await runHere({}, 'graph', '-o', format, ...words)).toEqual({
      code,
      stdout: '',
      stderr: stdout.replace('✗', 'semaphore:'),
    });
  },
);
