import { getEventListeners, once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Authorization, Connection } from '@kube-semaphore/cluster-auth';
import { type EmbeddedCluster, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { Codec, podKind } from '@kube-semaphore/kube-objects';
import { type ScriptedAnswer, startScriptedServer } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { KubeClient } from '../src/index.ts';
import { openClient, signal } from './open-client.ts';

const pods = new Codec(podKind);
const newPod = { metadata: { name: 'a', namespace: 'default' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const emptyPage = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '9' }, items: [] });

async function scripted(answers: readonly ScriptedAnswer[], then: ScriptedAnswer, idleTimeoutMs = 50_000) {
  const server = await startScriptedServer(answers, then);
  onTestFinished(server.stop);
  return { ...(await openClient(server.kubeconfig, { idleTimeoutMs })), requests: server.requests };
}

const ok: ScriptedAnswer = (_, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(emptyPage);
const refused: ScriptedAnswer = (_, response) => void response.writeHead(401).end();
const hangUp: ScriptedAnswer = (request) => void request.socket.destroy();
const silence: ScriptedAnswer = () => {};
const halfBody: ScriptedAnswer = (_, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).write(emptyPage.slice(0, 9));

let cluster: EmbeddedCluster;
/** Of an account that is refused everything (403). */
let token: string;
let proxy: FaultProxy;

beforeAll(async () => {
  cluster = await startEmbeddedCluster({ name: 'c1' });
  ({ token } = await cluster.account('nobody', []));
});

afterAll(() => cluster.stop());

beforeEach(async () => {
  proxy = await startFaultProxy(cluster);
});

afterEach(() => proxy.stop());

describe('a request fails', () => {
  it('with KUBE_CONNECTION if the port is closed', async () => {
    const { client, reports } = await openClient(await proxy.kubeconfig('x'));
    await proxy.set({ kind: 'refuse' });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({
      code: 'KUBE_CONNECTION',
      message: expect.stringContaining(new URL(proxy.url).host),
      cause: { code: 'ECONNREFUSED' },
    });
    expect(reports).toMatchObject([{ verb: 'list', code: '' }]);
  });

  it('with KUBE_CONNECTION if the certificate is signed by another CA', async () => {
    const { connection } = await openClient(cluster.adminKubeconfig);
    const server = new URL(proxy.url);
    const client = new KubeClient({ connection: bound(connection, server), userAgent: 'test' });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({
      code: 'KUBE_CONNECTION',
      message: expect.stringContaining('its certificate is not signed by'),
    });
  });

  it('with KUBE_CONNECTION if the connection ends before the answer', async () => {
    const { client, requests } = await scripted([], hangUp);
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ code: 'KUBE_CONNECTION' });
    expect(requests).toHaveLength(1);
  });

  it('with KUBE_CONNECTION if the connection ends within the body', async () => {
    const { client } = await scripted([], (request, response) => {
      halfBody(request, response);
      setImmediate(() => response.destroy());
    });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ code: 'KUBE_CONNECTION' });
  });

  it.each([
    { name: 'the server is silent', answer: silence },
    { name: 'the body stops', answer: halfBody },
  ])('with KUBE_IDLE if $name', async ({ answer }) => {
    const { client, connection } = await scripted([], answer, 300);
    await expect(client.list(pods, { signal })).rejects.toMatchObject({
      code: 'KUBE_IDLE',
      message: `${connection.server.host} sent nothing for 300 ms`,
    });
  });

  it('with KUBE_CONNECTION if the TLS handshake gets no answer: that has its own timeout', async () => {
    const { client } = await openClient(await proxy.kubeconfig('x'), { idleTimeoutMs: 300 });
    await proxy.set({ kind: 'stall' });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({
      code: 'KUBE_CONNECTION',
      message: expect.stringContaining('no answer to the TLS handshake within 10 s'),
    });
  });
});

describe('a kept-alive connection that the server closed', () => {
  it('is replaced by a new one', async () => {
    const { client, requests } = await scripted([ok, hangUp], ok);
    await client.list(pods, { signal });
    expect(await client.list(pods, { signal })).toMatchObject({ resourceVersion: '9' });
    expect(requests).toHaveLength(3);
  });

  it('is replaced only once', async () => {
    const { client, requests } = await scripted([ok, hangUp], hangUp);
    await client.list(pods, { signal });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ code: 'KUBE_CONNECTION' });
    expect(requests).toHaveLength(3);
  });
});

