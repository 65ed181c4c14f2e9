import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { Codec, leaseKind, podKind } from '@kube-semaphore/kube-objects';
import { type ScriptedAnswer, startCluster, startScriptedServer } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openClient, signal } from './open-client.ts';

const pods = new Codec(podKind);
const leases = new Codec(leaseKind);
const MIB = 1024 * 1024;

/** A client of a server that gives these answers, the last one again and again. */
async function scripted(...answers: readonly ScriptedAnswer[]) {
  const server = await startScriptedServer(answers, answers.at(-1)!);
  onTestFinished(server.stop);
  return { ...(await openClient(server.kubeconfig)), requests: server.requests };
}

const answer =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): ScriptedAnswer =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

const page = (items: readonly object[] = [], metadata: object = { resourceVersion: '9' }) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata, items });

const pod = (metadata: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', ...metadata } });

const statusOf = (fields: object) => JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', ...fields });

describe('an error status', () => {
  let cluster: TestCluster;
  let proxy: FaultProxy;

  beforeAll(async () => {
    cluster = await startCluster({ name: 'c1' });
    proxy = await startFaultProxy(cluster);
  });

  afterAll(async () => {
    await proxy.stop();
    await cluster.stop();
  });

  it.each([
    { status: 400, reason: 'BadRequest' },
    { status: 401, reason: 'Unauthorized' },
    { status: 403, reason: 'Forbidden' },
    { status: 404, reason: 'NotFound' },
    { status: 409, reason: 'Conflict' },
    { status: 410, reason: 'Expired' },
    { status: 413, reason: '' },
    { status: 422, reason: 'Invalid' },
    { status: 429, reason: 'TooManyRequests' },
    { status: 500, reason: 'InternalError' },
    { status: 503, reason: 'ServiceUnavailable' },
    { status: 504, reason: 'Timeout' },
  ])(
    '$status is an error with that status, its reason and its message, in protobuf as in JSON',
    async ({ status, reason }) => {
      const { client, reports } = await openClient(await proxy.kubeconfig('x'));
      const undo = await proxy.set({ kind: 'answer', status, message: `no: ${status}` });
      onTestFinished(undo);
      const error = { code: 'KUBE_API', status, reason, retryAfterMs: undefined };
      const said = expect.stringContaining(`no: ${status}`);
      await expect(client.list(pods, { signal })).rejects.toMatchObject({ ...error, message: said });
      await expect(client.list(leases, { signal })).rejects.toMatchObject({ ...error, message: said });
      expect(reports.map(({ code }) => code)).toEqual([String(status), String(status)]);
    },
  );

  it.each([429, 503])('%d says how long to stay away', async (status) => {
    const { client } = await openClient(await proxy.kubeconfig('x'));
    onTestFinished(await proxy.set({ kind: 'answer', status, retryAfterSeconds: 7 }));
    const asked = { status, retryAfterMs: 7_000 };
    await expect(client.list(pods, { signal })).rejects.toMatchObject(asked);
    const lease = { metadata: { name: 'a', namespace: 'ns' } };
    await expect(client.create(leases, lease, { signal })).rejects.toMatchObject(asked);
  });
});

describe('Retry-After', () => {
  it.each([
    { header: '1', want: 1_000 },
    { header: '9999999999', want: 3_600_000 },
    { header: '0', want: undefined },
    { header: '-1', want: undefined },
    { header: '0x10', want: undefined },
    { header: 'Wed, 21 Oct 2026 07:28:00 GMT', want: undefined },
  ])('of "$header" means $want ms', async ({ header, want }) => {
    const { client } = await scripted(answer(429, '', { 'retry-after': header }));
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ status: 429, retryAfterMs: want });
  });
});

describe('an error without a Status', () => {
  it.each([
    { name: 'a page of a proxy', body: '<html>upstream connect error</html>' },
    { name: 'nothing', body: '' },
    { name: 'JSON of another kind', body: JSON.stringify({ apiVersion: 'v1', kind: 'Pod' }) },
    { name: 'more than 256 KiB', body: statusOf({ message: 'x'.repeat(256 * 1024) }) },
  ])('is told by its HTTP status if the body is $name', async ({ body }) => {
    const { client } = await scripted(answer(503, body));
    await expect(client.list(pods, { signal })).rejects.toMatchObject({
      code: 'KUBE_API',
      status: 503,
      reason: '',
      message: expect.stringMatching(/^list pods at 127\.0\.0\.1:\d+: HTTP status 503$/),
    });
  });

  it('is told by its HTTP status if the connection fails within the body', async () => {
    const { client } = await scripted((_, response) => {
      response.writeHead(500, { 'content-length': 100 }).write('{');
      setImmediate(() => response.destroy());
    });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ code: 'KUBE_API', status: 500, reason: '' });
  });
});

it.each([301, 302, 303, 307, 308])(
  'with status %i, follows no redirect to another server, whatever it asks for',
  async (status) => {
    let connections = 0;
    const other = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    for (const location of [
      `https://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}/`,
      `//127.0.0.1:${port}/`,
      '/elsewhere',
    ]) {
      const { client, requests } = await scripted(answer(status, '', { location, refresh: `0; url=${location}` }));
      const name = { namespace: 'ns', name: 'a' };
      const asked = [
        () => client.list(pods, { signal }),
        () => client.watch(pods, { signal, timeoutSeconds: 60, idleTimeoutMs: 50_000 }),
        () => client.get(pods, { ...name, signal }),
        () => client.create(leases, { metadata: name }, { signal }),
        () => client.delete(leases, { ...name, uid: 'u', resourceVersion: '1', signal }),
        () => client.getRaw('/version', { signal }),
      ];
      for (const ask of asked) await expect(ask()).rejects.toMatchObject({ status, reason: 'Redirect' });
      expect(requests).toHaveLength(asked.length);
    }
    expect(connections).toBe(0);
  },
);

