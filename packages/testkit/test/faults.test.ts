import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { Agent, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { connect } from 'node:tls';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createAuthority, createPod, deletePod, type Fault, type FaultProxy, pod, startCluster, startFaultProxy, type TestAccount,
  type TestCluster, waitFor,
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

beforeAll(async () => {
  cluster = await startCluster({ name: 'faulty' });
  account = await cluster.account('through-proxy', [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }]);
  proxy = await startFaultProxy(cluster);
  endpoint = { url: proxy.url, token: account.token, agent: new Agent({ ca: await readFile(proxy.caFile) }) };
});

afterAll(async () => {
  await proxy.stop();
  await cluster.stop();
});

afterEach(async () => {
  await proxy.clear();
  for (const { metadata } of await cluster.admin.list(pods)) await deletePod(cluster.admin, metadata);
});

const create = (name: string) => createPod(cluster.admin, pod({ name, ips: ['10.0.0.1'] }));

/** Opens a watch of what happens from now on. */
async function watch(asked: object = json, at = endpoint): Promise<WatchStream> {
  const { metadata } = await cluster.admin.get(`${pods}?limit=1`);
  return WatchStream.open(at, `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`, asked);
}

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

  it.each(encodings)('changes nothing in a list in $encoding', async ({ asked, contentType }) => {
    for (const name of ['a', 'b', 'c']) await create(name);
    const path = `${pods}?resourceVersion=${(await cluster.admin.get(pods)).metadata.resourceVersion}&resourceVersionMatch=Exact`;
    const direct = await endpointOf(cluster, account.token);
    const reply = await send(endpoint, 'GET', path, asked);
    expect(reply).toEqual(await send(direct, 'GET', path, asked));
    expect(reply).toMatchObject({ status: 200, contentType });
    direct.agent.destroy();
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
    stream.close();
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
    stream.close();
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
    const [stream, witness] = [await watch(), await watch(json, await endpointOf(cluster, account.token))];
    const undo = await proxy.set({ kind: 'stall' });
    await create('a');
    await witness.next();
    const event = stream.next();
    expect(await now(event)).toBe('pending');
    await undo();
    expect((await event)?.object.metadata.name).toBe('a');
    for (const { close } of [stream, witness]) close.call(undefined);
  });
});