it('replaces a kept-alive connection that is half open, on which a write fails with KUBE_IDLE', async () => {
  const { client, connection } = await openClient(await proxy.kubeconfig(token));
  // It shares the connections of `client`.
  const hasty = new KubeClient({ connection, userAgent: 'test', idleTimeoutMs: 300 });
  await expect(client.list(pods, { signal })).rejects.toMatchObject({ status: 403 });
  const { agent } = await connection.authorize({ signal });
  const kept = () => Object.values(agent.freeSockets).flat();
  await eventually(() => kept().length, 1);
  const [socket] = kept();
  await proxy.set({ kind: 'stall' });
  await expect(hasty.create(pods, newPod, { signal })).rejects.toMatchObject({ code: 'KUBE_IDLE' });
  expect(socket?.destroyed).toBe(true);
  await proxy.clear();
  await expect(client.create(pods, newPod, { signal })).rejects.toMatchObject({ status: 403 });
});

it('gives a watch all of its time for the head of the answer, however long a plugin takes before', async () => {
  const { connection } = await openClient(await proxy.kubeconfig(token));
  const authorize: Connection['authorize'] = async (options) => {
    await delay(3_500, undefined, options);
    return connection.authorize(options);
  };
  const client = new KubeClient({ connection: { ...bound(connection), authorize }, userAgent: 'test' });
  const watching = client.watch(pods, { signal, timeoutSeconds: 60, idleTimeoutMs: 3_000 });
  await expect(watching).rejects.toMatchObject({ status: 403 });
});

/** The methods of a connection, to override some. */
function bound(connection: Connection, server = connection.server): Connection {
  return {
    server,
    authorize: async (options) => ({ ...(await connection.authorize(options)), server }),
    unauthorized: (used, options) => connection.unauthorized(used, options),
    connectionFailed: (error, used, options) => connection.connectionFailed(error, used, options),
    close: () => connection.close(),
  };
}

describe('credentials that rotate', () => {
  /** A connection whose token is `old` until it is refused. */
  async function rotating(answers: readonly ScriptedAnswer[], then: ScriptedAnswer, { rotates }: { rotates: boolean }) {
    const { connection, requests } = await scripted(answers, then);
    let token = 'old';
    const client = new KubeClient({
      connection: {
        ...bound(connection),
        authorize: async (options): Promise<Authorization> => ({
          ...(await connection.authorize(options)),
          headers: { authorization: `Bearer ${token}` },
        }),
        unauthorized: async () => ((token = 'new'), rotates),
      },
      userAgent: 'test',
    });
    return { client, sent: () => requests.map(({ headers }) => headers.authorization) };
  }

  it('are sent again after a 401', async () => {
    const { client, sent } = await rotating([refused], ok, { rotates: true });
    expect(await client.list(pods, { signal })).toMatchObject({ resourceVersion: '9' });
    expect(sent()).toEqual(['Bearer old', 'Bearer new']);
  });

  it('are sent again only once', async () => {
    const { client, sent } = await rotating([], refused, { rotates: true });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ status: 401 });
    expect(sent()).toHaveLength(2);
  });

  it('are not sent again if nothing changed', async () => {
    const { client, sent } = await rotating([], refused, { rotates: false });
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ status: 401 });
    expect(sent()).toHaveLength(1);
  });

  it('are read from their file again after they expired', async () => {
    const { tokenFile } = await cluster.account('expires', []);
    const { token: next } = await cluster.account('next', []);
    const { client } = await openClient(await proxy.kubeconfig({ tokenFile }));
    const status = () => client.list(pods, { signal }).catch((error: { status?: number }) => error.status);
    expect(await status()).toBe(403);
    await cluster.admin.delete('/api/v1/namespaces/kube-system/serviceaccounts/expires');
    expect(await status()).toBe(401);
    await writeFile(tokenFile, next);
    await eventually(status, 403);
  });

  it('include a CA: the request is sent again where it verifies the server', async () => {
    const { connection: toCluster } = await openClient(cluster.adminKubeconfig);
    const { connection: toProxy } = await openClient(await proxy.kubeconfig(token));
    let trusted = toCluster;
    const connection: Connection = {
      ...bound(toProxy),
      authorize: (options) => bound(trusted, toProxy.server).authorize(options),
      connectionFailed: async () => ((trusted = toProxy), true),
    };
    const client = new KubeClient({ connection, userAgent: 'test' });
    // This is the API server's answer, so the proxy's certificate was accepted.
    await expect(client.list(pods, { signal })).rejects.toMatchObject({ status: 403 });
  });
});

