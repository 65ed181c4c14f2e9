// Real: this is the real cluster of all other tests.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writeKubeconfig } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { globalNetworkSetCrd, type RealCluster, startRealCluster } from '../../src/index.ts';
import { remainsOf } from '../remains.ts';

const owner = fileURLToPath(new URL('./owner.ts', import.meta.url));

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const configMaps = '/api/v1/namespaces/default/configmaps';

describe('a running cluster', () => {
  let cluster: RealCluster;
  beforeAll(async () => {
    cluster = await startRealCluster({ name: 'c1', audit: true, controllerManager: true });
  });
  afterAll(() => cluster.stop());

  it('is the version that it was built from', async () => {
    const { body } = await cluster.admin.request('GET', '/version');
    expect(body).toMatchObject({ gitVersion: expect.stringMatching(/^v1\.\d+\.\d+$/) as string, major: '1' });
  });

  it('creates objects and answers as the API does', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    await cluster.admin.create('/api/v1/namespaces', namespace);
    expect(await cluster.admin.get('/api/v1/namespaces/shop')).toMatchObject(namespace);
    await expect(cluster.admin.create('/api/v1/namespaces', namespace)).rejects.toThrow(
      '409 namespaces "shop" already',
    );
    await cluster.admin.delete('/api/v1/namespaces/shop');
    await cluster.admin.delete('/api/v1/namespaces/no-such');
  });

  it('gives an account what its rules say and no more', async () => {
    const { token, tokenFile, kubeconfig } = await cluster.account('reader', [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    ]);
    const reader = cluster.clientFor(token);
    expect((await reader.request('GET', '/api/v1/pods')).status).toBe(200);
    expect((await reader.request('GET', '/api/v1/secrets')).status).toBe(403);
    expect((await reader.request('GET', '/api')).status).toBe(200);
    for (const file of [tokenFile, kubeconfig]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('refuses tokens that it did not give out', async () => {
    expect((await cluster.clientFor('nonsense').request('GET', '/api/v1/pods')).status).toBe(401);
  });

  it('knows the holder of a client certificate', async () => {
    const certificate = await cluster.issueClientCertificate('ada', ['ops']);
    const review = await cluster.clientWith(certificate).create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    });
    expect(review['status']).toMatchObject({ userInfo: { username: 'ada', groups: ['ops', 'system:authenticated'] } });
  });

  it('serves a resource as soon as it is defined', async () => {
    const set = (group: string, nets: string[]) => ({
      apiVersion: group,
      kind: 'GlobalNetworkSet',
      metadata: { name: 'one' },
      spec: { nets },
    });
    await cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    await cluster.defineResource(globalNetworkSetCrd('projectcalico.org'));
    const [v1, v3] = ['crd.projectcalico.org/v1', 'projectcalico.org/v3'] as const;
    const twice = ['10.0.0.1/32', '10.0.0.1/32'];
    await cluster.admin.create(`/apis/${v1}/globalnetworksets`, set(v1, twice));
    await expect(cluster.admin.create(`/apis/${v3}/globalnetworksets`, set(v3, twice))).rejects.toThrow('Duplicate');
    await cluster.admin.create(`/apis/${v3}/globalnetworksets`, set(v3, ['10.0.0.1/32']));
  });

  it('fills the EndpointSlices of a Service', async () => {
    const api = '/api/v1/namespaces/default';
    await cluster.admin.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    await cluster.admin.create(`${api}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    await cluster.admin.create(`${api}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-1', labels: { app: 'web' } },
      spec: { nodeName: 'n1', containers: [{ name: 'web', image: 'web' }] },
    });
    const status = {
      phase: 'Running',
      podIP: '10.4.0.1',
      podIPs: [{ ip: '10.4.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await cluster.admin.request('PATCH', `${api}/pods/web-1/status`, { status });
    const slices =
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=web';
    const addresses = await eventually(async () => {
      const [slice] = await cluster.admin.list(slices);
      return (slice?.['endpoints'] as { addresses: string[] }[] | undefined)?.[0]?.addresses;
    }, isDefined);
    expect(addresses).toEqual(['10.4.0.1']);
  });

  it('records who asked for what', async () => {
    await cluster.admin.create(configMaps, configMap('audited'));
    const created = async () =>
      (await cluster.auditLog()).find(({ requestURI, verb }) => requestURI === configMaps && verb === 'create');
    const event = await eventually(created, isDefined);
    expect(event).toMatchObject({ verb: 'create', user: { username: 'admin' }, responseStatus: { code: 201 } });
  });

  it.each([
    { name: 'a token', user: 'admin', kubeconfig: () => Promise.resolve(cluster.adminKubeconfig) },
    { name: 'a client certificate', user: 'ada', kubeconfig: () => kubeconfigOf('ada') },
  ])('lets kubectl in with $name', async ({ user, kubeconfig }) => {
    const args = ['--kubeconfig', await kubeconfig(), 'auth', 'whoami', '--output=json'];
    const { stdout } = await promisify(execFile)(cluster.kubectl, args);
    expect(JSON.parse(stdout)).toMatchObject({ status: { userInfo: { username: user } } });
  });

  async function kubeconfigOf(user: string): Promise<string> {
    return writeKubeconfig(`${cluster.dir}/${user}.kubeconfig`, {
      name: cluster.name,
      url: cluster.url,
      caPem: await readFile(cluster.caFile, 'utf8'),
      credentials: { certificate: await cluster.issueClientCertificate(user) },
    });
  }
});

describe('a cluster that is disturbed', () => {
  let cluster: RealCluster;
  beforeAll(async () => {
    cluster = await startRealCluster({ name: 'c2' });
  });
  afterAll(() => cluster.stop());

  it('has the same address, objects and tokens after a restart', async () => {
    const { url } = cluster;
    const before = await cluster.admin.create(configMaps, configMap('kept'));
    const { token } = await cluster.account('before', [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]);
    await cluster.restart();
    expect(cluster.url).toBe(url);
    expect((await cluster.admin.get(`${configMaps}/kept`)).metadata).toEqual(before.metadata);
    expect((await cluster.clientFor(token).request('GET', '/api/v1/pods')).status).toBe(200);
  });

  it('keeps its objects when etcd is restarted', async () => {
    const before = await cluster.admin.create(configMaps, configMap('etcd'));
    await cluster.restartEtcd();
    expect((await cluster.admin.get(`${configMaps}/etcd`)).metadata).toEqual(before.metadata);
  });

  it('forgets what came after a snapshot when that is restored', async () => {
    await cluster.admin.create(configMaps, configMap('old'));
    const snapshot = await cluster.snapshotEtcd();
    const names = Array.from({ length: 100 }, (_, index) => `new-${index}`);
    const created = await Promise.all(names.map((name) => cluster.admin.create(configMaps, configMap(name))));
    await cluster.restoreEtcd(snapshot);
    expect((await cluster.admin.request('GET', `${configMaps}/old`)).status).toBe(200);
    expect((await cluster.admin.request('GET', `${configMaps}/new-0`)).status).toBe(404);
    const { body } = await cluster.admin.request('GET', configMaps);
    const newest = Math.max(...created.map(({ metadata }) => Number(metadata.resourceVersion)));
    expect(Number(body.metadata.resourceVersion)).toBeLessThan(newest);
  });
});

describe('the end of a cluster', () => {
  // etcd, kube-apiserver and their folder
  const parts = 3;

  it('leaves nothing after stop, which may be called twice', async () => {
    const cluster = await startRealCluster({ name: 'c3' });
    expect(await remainsOf(cluster.dir)).toHaveLength(parts);
    await cluster.stop();
    await cluster.stop();
    expect(await remainsOf(cluster.dir)).toEqual([]);
    await expect(cluster.admin.get('/api')).rejects.toThrow('ECONNREFUSED');
  });

  it('leaves nothing when the process that started it is killed', async () => {
    const child = fork(owner, { execPath: process.execPath, execArgv: [] });
    const [dir] = (await once(child, 'message')) as [string];
    expect(await remainsOf(dir)).toHaveLength(parts);
    child.kill('SIGKILL');
    await eventually(() => remainsOf(dir), []);
  });

  it('leaves nothing of a start that fails, and quotes the log', async () => {
    const start = startRealCluster({ name: 'c4', apiserverFlags: { 'no-such-flag': 'x' } });
    await expect(start).rejects.toThrow(/kube-apiserver: exit code 1\n[^]*unknown flag: --no-such-flag/);
  });
});
