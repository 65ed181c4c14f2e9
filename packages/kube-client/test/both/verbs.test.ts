// Both: every request of every app is one of these.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestCluster, writeKubeconfig } from '@kube-semaphore/embedded-apiserver';
import { Codec, podKind, serviceKind } from '@kube-semaphore/kube-objects';
import { createPod, pod, startCluster } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KubeClient, RequestReport } from '../../src/index.ts';
import { openClient, signal } from '../open-client.ts';

const pods = new Codec(podKind);
const services = new Codec(serviceKind);

let cluster: TestCluster;
let client: KubeClient;
let reports: RequestReport[];
let namespace: string;
let namespaces = 0;

beforeAll(async () => {
  cluster = await startCluster({ name: 'c1' });
});

afterAll(() => cluster.stop());

beforeEach(async () => {
  ({ client, reports } = await openClient(cluster.adminKubeconfig));
  namespace = `ns-${++namespaces}`;
  await cluster.admin.create('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
});

const create = (name: string, labels: Record<string, string> = {}) =>
  createPod(cluster.admin, pod({ name, namespace, labels, ips: ['10.0.0.1'] }));

const serviceOf = <M extends object>(metadata: M) => ({ metadata, spec: { ports: [{ port: 80 }] } });

const createService = (name: string, labels: Record<string, string> = {}) =>
  client.create(services, serviceOf({ name, namespace, labels }), { signal });

/** As the cluster itself says. */
const storedService = (name: string) => cluster.admin.get(`/api/v1/namespaces/${namespace}/services/${name}`);

describe('list', () => {
  it('returns pages of at most `limit` objects, the last one without a token', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name);
    const names: string[][] = [];
    const versions = new Set<string>();
    let token = '';
    do {
      const page = await client.list(pods, { namespace, limit: 2, continue: token, signal });
      names.push(page.items.map(({ metadata }) => metadata.name));
      versions.add(page.resourceVersion);
      token = page.continue;
    } while (token !== '');
    expect(names).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(versions.size).toBe(1);
  });

  it('selects by label and by field', async () => {
    await create('web', { app: 'web' });
    await create('db', { app: 'db' });
    const byLabel = await client.list(pods, { namespace, labelSelector: 'app in (web)', signal });
    const byField = await client.list(pods, { namespace, fieldSelector: 'metadata.name=db', signal });
    expect([byLabel, byField].map(({ items }) => items.map(({ metadata }) => metadata.name))).toEqual([
      ['web'],
      ['db'],
    ]);
  });

  it('returns the objects of all namespaces without a namespace', async () => {
    await create('here');
    const { items } = await client.list(pods, { signal });
    expect(items.map(({ metadata }) => metadata.namespace)).toContain(namespace);
  });
});

describe('create', () => {
  it('stores the object and returns it as the server completed it', async () => {
    const created = await createService('web', { app: 'web' });
    const { uid, resourceVersion } = (await storedService('web')).metadata;
    expect(created.metadata).toMatchObject({ namespace, uid, resourceVersion, labels: { app: 'web' } });
    expect(created.spec.type).toBe('ClusterIP');
  });

  it('stores nothing in a dry run', async () => {
    const object = serviceOf({ name: 'dry', namespace });
    expect((await client.create(services, object, { dryRun: true, signal })).metadata.name).toBe('dry');
    await expect(client.get(services, { namespace, name: 'dry', signal })).rejects.toMatchObject({ status: 404 });
  });

  it('changes and deletes nothing in a dry run', async () => {
    const { metadata } = await createService('web', { app: 'web' });
    const { uid, resourceVersion } = metadata;
    const [at, dry] = [
      { namespace, name: 'web' },
      { dryRun: true, signal },
    ];
    const labels = { app: 'new' };
    expect(await client.update(services, serviceOf({ ...at, resourceVersion, labels }), dry)).toMatchObject({
      metadata: { labels },
    });
    expect(await client.patch(services, { metadata: { labels } }, { ...at, ...dry })).toMatchObject({
      metadata: { labels },
    });
    await client.patch(services, { status: { loadBalancer: {} } }, { ...at, ...dry, subresource: 'status' });
    await client.delete(services, { ...at, ...dry, uid, resourceVersion });
    expect((await storedService('web')).metadata).toMatchObject({ uid, resourceVersion });
  });

  it('is refused with 409 if the object exists', async () => {
    await createService('web');
    await expect(createService('web')).rejects.toMatchObject({
      code: 'KUBE_API',
      status: 409,
      reason: 'AlreadyExists',
    });
  });

  it('is refused with 422 if the object is not valid', async () => {
    await expect(createService('-web')).rejects.toMatchObject({ code: 'KUBE_API', status: 422, reason: 'Invalid' });
  });
});

describe('update', () => {
  it('replaces the object', async () => {
    const { metadata } = await createService('web', { app: 'web', old: 'x' });
    const { name, resourceVersion } = metadata;
    const object = serviceOf({ name, namespace, resourceVersion, labels: { app: 'new' } });
    const updated = await client.update(services, object, { signal });
    const stored = await storedService('web');
    expect(stored.metadata).toMatchObject({
      labels: { app: 'new' },
      resourceVersion: updated.metadata.resourceVersion,
    });
    expect(stored.metadata.labels).not.toHaveProperty('old');
  });

  it('is refused with 409 if the stored object is newer', async () => {
    const { metadata } = await createService('web');
    const { name, resourceVersion } = metadata;
    await client.patch(services, { metadata: { labels: { a: 'b' } } }, { namespace, name, signal });
    const update = client.update(services, serviceOf({ name, namespace, resourceVersion }), {
      signal,
    });
    await expect(update).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
  });
});