describe('beforeSend', () => {
  it('stops a write by what it throws, before anything is sent', async () => {
    const { client } = await openClient(cluster.adminKubeconfig);
    cluster.clearRequests();
    const stop = new Error('another replica leads');
    const create = client.create(pods, newPod, {
      signal,
      beforeSend: () => {
        throw stop;
      },
    });
    await expect(create).rejects.toBe(stop);
    expect(cluster.requests()).toEqual([]);
  });

  it('is called once the connection stands', async () => {
    const { client } = await openClient(await proxy.kubeconfig(token));
    const undo = await proxy.set({ kind: 'stall' });
    let isCalled = false;
    const create = client.create(pods, newPod, { signal, beforeSend: () => void (isCalled = true) });
    const settled = create.catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isCalled).toBe(false);
    await undo();
    expect(await settled).toMatchObject({ status: 403 });
    expect(isCalled).toBe(true);
  });
});

describe('an abort', () => {
  const reason = new Error('enough');

  /** Aborts once `ready` resolves, and returns what the call rejects with. */
  async function abortedWhen(ready: () => Promise<unknown>, call: (signal: AbortSignal) => Promise<unknown>) {
    const aborter = new AbortController();
    const outcome = call(aborter.signal).catch((error: unknown) => error);
    await ready();
    aborter.abort(reason);
    return outcome;
  }

  it('before the request sends nothing', async () => {
    const { client, requests } = await scripted([], ok);
    await expect(client.list(pods, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests).toEqual([]);
  });

  it('while it authorizes ends it with its reason', async () => {
    const { connection } = await scripted([], ok);
    let authorizing = (): void => {};
    const began = new Promise<void>((resolve) => (authorizing = resolve));
    const client = new KubeClient({
      connection: {
        ...bound(connection),
        authorize: async ({ signal: aborted }) => {
          authorizing();
          await once(aborted, 'abort');
          throw aborted.reason;
        },
      },
      userAgent: 'test',
    });
    expect(
      await abortedWhen(
        () => began,
        (aborted) => client.list(pods, { signal: aborted }),
      ),
    ).toBe(reason);
  });

  it('while it connects ends it with its reason and closes the connection', async () => {
    const connections = new Set<Socket>();
    const silent = createServer((socket) => {
      connections.add(socket.resume());
      socket.on('error', () => {}).on('close', () => connections.delete(socket));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const kubeconfig = await proxy.kubeconfig('x');
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await writeFile(kubeconfig, (await readFile(kubeconfig, 'utf8')).replaceAll(proxy.url, url));
    const { client } = await openClient(kubeconfig);
    const connects = () => eventually(() => connections.size, 1);
    expect(await abortedWhen(connects, (aborted) => client.list(pods, { signal: aborted }))).toBe(reason);
    await eventually(() => connections.size, 0);
  });

  it.each([
    { name: 'waits for the answer', answer: silence },
    { name: 'reads the body', answer: halfBody },
  ])('while it $name ends it with its reason and closes the connection', async ({ answer }) => {
    const { client, connection, requests } = await scripted([], answer);
    const sent = () => eventually(() => requests.length, 1);
    expect(await abortedWhen(sent, (aborted) => client.list(pods, { signal: aborted }))).toBe(reason);
    const { agent } = await connection.authorize({ signal });
    await eventually(() => Object.keys({ ...agent.sockets, ...agent.freeSockets }), []);
  });

  it('of an open watch ends it and closes the connection', async () => {
    const { client, connection } = await openClient(cluster.adminKubeconfig);
    const aborter = new AbortController();
    const options = { timeoutSeconds: 60, idleTimeoutMs: 50_000, resourceVersion: '0', signal: aborter.signal };
    const stream = await client.watch(pods, options);
    const read = async () => {
      for await (const _batch of stream);
    };
    const outcome = read().catch((error: unknown) => error);
    aborter.abort(reason);
    expect(await outcome).toBeInstanceOf(Error);
    const { agent } = await connection.authorize({ signal });
    await eventually(() => Object.keys({ ...agent.sockets, ...agent.freeSockets }), []);
  });

  it('after the answer changes nothing', async () => {
    const { client } = await scripted([], ok);
    const aborter = new AbortController();
    expect(await client.list(pods, { signal: aborter.signal })).toMatchObject({ resourceVersion: '9' });
    // A signal may live as long as the process.
    expect(getEventListeners(aborter.signal, 'abort')).toEqual([]);
    aborter.abort(reason);
    expect(await client.list(pods, { signal })).toMatchObject({ resourceVersion: '9' });
  });
});
