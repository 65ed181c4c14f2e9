import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { setImmediate as turn } from 'node:timers/promises';
import { connect } from 'node:tls';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createPod, deletePod, type Fault, type FaultProxy, pod, startCluster, startFaultProxy, type TestAccount, type TestCluster,
  waitFor,
} from '../src/index.ts';
import { createAgent, createTestClient } from '../src/test-client.ts';
import { type Endpoint, endpointOf, open, send } from './contract/http.ts';
import { WatchStream } from './contract/watch-stream.ts';

const pods = '/api/v1/namespaces/default/pods';
const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const json = { headers: { accept: 'application/json' } };
const protobuf = { headers: { accept: 'application/vnd.kubernetes.protobuf' } };
const encodings = [
  { encoding: 'JSON', asked: json, contentType: 'application/json' },
  { encoding: 'protobuf', asked: protobuf, contentType: 'application/vnd.kubernetes.protobuf' },
];

let cluster: TestCluster;
let account: TestAccount;
let proxy: FaultProxy;
/** A client without kept connections, so that each request makes its own. */
let endpoint: Endpoint;
/** The same client, past the proxy. */
let direct: Endpoint;

beforeAll(async () => {
  cluster = await startCluster({ name: 'faulty' });
  account = await cluster.account('through-proxy', [
    { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['*'] },
  ]);
  proxy = await startFaultProxy(cluster);
  endpoint = { url: proxy.url, token: account.token, agent: new Agent({ ca: await readFile(proxy.caFile) }) };
  direct = await endpointOf(cluster, account.token);
});

afterAll(async () => {
  await proxy.stop();
  await cluster.stop();
});

afterEach(async () => {
  await proxy.clear();
  // Watches too.
  for (const { agent } of [endpoint, direct]) agent.destroy();
  for (const { metadata } of await cluster.admin.list(pods)) await deletePod(cluster.admin, metadata);
});

const create = (name: string) => createPod(cluster.admin, pod({ name, ips: ['10.0.0.1'] }));

/** The path of a watch of what happens from now on. */
async function watchPath(): Promise<string> {
  const { metadata } = await cluster.admin.get(`${pods}?limit=1`);
  return `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`;
}

const watch = async (asked: object = json, at = endpoint) => WatchStream.open(at, await watchPath(), asked);

const openWatch = async (asked: object): Promise<IncomingMessage> => open(endpoint, 'GET', await watchPath(), asked);

/** The code of the error that a promise rejects with, or what it resolves with. */
const outcome = (promise: Promise<unknown>) => promise.catch((error: { code?: string }) => error.code);

/** What a promise resolves with; `pending` as long as it doesn't. */
const now = async (promise: Promise<unknown>) => (await turn(), await turn(), Promise.race([promise, Promise.resolve('pending')]));

const request = (asked: object = json) => send(endpoint, 'GET', pods, asked);