it('repeats the message of a server printable, and cut', async () => {
  const { client } = await scripted(answer(403, statusOf({ message: `\u001b[2J${'x'.repeat(2_000)}`, reason: '\n' })));
  const error = await client.list(pods, { signal }).catch((caught: unknown) => caught as Error & { reason: string });
  expect(error).toMatchObject({ message: expect.stringContaining('\\u001b[2J'), reason: '\\n' });
  expect((error as Error).message.length).toBeLessThanOrEqual(1_024);
});

describe('an answer that is too large', () => {
  it.each([
    { name: 'a page over 16 MiB', body: page() + ' '.repeat(16 * MIB) },
    // Two bytes each, and 56 in memory.
    { name: 'a page that takes over 32 MiB of memory', body: `{"x":${'['.repeat(MIB)}${']'.repeat(MIB)}}` },
  ])('is refused: $name', async ({ body }) => {
    const { client } = await scripted(answer(200, body));
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ code: 'KUBE_BODY_TOO_LARGE' });
  });

  it('is read up to the limit', async () => {
    const empty = page();
    const { client } = await scripted(answer(200, empty + ' '.repeat(16 * MIB - empty.length)));
    expect(await client.list(pods, { signal })).toMatchObject({ items: [], resourceVersion: '9' });
  });

  it('is refused for one object over 8 MiB', async () => {
    const { client } = await scripted(answer(200, JSON.stringify(pod({})) + ' '.repeat(8 * MIB)));
    await expect(client.get(pods, { namespace: 'ns', name: 'a', signal })).rejects.toMatchObject({
      code: 'KUBE_BODY_TOO_LARGE',
    });
  });

  it('closes the connection before the rest of an endless one arrives', async () => {
    let closed = Promise.resolve();
    const { client } = await scripted((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (): void => void (response.write(' '.repeat(MIB)) ? setImmediate(write) : undefined);
      response.on('drain', write);
      closed = new Promise((resolve) => response.once('close', resolve));
      write();
    });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ code: 'KUBE_BODY_TOO_LARGE' });
    await closed;
  });
});

it('names an object with a field that is too large, and reads its neighbours', async () => {
  const items = [pod({ uid: '1' }), pod({ name: 'large', labels: { a: 'x'.repeat(300_000) } }), pod({ name: 'z' })];
  const { client } = await scripted(answer(200, page(items)));
  const { items: read, tooLarge } = await client.list(pods, { signal });
  expect(read.map(({ metadata }) => metadata.name)).toEqual(['a', 'z']);
  expect(tooLarge).toMatchObject([{ metadata: { name: 'large' }, tooLarge: expect.stringContaining('bytes') }]);
});

describe('an answer that does not match the request', () => {
  it.each([
    { name: 'HTML', body: '<html>', headers: { 'content-type': 'text/html' } },
    { name: 'JSON that was cut', body: page().slice(0, -1) },
    { name: 'a list of another kind', body: page().replace('PodList', 'SecretList') },
    { name: 'a list without a version', body: page([], {}) },
    {
      name: 'bytes that are not protobuf',
      body: 'x',
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    },
  ])('is refused: $name', async ({ body, headers = {} }) => {
    const { client } = await scripted(answer(200, body, headers));
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ code: 'KUBE_DECODE' });
  });
});

describe('a request', () => {
  it('says who sends it, what it accepts and what it holds', async () => {
    const { client, requests } = await scripted(answer(200, page()), answer(200, JSON.stringify(pod({}))));
    await client.list(pods, { namespace: 'ns', labelSelector: 'a=b,c', limit: 5, continue: '', signal });
    await client.get(pods, { namespace: 'ns', name: 'a', signal });
    await client.patch(pods, {}, { namespace: 'ns', name: 'a', signal });
    await client.create(pods, { metadata: { name: 'a', namespace: 'ns' } }, { dryRun: true, signal });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/v1/namespaces/ns/pods?labelSelector=a%3Db%2Cc&limit=5',
      'GET /api/v1/namespaces/ns/pods/a',
      'PATCH /api/v1/namespaces/ns/pods/a',
      'POST /api/v1/namespaces/ns/pods?dryRun=All',
    ]);
    expect(requests.map(({ headers }) => headers)).toMatchObject([
      { accept: 'application/vnd.kubernetes.protobuf, application/json', authorization: 'Bearer x' },
      { accept: 'application/json' },
      { 'content-type': 'application/merge-patch+json', 'content-length': '2' },
      { 'content-type': 'application/json' },
    ]);
    for (const { headers } of requests) expect(headers['user-agent']).toBe('kube-client-test');
  });

  it('for a watch asks for bookmarks, a version or the initial events', async () => {
    const { client, requests } = await scripted((_, response) => void response.writeHead(200).end());
    const options = { timeoutSeconds: 60, idleTimeoutMs: 50_000, signal };
    await client.watch(pods, { ...options, resourceVersion: '7' });
    await client.watch(pods, { ...options, sendInitialEvents: true });
    const query = '/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=60';
    expect(requests.map(({ url }) => url)).toEqual([
      `${query}&resourceVersion=7`,
      `${query}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    ]);
    expect(requests[0]?.headers.accept).toBe('application/vnd.kubernetes.protobuf;stream=watch, application/json');
  });

  it('accepts JSON only where the client is told to', async () => {
    const server = await startScriptedServer([], answer(200, page()));
    onTestFinished(server.stop);
    const { client } = await openClient(server.kubeconfig, { encoding: 'json' });
    await client.list(pods, { signal });
    expect(server.requests[0]?.headers.accept).toBe('application/json');
  });
});
