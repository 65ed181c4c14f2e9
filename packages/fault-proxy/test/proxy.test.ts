import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { buffer, text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { createTestClient, type TestAccount, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import {
  createPod,
  deletePod,
  type Endpoint,
  open,
  pod,
  send,
  startCluster,
  uncaughtErrors,
  WatchStream,
} from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../src/index.ts';

const pods = '/api/v1/namespaces/default/pods';
const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

type Encoding = {
  readonly name: string;
  readonly contentType: string;
  /** The next event of a watch as text; undefined at the end. */
  readonly next: (stream: WatchStream) => Promise<string | undefined>;
  /** Whether the last event is complete. */
  readonly isWhole: (events: Buffer) => boolean;
};

const json: Encoding = {
  name: 'JSON',
  contentType: 'application/json',
  async next(stream) {
    const event = await stream.next();
    return event && JSON.stringify(event);
  },
  isWhole: (events) => events.at(-1) === 0x0a,
};

const protobuf: Encoding = {
  name: 'protobuf',
  contentType: 'application/vnd.kubernetes.protobuf',
  next: async (stream) => (await stream.frame())?.toString('latin1'),
  isWhole: (events) => events.length >= 4 && events.length === 4 + events.readUInt32BE(),
};

let cluster: TestCluster;
let account: TestAccount;
let proxy: FaultProxy;
/** Endpoints through the proxy, with a connection for each request, and directly. */
let through: Endpoint;
let past: Endpoint;

beforeAll(async () => {
  cluster = await startCluster({ name: 'faulty' });
  account = await cluster.account('through-proxy', [
    { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['*'] },
  ]);
  proxy = await startFaultProxy(cluster);
  const { token } = account;
  through = { url: proxy.url, token, agent: new Agent({ ca: await readFile(proxy.caFile) }) };
  past = { url: cluster.url, token, agent: new Agent({ ca: await readFile(cluster.caFile) }) };
});

afterAll(async () => {
  await proxy.stop();
  await cluster.stop();
});

afterEach(async () => {
  await proxy.clear();
  // This ends the watches, too.
  for (const { agent } of [through, past]) agent.destroy();
  for (const { metadata } of await cluster.admin.list(pods)) await deletePod(cluster.admin, metadata);
});

const create = (name: string) => createPod(cluster.admin, pod({ name, ips: ['10.0.0.1'] }));

const asked = ({ contentType: accept }: Encoding) => ({ headers: { accept } });

const list = (encoding = json) => send(through, 'GET', pods, asked(encoding));

/** The answer to a watch of later changes, or its events. */
async function openWatch(encoding = json): Promise<IncomingMessage> {
  return open(through, 'GET', await watchPath(), asked(encoding));
}
async function watch(encoding = json, endpoint = through): Promise<WatchStream> {
  return WatchStream.open(endpoint, await watchPath(), asked(encoding));
}
async function watchPath(): Promise<string> {
  const { metadata } = await cluster.admin.get(`${pods}?limit=1`);
  return `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`;
}

async function connectTls(): Promise<TLSSocket> {
  return connect({ host: '127.0.0.1', port: Number(new URL(proxy.url).port), ca: await readFile(proxy.caFile) });
}

/** A promise's value, or the code of its error. */
const outcome = (promise: Promise<unknown>) => promise.catch((error: { code?: string }) => error.code);

/** The same, or `pending` if the promise is not settled. */
async function outcomeNow(promise: Promise<unknown>): Promise<unknown> {
  await turn();
  return Promise.race([outcome(promise), turn('pending')]);
}

describe('a proxy without faults', () => {
  it('passes requests on with their credentials, and records them', async () => {
    const before = proxy.requests().length;
    const client = createTestClient(through);
    await createPod(client, pod({ name: 'a', sizeBytes: 100_000 }));
    expect((await client.get(`${pods}/a`)).metadata.uid).toBe((await cluster.admin.get(`${pods}/a`)).metadata.uid);
    expect((await client.request('GET', '/api/v1/secrets')).status).toBe(403);
    await client.delete(`${pods}/a?gracePeriodSeconds=0`);
    expect(
      proxy
        .requests()
        .slice(before)
        .map(({ verb, target, faults }) => [verb, target, ...faults]),
    ).toEqual([
      ['create', pods],
      ['patch', `${pods}/a/status`],
      ['get', `${pods}/a`],
      ['list', '/api/v1/secrets'],
      ['delete', `${pods}/a?gracePeriodSeconds=0`],
    ]);
  });

  it.each([json, protobuf])('passes an answer in $name on unchanged', async (encoding) => {
    await createPod(cluster.admin, pod({ name: 'large', sizeBytes: 500_000 }));
    const [reply, original] = [
      await send(through, 'GET', `${pods}/large`, asked(encoding)),
      await send(past, 'GET', `${pods}/large`, asked(encoding)),
    ];
    expect(reply).toEqual(original);
    expect(reply).toMatchObject({ status: 200, contentType: encoding.contentType });
  });

  it.each([json, protobuf])('passes the events of a watch in $name on at once', async (encoding) => {
    const stream = await watch(encoding);
    expect(stream.contentType).toContain(encoding.contentType);
    for (const name of ['first', 'second']) {
      await create(name);
      expect(await encoding.next(stream)).toContain(name); // ADDED
      expect(await encoding.next(stream)).toContain(name); // MODIFIED, by its status
    }
  });

  it('writes kubeconfigs for an account, a token or a token file, readable by their owner only', async () => {
    const pem = { 'certificate-authority-data': expect.any(String) as string };
    for (const [credentials, user, ca] of [
      [account, { token: account.token }, pem],
      ['abc', { token: 'abc' }, pem],
      [{ tokenFile: account.tokenFile }, { tokenFile: account.tokenFile }, { 'certificate-authority': proxy.caFile }],
    ] as const) {
      const file = await proxy.kubeconfig(credentials);
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
        clusters: [{ name: 'faulty', cluster: { server: proxy.url, ...ca } }],
        users: [{ user }],
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });
});

describe('refuse', () => {
  it('closes the port, resets open connections, and opens the port again', async () => {
    const stream = await watch();
    const undo = await proxy.set({ kind: 'refuse' });
    expect(await outcome(stream.next())).toBe('ECONNRESET');
    expect(await outcome(list())).toBe('ECONNREFUSED');
    await undo();
    expect((await list()).status).toBe(200);
  });

  it('must not have a filter', async () => {
    await expect(proxy.set({ kind: 'refuse' }, { verb: 'list' })).rejects.toThrow(TypeError);
  });
});

describe('reset', () => {
  it.each([
    { connections: 'open', want: { watch: 'ECONNRESET', idle: 'ECONNRESET', next: 200 } },
    { connections: 'new', want: { watch: 'pending', idle: 200, next: 'ECONNRESET' } },
    { connections: 'all', want: { watch: 'ECONNRESET', idle: 'ECONNRESET', next: 'ECONNRESET' } },
  ] as const)('strikes connections: $connections', async ({ connections, want }) => {
    const event = (await watch()).next();
    event.catch(() => {}); // the test awaits it later
    const socket = await connectTls();
    await once(socket, 'secureConnect');
    const idle = outcome(once(socket, 'data').then(([data]) => Number(String(data).split(' ')[1])));
    await proxy.set({ kind: 'reset', connections });
    socket.write(`GET ${pods} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.token}\r\n\r\n`);
    const next = await outcome(list().then(({ status }) => status));
    expect({ next, idle: await idle, watch: await outcomeNow(event) }).toEqual(want);
    socket.destroy();
  });

  it('resets, with a filter, the connections of matching requests', async () => {
    const stream = await watch();
    await proxy.set({ kind: 'reset', connections: 'all' }, { verb: 'watch' });
    expect(await outcome(stream.next())).toBe('ECONNRESET');
    expect(await outcome(watch())).toBe('ECONNRESET');
    expect((await list()).status).toBe(200);
  });
});

describe('stall', () => {
  it('freezes an open watch, and delivers the held bytes in the end', async () => {
    const [stream, witness] = [await watch(), await watch(json, past)];
    const undo = await proxy.set({ kind: 'stall' });
    await create('a');
    await witness.next();
    const event = stream.next();
    expect(await outcomeNow(event)).toBe('pending');
    await undo();
    expect((await event)?.object.metadata.name).toBe('a');
  });

  it('accepts a connection and sends nothing, not even a TLS hello', async () => {
    const undo = await proxy.set({ kind: 'stall' });
    const socket = await connectTls();
    const secured = once(socket, 'secureConnect');
    await once(socket, 'connect');
    await cluster.admin.list(pods);
    expect(await outcomeNow(secured)).toBe('pending');
    await undo();
    await secured;
    socket.destroy();
  });

  it('holds back, with a filter, matching requests', async () => {
    const undo = await proxy.set({ kind: 'stall' }, { method: 'POST' });
    const answer = send(through, 'POST', pods, { body: pod({ name: 'late' }) });
    expect((await list()).status).toBe(200);
    expect(await outcomeNow(answer)).toBe('pending');
    expect(await cluster.admin.list(pods)).toEqual([]);
    await undo();
    expect((await answer).status).toBe(201);
  });

  it('of answers only carries requests out without an answer', async () => {
    const undo = await proxy.set({ kind: 'stall', direction: 'answers' });
    const answer = send(through, 'POST', pods, { body: pod({ name: 'unheard' }) });
    await eventually(async () => (await cluster.admin.list(pods)).length > 0, true);
    expect(await outcomeNow(answer)).toBe('pending');
    await undo();
    expect((await answer).status).toBe(201);
  });
});

describe('truncate', () => {
  it.each([
    { by: 'close', want: 'ECONNRESET' },
    { by: 'reset', want: 'ECONNRESET' },
    { by: 'clean', want: 10 },
  ] as const)('cuts an answer after so many bytes, by $by', async ({ by, want }) => {
    await proxy.set({ kind: 'truncate', after: 10, by });
    const response = await open(through, 'GET', pods, asked(json));
    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
    expect(await outcome(once(response, 'end').then(() => bytes))).toBe(want);
    // A client may drop unread bytes when the connection breaks.
    expect(bytes).toBeLessThanOrEqual(10);
  });

  it.each([json, protobuf])('cuts an open watch in $name in the middle of an event', async (encoding) => {
    const response = await openWatch(encoding);
    await proxy.set({ kind: 'truncate', after: 'mid-event', by: 'clean' });
    await create('a');
    const events = await buffer(response);
    expect(events.length).toBeGreaterThan(100);
    expect(encoding.isWhole(events)).toBe(false);
  });
});

it('delays a request, and each chunk of an answer', async () => {
  const stream = await watch();
  await proxy.set({ kind: 'delay', requestMs: 150, chunkMs: 100 });
  const started = performance.now();
  expect((await list()).status).toBe(200);
  // A timer may fire a millisecond early.
  expect(performance.now() - started).toBeGreaterThan(248);
  const creating = performance.now();
  await create('a');
  expect((await stream.next())?.object.metadata.name).toBe('a');
  expect(performance.now() - creating).toBeGreaterThan(99);
});

it('throttles the bodies of answers, and open ones, too', async () => {
  const stream = await watch();
  await proxy.set({ kind: 'throttle', bytesPerSecond: 1_000 });
  const started = performance.now();
  await create('a');
  const { object } = (await stream.next())!;
  expect(object.metadata.name).toBe('a');
  // Each piece of 100 bytes comes after a pause of 100 ms; a timer may fire a millisecond early.
  const pieces = Math.ceil(JSON.stringify({ type: 'ADDED', object }).length / 100);
  expect(performance.now() - started).toBeGreaterThan(pieces * 99);
});

it('sends the rest at once when it throttles no more', async () => {
  await createPod(cluster.admin, pod({ name: 'a', sizeBytes: 100_000 }));
  const undo = await proxy.set({ kind: 'throttle', bytesPerSecond: 1_000 });
  const body = text(await open(through, 'GET', pods, asked(json)));
  expect(await outcomeNow(body)).toBe('pending');
  await undo();
  expect((await body).length).toBeGreaterThan(100_000);
});

describe('answer', () => {
  it.each([
    { status: 401, reason: 'Unauthorized' },
    { status: 403, reason: 'Forbidden' },
    { status: 410, reason: 'Expired' },
    { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 7 },
    { status: 500, reason: 'InternalError' },
    { status: 503, reason: 'ServiceUnavailable', retryAfterSeconds: 1 },
  ])('answers $status $reason', async ({ reason, ...answer }) => {
    await proxy.set({ kind: 'answer', ...answer });
    const response = await open(through, 'GET', pods, asked(json));
    const { status, retryAfterSeconds } = answer;
    expect(response.statusCode).toBe(status);
    expect(response.headers['retry-after']).toBe(retryAfterSeconds?.toString());
    const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
    expect(JSON.parse(await text(response))).toMatchObject({ kind: 'Status', code: status, reason, ...details });
    const { contentType, body } = await list(protobuf);
    expect(contentType).toBe(protobuf.contentType);
    expect(body.toString('latin1')).toMatch(new RegExp(`^k8s\0.*${reason}`, 's'));
  });

  it.each([json, protobuf])('can be an event of a watch in $name', async (encoding) => {
    await proxy.set({ kind: 'answer', status: 410, as: 'event' }, { verb: 'watch', times: 1 });
    const stream = await watch(encoding);
    expect(stream.status).toBe(200);
    expect(await encoding.next(stream)).toMatch(/ERROR.*Expired/s);
    expect(await encoding.next(stream)).toBeUndefined();
    expect((await watch(encoding)).status).toBe(200);
  });

  it('affects every n-th matching request', async () => {
    await proxy.set({ kind: 'answer', status: 500 }, { verb: 'list', every: 3 });
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++) statuses.push((await list()).status);
    expect(statuses).toEqual([200, 200, 500, 200, 200, 500]);
  });
});

describe('garbage', () => {
  it('is random bytes in place of an object', async () => {
    await proxy.set({ kind: 'garbage', body: 'random', seed: 1 });
    const { status, contentType, body } = await list(protobuf);
    expect({ status, contentType, length: body.length }).toEqual({
      status: 200,
      contentType: protobuf.contentType,
      length: 65_536,
    });
  });

  it('is a web page', async () => {
    await proxy.set({ kind: 'garbage', body: 'html' });
    const { status, contentType, body } = await list();
    expect({ status, contentType }).toEqual({ status: 200, contentType: 'text/html; charset=utf-8' });
    expect(body.toString()).toContain('<html>');
  });

  it('is the beginning of a frame of 4 GiB, or of a list of 1 TiB', async () => {
    await proxy.set({ kind: 'garbage', body: 'huge' });
    const frame = await openWatch(protobuf);
    const [bytes] = (await once(frame, 'data')) as [Buffer];
    expect(bytes.readUInt32BE()).toBe(0xffff_ffff);
    expect(await outcomeNow(once(frame, 'end'))).toBe('pending');
    const { headers } = await open(through, 'GET', pods, asked(json));
    expect(headers['content-length']).toBe(String(2 ** 40));
  });

  it('is an endless line', async () => {
    await proxy.set({ kind: 'garbage', body: 'endless' });
    const response = await open(through, 'GET', pods, asked(json));
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
  // An answer that is cut before its head can't end cleanly.
  const next = () => outcome(watch().then((another) => another.next()));
  await eventually(async () => (await next()) === want, true);
});

describe('empty', () => {
  it('makes lists empty, and changes nothing else', async () => {
    await create('a');
    await proxy.set({ kind: 'empty' });
    const { body } = await list();
    expect(JSON.parse(body.toString())).toMatchObject({ kind: 'PodList', items: [] });
    expect((await send(through, 'GET', `${pods}/a`, asked(json))).status).toBe(200);
  });

  it('keeps the requested selector', async () => {
    await proxy.set({ kind: 'empty' });
    const refused = await send(through, 'GET', `${pods}?labelSelector=a%3D%3D%3Db`, asked(json));
    expect(refused.status).toBe(400);
    expect((await send(through, 'GET', `${pods}?labelSelector=a%3Db&limit=500`, asked(json))).status).toBe(200);
  });

  it.each([json, protobuf])('ends the initial events of a WatchList in $name at once', async (encoding) => {
    await create('a');
    await proxy.set({ kind: 'empty' });
    const stream = await WatchStream.open(through, `${pods}?${watchList}`, asked(encoding));
    expect(await encoding.next(stream)).toMatch(/BOOKMARK.*k8s.io\/initial-events-end/s);
    expect(await encoding.next(stream)).toBeUndefined();
  });

  it('sends later changes', async () => {
    await create('a');
    await proxy.set({ kind: 'empty' });
    const { metadata } = JSON.parse((await list()).body.toString()) as { metadata: { resourceVersion: string } };
    const path = `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    const stream = await WatchStream.open(through, path, asked(json));
    await create('b');
    expect((await stream.next())?.object.metadata.name).toBe('b');
  });
});

it('redirects to the given URL', async () => {
  await proxy.set({ kind: 'redirect', to: 'https://other.example' });
  const { statusCode, headers } = await open(through, 'GET', `${pods}?limit=1`, asked(json));
  expect([statusCode, headers.location]).toEqual([307, `https://other.example${pods}?limit=1`]);
});

describe('certificate', () => {
  it.each([
    { of: 'another CA', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
    { of: 'another host', code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    { of: 'the past', code: 'CERT_HAS_EXPIRED' },
  ] as const)('is one of $of for new connections', async ({ of, code }) => {
    const event = (await watch()).next();
    event.catch(() => {}); // it ends with the proxy
    const undo = await proxy.set({ kind: 'certificate', of });
    expect(await outcome(list())).toBe(code);
    expect(await outcomeNow(event)).toBe('pending');
    await undo();
    expect((await list()).status).toBe(200);
  });

  it('must not have a filter', async () => {
    await expect(proxy.set({ kind: 'certificate', of: 'another CA' }, { verb: 'list' })).rejects.toThrow(TypeError);
  });
});

describe('another CA', () => {
  let other: FaultProxy;
  beforeEach(async () => (other = await startFaultProxy(cluster)));
  afterEach(() => other.stop());

  /** With the CAs that the file names now. */
  const endpoint = async (): Promise<Endpoint> => {
    const agent = new Agent({ ca: await readFile(other.caFile) });
    onTestFinished(() => agent.destroy());
    return { ...through, url: other.url, agent };
  };
  const trusted = async () => outcome(send(await endpoint(), 'GET', pods, asked(json)).then(({ status }) => status));

  it('is announced, then used, then alone', async () => {
    await other.announceCa();
    const both = await endpoint();
    await other.changeCa();
    expect((await send(both, 'GET', pods, asked(json))).status).toBe(200);
    await other.removeOldCa();
    expect(await trusted()).toBe(200);
    await other.announceCa();
    expect(await trusted()).toBe(200);
  });

  it('resets all connections, and is unknown if it was not announced', async () => {
    const stream = await watch(json, await endpoint());
    await other.changeCa();
    expect(await outcome(stream.next())).toBe('ECONNRESET');
    expect(await trusted()).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    await other.removeOldCa();
    expect(await trusted()).toBe(200);
  });
});

it('raises no uncaught error when a fault ends an answer of which a piece is held', async () => {
  const { errors, restore } = uncaughtErrors();
  onTestFinished(restore);
  await proxy.set({ kind: 'garbage', body: 'endless' });
  const answer = await open(through, 'GET', pods);
  await proxy.set({ kind: 'stall', direction: 'answers' });
  await proxy.set({ kind: 'cut', everyMs: 20, by: 'clean' });
  await buffer(answer);
  await eventually(() => proxy.underWay(), []);
  expect(errors).toEqual([]);
});