describe('a proxy without faults', () => {
  it('passes requests on as those of whoever makes them, and keeps a list of them', async () => {
    const before = proxy.requests().length;
    const agent = createAgent(await readFile(proxy.caFile, 'utf8'));
    const client = createTestClient({ url: proxy.url, agent, token: account.token });
    await createPod(client, pod({ name: 'a', sizeBytes: 100_000 }));
    expect((await client.get(`${pods}/a`)).metadata.uid).toBe((await cluster.admin.get(`${pods}/a`)).metadata.uid);
    expect((await client.request('GET', '/api/v1/secrets')).status).toBe(403);
    await client.delete(`${pods}/a?gracePeriodSeconds=0`);
    agent.destroy();
    expect(proxy.requests().slice(before).map(({ verb, target, faults }) => [verb, target, ...faults])).toEqual([
      ['create', pods],
      ['patch', `${pods}/a/status`],
      ['get', `${pods}/a`],
      ['list', '/api/v1/secrets'],
      ['delete', `${pods}/a?gracePeriodSeconds=0`],
    ]);
  });

  it.each(encodings)('changes nothing in an answer in $encoding', async ({ asked, contentType }) => {
    await createPod(cluster.admin, pod({ name: 'large', sizeBytes: 500_000 }));
    const reply = await send(endpoint, 'GET', `${pods}/large`, asked);
    expect(reply).toEqual(await send(direct, 'GET', `${pods}/large`, asked));
    expect(reply).toMatchObject({ status: 200, contentType });
  });

  it.each(encodings)('lets the events of a watch in $encoding through as they come', async ({ asked, contentType }) => {
    const stream = await watch(asked);
    expect(stream.contentType).toContain(contentType);
    for (const name of ['a', 'b']) {
      await create(name);
      // Added, and its status modified.
      if (asked === json) expect((await stream.next())?.object.metadata.name).toBe(name);
      else expect((await stream.frame())?.includes(name)).toBe(true);
      await (asked === json ? stream.next() : stream.frame());
    }
  });

  it('writes kubeconfigs for an account, for a token and for a file with one, that their owner alone can read', async () => {
    for (const [credentials, user] of [
      [account, { token: account.token }],
      ['abc', { token: 'abc' }],
      [{ tokenFile: account.tokenFile }, { tokenFile: account.tokenFile }],
    ] as const) {
      const file = await proxy.kubeconfig(credentials);
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
        clusters: [{ name: 'faulty', cluster: { server: proxy.url } }],
        users: [{ user }],
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });
});

describe('refuse', () => {
  it('closes the port, cuts what is open, and opens it again', async () => {
    const stream = await watch();
    const undo = await proxy.set({ kind: 'refuse' });
    expect(await outcome(stream.next())).toBe('ECONNRESET');
    expect(await outcome(request())).toBe('ECONNREFUSED');
    await undo();
    expect((await request()).status).toBe(200);
  });

  it('is for all or nobody', async () => {
    await expect(proxy.set({ kind: 'refuse' }, { verb: 'list' })).rejects.toThrow(TypeError);
  });
});

describe('reset', () => {
  it.each([
    { connections: 'open', want: { open: 'ECONNRESET', idle: 'ECONNRESET', new: 200 } },
    { connections: 'new', want: { open: 'pending', idle: 200, new: 'ECONNRESET' } },
    { connections: 'all', want: { open: 'ECONNRESET', idle: 'ECONNRESET', new: 'ECONNRESET' } },
  ] as const)('strikes connections: $connections', async ({ connections, want }) => {
    const stream = await watch();
    const event = outcome(stream.next());
    const idle = connect({ port: Number(new URL(proxy.url).port), host: '127.0.0.1', ca: await readFile(proxy.caFile) });
    await once(idle, 'secureConnect');
    const answer = outcome(once(idle, 'data').then(([data]) => Number(String(data).split(' ')[1])));
    await proxy.set({ kind: 'reset', connections });
    idle.write(`GET ${pods} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.token}\r\n\r\n`);
    expect(await outcome(request().then(({ status }) => status))).toBe(want.new);
    expect({ idle: await answer, open: await now(event) }).toMatchObject({ idle: want.idle, open: want.open });
    idle.destroy();
  });

  it('strikes, with a filter, the connections of the requests that fit', async () => {
    const stream = await watch();
    await proxy.set({ kind: 'reset', connections: 'all' }, { verb: 'watch' });
    expect(await outcome(stream.next())).toBe('ECONNRESET');
    expect(await outcome(watch())).toBe('ECONNRESET');
    expect((await request()).status).toBe(200);
  });
});

describe('stall', () => {
  it('freezes an open watch, and delivers in the end what it held back', async () => {
    const [stream, witness] = [await watch(), await watch(json, direct)];
    const undo = await proxy.set({ kind: 'stall' });
    await create('a');
    await witness.next();
    const event = stream.next();
    expect(await now(event)).toBe('pending');
    await undo();
    expect((await event)?.object.metadata.name).toBe('a');
  });

  it('accepts a connection and says nothing, not even hello', async () => {
    const undo = await proxy.set({ kind: 'stall' });
    const socket = connect({ port: Number(new URL(proxy.url).port), host: '127.0.0.1', ca: await readFile(proxy.caFile) });
    const secured = once(socket, 'secureConnect');
    await once(socket, 'connect');
    await cluster.admin.list(pods);
    expect(await now(secured)).toBe('pending');
    await undo();
    await secured;
    socket.destroy();
  });

  it('holds back, with a filter, what fits', async () => {
    const undo = await proxy.set({ kind: 'stall' }, { method: 'POST' });
    const body = pod({ name: 'late' });
    const answer = send(endpoint, 'POST', pods, { body });
    expect((await request()).status).toBe(200);
    expect(await now(answer)).toBe('pending');
    expect(await cluster.admin.list(pods)).toEqual([]);
    await undo();
    expect((await answer).status).toBe(201);
  });
});

describe('truncate', () => {
  it.each([
    { by: 'close', want: 'ECONNRESET' },
    { by: 'reset', want: 'ECONNRESET' },
    { by: 'clean', want: 10 },
  ] as const)('cuts a list after so many bytes, by $by', async ({ by, want }) => {
    await proxy.set({ kind: 'truncate', after: 10, by });
    const response = await open(endpoint, 'GET', pods, json);
    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
    expect(await outcome(once(response, 'end').then(() => bytes))).toBe(want);
    // A client may forget what it has read but not looked at when the connection breaks.
    expect(bytes).toBeLessThanOrEqual(10);
  });

  it.each(encodings)('cuts an open watch in $encoding in the middle of an event', async ({ asked }) => {
    const response = await openWatch(asked);
    await proxy.set({ kind: 'truncate', after: 'mid-event', by: 'clean' });
    await create('a');
    const bytes = await buffer(response);
    expect(bytes.length).toBeGreaterThan(0);
    if (asked === json) expect(bytes.at(-1)).not.toBe(0x0a);
    else expect(bytes.length).toBe(4 + bytes.readUInt32BE() - 1);
  });
});

it('delays a request, and each chunk of an answer', async () => {
  const stream = await watch();
  await proxy.set({ kind: 'delay', requestMs: 150, chunkMs: 100 });
  const started = performance.now();
  expect((await request()).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(245);
  await create('a');
  const created = performance.now();
  expect((await stream.next())?.object.metadata.name).toBe('a');
  expect(performance.now() - created).toBeGreaterThan(50);
});

describe('answer', () => {
  it.each([
    { status: 401, reason: 'Unauthorized' },
    { status: 403, reason: 'Forbidden' },
    { status: 410, reason: 'Expired' },
    { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 7 },
    { status: 500, reason: 'InternalError' },
    { status: 503, reason: 'ServiceUnavailable', retryAfterSeconds: 1 },
  ])('says $status $reason', async ({ reason, ...answer }) => {
    await proxy.set({ kind: 'answer', ...answer });
    const response = await open(endpoint, 'GET', pods, json);
    const { status, retryAfterSeconds } = answer;
    expect(response.statusCode).toBe(status);
    expect(response.headers['retry-after']).toBe(retryAfterSeconds?.toString());
    const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
    expect(JSON.parse(await text(response))).toMatchObject({ kind: 'Status', code: status, reason, ...details });
    const { body, contentType } = await request(protobuf);
    expect(contentType).toBe('application/vnd.kubernetes.protobuf');
    expect([body.toString('latin1', 0, 4), body.includes(reason)]).toEqual(['k8s\0', true]);
  });

  it.each(encodings)('can be an event of a watch in $encoding', async ({ asked }) => {
    await proxy.set({ kind: 'answer', status: 410, as: 'event' }, { verb: 'watch', times: 1 });
    const stream = await watch(asked);
    expect(stream.status).toBe(200);
    if (asked === json) expect(await stream.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    else expect((await stream.frame())?.toString('latin1')).toMatch(/ERROR.*Expired/s);
    expect(await (asked === json ? stream.next() : stream.frame())).toBeUndefined();
    expect((await watch(asked)).status).toBe(200);
  });

  it('strikes every n-th request that fits', async () => {
    await proxy.set({ kind: 'answer', status: 500 }, { verb: 'list', every: 3 });
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++) statuses.push((await request()).status);
    expect(statuses).toEqual([200, 200, 500, 200, 200, 500]);
  });
});

describe('garbage', () => {
  const garbage = (body: Extract<Fault, { kind: 'garbage' }>['body']) => proxy.set({ kind: 'garbage', body });

  it('is random bytes for an object', async () => {
    await garbage('random');
    const { status, contentType, body } = await request(protobuf);
    expect({ status, contentType, length: body.length }).toEqual({ status: 200, contentType: protobuf.headers.accept, length: 65_536 });
  });

  it('is a web page', async () => {
    await garbage('html');
    const { status, contentType, body } = await request();
    expect({ status, contentType }).toEqual({ status: 200, contentType: 'text/html; charset=utf-8' });
    expect(body.toString()).toContain('<html>');
  });

  it('is a frame of 4 GiB that has only begun', async () => {
    await garbage('huge');
    const response = await openWatch(protobuf);
    const [bytes] = (await once(response, 'data')) as [Buffer];
    expect(bytes.readUInt32BE()).toBe(0xffff_ffff);
    expect(await now(once(response, 'end'))).toBe('pending');
    response.destroy();
    const list = await open(endpoint, 'GET', pods, json);
    expect(list.headers['content-length']).toBe(String(2 ** 40));
    list.destroy();
  });

  it('is a line without end', async () => {
    await garbage('endless');
    const response = await open(endpoint, 'GET', pods, json);
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      expect(chunk.every((byte) => byte === 0x20)).toBe(true);
      if ((bytes += chunk.length) > 4_000_000) break;
    }
  });
});

it.each([
  { by: 'reset', want: 'ECONNRESET' },
  { by: 'close', want: 'ECONNRESET' },
  { by: 'clean', want: undefined },
] as const)('cuts watches every so often, by $by', async ({ by, want }) => {
  const stream = await watch();
  await proxy.set({ kind: 'cut', everyMs: 50, by }, { verb: 'watch' });
  expect(await outcome(stream.next())).toBe(want);
  // One that is cut before its head was sent can't end cleanly.
  await waitFor('another watch that is cut', async () => (await outcome(watch().then((next) => next.next()))) === want || undefined);
});

describe('empty', () => {
  it('makes lists empty, at the version of the cluster', async () => {
    await create('a');
    const { metadata } = await cluster.admin.get(pods);
    await proxy.set({ kind: 'empty' });
    const list = JSON.parse((await request()).body.toString()) as typeof metadata & { items: unknown[] };
    expect(list).toMatchObject({ kind: 'PodList', items: [] });
    const selected = await send(endpoint, 'GET', `${pods}?labelSelector=a%3Db&limit=500`, protobuf);
    expect(selected.body.includes('PodList')).toBe(true);
    const objects = await send(endpoint, 'GET', `${pods}/a`, json);
    expect(objects.status).toBe(200);
  });

  it.each(encodings)('ends the initial events of a WatchList in $encoding at once, and the watch with them', async ({ asked }) => {
    await create('a');
    await proxy.set({ kind: 'empty' });
    const stream = await WatchStream.open(endpoint, `${pods}?${watchList}`, asked);
    if (asked === json) {
      const end = (await stream.next())!;
      expect(end).toMatchObject({ type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } });
      const from = await WatchStream.open(endpoint, `${pods}?watch=1&resourceVersion=${end.object.metadata.resourceVersion}`, json);
      await create('b');
      expect((await from.next())?.object.metadata.name).toBe('b');
      from.close();
    } else expect((await stream.frame())?.includes('k8s.io/initial-events-end')).toBe(true);
    expect(await (asked === json ? stream.next() : stream.frame())).toBeUndefined();
  });
});

it('redirects to where it is told', async () => {
  await proxy.set({ kind: 'redirect', to: 'https://other.example' });
  const response = await open(endpoint, 'GET', `${pods}?limit=1`, json);
  expect([response.statusCode, response.headers.location]).toEqual([307, `https://other.example${pods}?limit=1`]);
});