describe('patch', () => {
  it('changes the fields that it names, and removes those that are null', async () => {
    await createService('web', { app: 'web', old: 'x' });
    const patch = { metadata: { labels: { old: null, added: 'y' } } };
    const patched = await client.patch(services, patch, { namespace, name: 'web', signal });
    expect(patched.metadata.labels).toEqual({ app: 'web', added: 'y' });
    expect((await storedService('web')).metadata.labels).toEqual({ app: 'web', added: 'y' });
  });

  it('changes the status only as a subresource', async () => {
    await create('a');
    const at = { namespace, name: 'a', signal };
    const patch = { status: { phase: 'Failed' } };
    expect((await client.patch(pods, patch, at)).status.phase).toBe('Running');
    expect((await client.patch(pods, patch, { ...at, subresource: 'status' })).status.phase).toBe('Failed');
  });

  it('is refused with 404 if the object does not exist', async () => {
    const patch = client.patch(services, { metadata: { labels: {} } }, { namespace, name: 'missing', signal });
    await expect(patch).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
  });
});

describe('delete', () => {
  it('deletes the object that was seen', async () => {
    const { metadata } = await createService('web');
    const { name, uid, resourceVersion } = metadata;
    await client.delete(services, { namespace, name, uid, resourceVersion, signal });
    await expect(client.get(services, { namespace, name, signal })).rejects.toMatchObject({ status: 404 });
  });

  it.each([{ other: 'uid' }, { other: 'resourceVersion' }] as const)(
    'is refused with 409 if the stored object has another $other',
    async ({ other }) => {
      const { metadata } = await createService('web');
      const { name, uid, resourceVersion } = metadata;
      const seen = { uid, resourceVersion, [other]: other === 'uid' ? 'another' : '1' };
      await expect(client.delete(services, { namespace, name, ...seen, signal })).rejects.toMatchObject({
        status: 409,
      });
      expect((await storedService('web')).metadata.uid).toBe(uid);
    },
  );
});

describe('get', () => {
  it('returns one object', async () => {
    await create('a', { app: 'web' });
    expect(await client.get(pods, { namespace, name: 'a', signal })).toMatchObject({
      metadata: { name: 'a', namespace, labels: { app: 'web' } },
      status: { podIPs: [{ ip: '10.0.0.1' }] },
    });
  });

  it('is refused with 404 if there is no such object', async () => {
    await expect(client.get(pods, { namespace, name: 'a', signal })).rejects.toMatchObject({
      status: 404,
      reason: 'NotFound',
      message: expect.stringContaining('get pods at 127.0.0.1'),
    });
  });

  it('keeps to one object, whatever characters the name has', async () => {
    await create('a');
    const name = 'a/../../pods';
    await expect(client.get(pods, { namespace, name, signal })).rejects.toMatchObject({ code: 'KUBE_API' });
  });
});

it('getRaw returns the JSON of a path that is not a resource', async () => {
  expect(await client.getRaw('/apis', { signal })).toMatchObject({ kind: 'APIGroupList' });
});

describe('an account', () => {
  it('with a wrong token is refused with 401', async () => {
    const { name, url, caFile, dir } = cluster;
    const caPem = await readFile(caFile, 'utf8');
    const credentials = { token: 'wrong' };
    const kubeconfig = await writeKubeconfig(join(dir, 'stranger'), { name, url, caPem, credentials });
    const { client: stranger } = await openClient(kubeconfig);
    await expect(stranger.list(pods, { signal })).rejects.toMatchObject({ status: 401, reason: 'Unauthorized' });
  });

  it('without the right is refused with 403', async () => {
    const account = await cluster.account('services-only', [
      { apiGroups: [''], resources: ['services'], verbs: ['list'] },
    ]);
    const { client: limited } = await openClient(account.kubeconfig);
    await expect(limited.list(pods, { signal })).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
    await expect(limited.watch(pods, { timeoutSeconds: 60, idleTimeoutMs: 50_000, signal })).rejects.toMatchObject({
      status: 403,
    });
    expect((await limited.list(services, { signal })).resourceVersion).not.toBe('');
  });
});

it('reports each request with its verb, method, resource and code', async () => {
  const { metadata } = await createService('web');
  const { name, uid, resourceVersion } = metadata;
  const at = { namespace, name };
  await client.get(services, { ...at, signal });
  await client.list(services, { namespace, signal });
  await client.update(services, serviceOf({ name, namespace, resourceVersion }), { signal });
  await client.patch(services, { metadata: { labels: { a: 'b' } } }, { ...at, signal });
  await expect(client.delete(services, { ...at, uid: 'another', resourceVersion, signal })).rejects.toMatchObject({
    status: 409,
  });
  const { resourceVersion: newest } = await client.get(services, { ...at, signal }).then((found) => found.metadata);
  await client.delete(services, { ...at, uid, resourceVersion: newest, signal });
  const stream = await client.watch(services, { namespace, timeoutSeconds: 1, idleTimeoutMs: 50_000, signal });
  for await (const _batch of stream) break;
  expect(reports.map(({ verb, method, code }) => `${verb} ${method} ${code}`)).toEqual([
    'create POST 201',
    'get GET 200',
    'list GET 200',
    'update PUT 200',
    'patch PATCH 200',
    'delete DELETE 409',
    'get GET 200',
    'delete DELETE 200',
    'watch GET 200',
  ]);
  const { host } = new URL(cluster.url);
  for (const { resource, host: reported, seconds } of reports) {
    expect({ resource, reported }).toEqual({ resource: 'services', reported: host });
    expect(seconds).toBeGreaterThan(0);
  }
});
