import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@kube-semaphore/eventually';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { MAX_CONNECTIONS, startHealthServer, type Health } from './health-server.ts';

const registry = { contentType: 'text/plain; version=0.0.4', metrics: () => Promise.resolve('up 1\n') };

let stop: () => Promise<void>;
afterEach(() => stop());

const defaults = {
  host: '127.0.0.1',
  port: 0,
  // A busy machine is a slow client.
  slowMs: 3_600_000,
  registry,
  isLive: (): Health => ({ ok: true }),
  isReady: (): Health => ({ ok: true }),
  status: () => '{}\n',
};

/** A server on its own port, closed after the test, with its log messages. */
async function start(overrides: Partial<Parameters<typeof startHealthServer>[0]> = {}) {
  const logs: string[] = [];
  const log = { error: (_fields: object, message: string) => void logs.push(message) };
  const server = await startHealthServer({ ...defaults, log, ...overrides });
  stop = server.close;
  return { ...server, logs };
}

type Request = { method?: string; agent?: Agent | false };

async function ask(port: number, path: string, { method = 'GET', agent = false }: Request = {}) {
  const sent = request({ host: '127.0.0.1', port, path, method, agent }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

const broken: Health = { ok: false, reason: 'c2: not synced yet' };

describe('the health server', () => {
  it.each([
    { name: 'is live', method: 'GET', path: '/healthz', status: 200, body: 'ok\n' },
    { name: 'says why it is not ready', method: 'GET', path: '/readyz', status: 503, body: 'c2: not synced yet\n' },
    { name: 'serves metrics', method: 'GET', path: '/metrics', status: 200, body: 'up 1\n' },
    { name: 'serves the status', method: 'GET', path: '/status', status: 200, body: '{}\n' },
    { name: 'ignores a query', method: 'GET', path: '/healthz?verbose', status: 200, body: 'ok\n' },
    { name: 'answers HEAD without a body', method: 'HEAD', path: '/readyz', status: 503, body: '' },
    { name: 'answers 404 for another path', method: 'GET', path: '/healthz/', status: 404, body: 'not found\n' },
    { name: 'refuses other methods', method: 'POST', path: '/metrics', status: 405, body: 'only GET and HEAD\n' },
  ])('$name', async ({ method, path, status, body }) => {
    const { port } = await start({ isReady: () => broken });
    expect(await ask(port, path, { method })).toMatchObject({ status, body });
  });

  it.each([
    {
      name: 'metrics with the content type of the registry',
      path: '/metrics',
      want: { 'content-type': registry.contentType },
    },
    { name: 'the status as JSON', path: '/status', want: { 'content-type': 'application/json' } },
    { name: 'health as plain text', path: '/healthz', want: { 'content-type': 'text/plain; charset=utf-8' } },
  ])('sends $name', async ({ path, want }) => {
    const { port } = await start();
    expect((await ask(port, path)).headers).toMatchObject(want);
  });

  it('survives a check that throws, and logs its error', async () => {
    const isLive = () => {
      throw new Error('bug');
    };
    const { port, logs } = await start({ isLive });
    expect(await ask(port, '/healthz')).toMatchObject({ status: 500, body: 'internal error\n' });
    expect(logs).toEqual(['health request failed']);
    expect(await ask(port, '/readyz')).toMatchObject({ status: 200 });
  });

  it('names the flag if the port is in use', async () => {
    const { port } = await start();
    const second = startHealthServer({ ...defaults, port, log: console });
    await expect(second).rejects.toThrow(`-listen-address 127.0.0.1:${port} is in use by another process`);
  });

  it('names the flag if the host is not ours', async () => {
    stop = () => Promise.resolve();
    const server = startHealthServer({ ...defaults, host: '192.0.2.1', log: console });
    await expect(server).rejects.toThrow('-listen-address 192.0.2.1:0 is not available');
  });

  it('ends idle connections when it closes, and can be closed twice', async () => {
    const { port, close } = await start();
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const ended = once(socket.resume(), 'close');
    await close();
    await close();
    await ended;
    expect(socket.bytesRead).toBe(0);
  });

  it.each([
    { name: 'sends nothing', sends: '' },
    { name: 'never completes its request', sends: 'GET /healthz HTTP/1.1\r\n' },
    { name: 'keeps its connection after an answer', sends: 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n' },
  ])('cuts off a client that $name', async ({ sends }) => {
    const { port } = await start({ slowMs: 20 });
    const socket = connect(port, '127.0.0.1').resume();
    socket.write(sends);
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });
});

/** A connection from an address of this machine, with all that it received. */
async function dial(port: number, from = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  await once(socket, 'connect');
  // A connection that is closed while it writes also has an error.
  const closed = new Promise<void>((resolve) => void socket.on('error', () => {}).once('close', () => resolve()));
  let said = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (said += chunk));
  return { socket, closed, said: () => said };
}

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

/** A source that counts its collections, and ends them when the test does. */
function heldRegistry() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const source = {
    contentType: 'text/plain',
    count: 0,
    async metrics() {
      source.count += 1;
      const text = `collections ${source.count}\n`;
      await released;
      return text;
    },
  };
  return { source, release };
}

describe('metrics', () => {
  it('are collected once for all requests meanwhile, and in the second after', async () => {
    let nowMs = 5_000;
    const { source, release } = heldRegistry();
    const { port } = await start({ registry: source, nowMs: () => nowMs });
    const scrapes = Array.from({ length: 20 }, () => ask(port, '/metrics'));
    await eventually(() => source.count, 1);
    release();
    const first = { status: 200, body: 'collections 1\n' };
    for (const answer of await Promise.all(scrapes)) expect(answer).toMatchObject(first);
    nowMs += 999;
    expect(await ask(port, '/metrics')).toMatchObject(first);
    nowMs += 1;
    expect(await ask(port, '/metrics')).toMatchObject({ body: 'collections 2\n' });
  });

  it('and the status are collected apart', async () => {
    let count = 0;
    const { port } = await start({ status: () => `{"count":${(count += 1)}}`, nowMs: () => 0 });
    for (const path of ['/status', '/metrics', '/status'])
      expect(await ask(port, path)).toMatchObject({ body: path === '/status' ? '{"count":1}' : 'up 1\n' });
  });

  it("that can't be collected are retried after a second, and logged once", async () => {
    let nowMs = 0;
    let attempts = 0;
    const metrics = () => ((attempts += 1) === 1 ? Promise.reject(new Error('bug')) : Promise.resolve('up 1\n'));
    const { port, logs } = await start({ registry: { ...registry, metrics }, nowMs: () => nowMs });
    for (let i = 0; i < 3; i += 1) expect(await ask(port, '/metrics')).toMatchObject({ status: 500 });
    expect({ attempts, logs }).toEqual({ attempts: 1, logs: ['health request failed'] });
    nowMs = 1_000;
    expect(await ask(port, '/metrics')).toMatchObject({ status: 200, body: 'up 1\n' });
  });

  it("don't delay probes while they are collected", async () => {
    const { source, release } = heldRegistry();
    const { port } = await start({ registry: source });
    const scrape = ask(port, '/metrics');
    await eventually(() => source.count, 1);
    expect(await ask(port, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    release();
    expect(await scrape).toMatchObject({ status: 200 });
  });
});

describe('a neighbour', () => {
  it('that sends 20,000 requests on one connection causes one collection, and is disconnected', async () => {
    const { source, release } = heldRegistry();
    const { port } = await start({ registry: source });
    const { socket, closed } = await dial(port);
    socket.write(GET('/metrics').repeat(20_000));
    expect(await ask(port, '/healthz')).toMatchObject({ status: 200 });
    await closed;
    release();
    expect(source.count).toBeLessThanOrEqual(1);
  });

  it('gets one answer per connection, which says that it is the last', async () => {
    const { port } = await start();
    const { socket, closed, said } = await dial(port);
    socket.write(GET('/healthz'));
    await closed;
    expect(said()).toMatch(/^HTTP\/1.1 200 OK\r\n(.+\r\n)*connection: close\r\n(.+\r\n)*\r\nok\n$/i);
  });

  it("that opens 500 silent connections keeps only some, and doesn't lock out probes", async () => {
    const { port } = await start();
    const silent = await Promise.all(Array.from({ length: 500 }, () => dial(port)));
    onTestFinished(() => silent.forEach(({ socket }) => socket.destroy()));
    expect(await ask(port, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    // The last of them was that of the probe.
    await eventually(() => silent.filter(({ socket }) => !socket.destroyed).length, MAX_CONNECTIONS - 1);
    expect(
      silent.findIndex(({ socket }) => !socket.destroyed),
      'the oldest go',
    ).toBe(500 - (MAX_CONNECTIONS - 1));
  });

  it('loses connections of its own address, and not older ones of others', async () => {
    const { port } = await start();
    const kubelet = await dial(port, '127.0.0.3');
    const flood = await Promise.all(Array.from({ length: 500 }, () => dial(port, '127.0.0.2')));
    onTestFinished(() => flood.forEach(({ socket }) => socket.destroy()));
    await eventually(() => flood.filter(({ socket }) => !socket.destroyed).length, MAX_CONNECTIONS - 1);
    kubelet.socket.write(GET('/healthz'));
    await kubelet.closed;
    expect(kubelet.said()).toMatch(/^HTTP\/1.1 200 OK/);
  });

  it('that never reads large answers holds few connections, which share one answer, and no probe waits', async () => {
    const bytes = 8 * 1024 * 1024;
    const { port } = await start({ registry: { ...registry, metrics: () => Promise.resolve('x'.repeat(bytes)) } });
    const before = process.memoryUsage().arrayBuffers;
    const paused = async () => {
      const socket = connect(port, '127.0.0.1').pause();
      await once(socket, 'connect');
      return socket;
    };
    const readers = await Promise.all(Array.from({ length: 100 }, paused));
    onTestFinished(() => readers.forEach((socket) => socket.destroy()));
    const closed = readers.map(
      (socket) => new Promise<void>((resolve) => void socket.on('error', () => {}).once('close', () => resolve())),
    );
    for (const socket of readers) socket.write(GET('/metrics'));
    for (let probe = 0; probe < 3; probe++) expect(await ask(port, '/healthz')).toMatchObject({ status: 200 });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * bytes);
    for (const socket of readers) socket.resume();
    await Promise.all(closed);
    expect(readers.filter(({ bytesRead }) => bytesRead > bytes).length).toBeLessThan(MAX_CONNECTIONS);
  });

  it('that sends a body without end gets an answer, and is disconnected', async () => {
    const { port } = await start();
    const { socket, closed, said } = await dial(port);
    socket.write('POST /metrics HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
    const timer = setInterval(() => socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`), 5);
    await closed;
    clearInterval(timer);
    expect(said()).toMatch(/^HTTP\/1.1 405 /);
  });

  it.each([
    { name: 'a header of 1 MB', sends: `GET /metrics HTTP/1.1\r\na: ${'x'.repeat(1_000_000)}` },
    { name: 'a path of 1 MB', sends: `GET /${'x'.repeat(1_000_000)}` },
    { name: 'ten thousand headers', sends: `GET /metrics HTTP/1.1\r\n${'a: b\r\n'.repeat(10_000)}` },
  ])('that sends $name is refused before it ends', async ({ sends }) => {
    const { port } = await start();
    const { socket, closed, said } = await dial(port);
    socket.write(sends);
    await closed;
    expect(said()).not.toMatch(/^HTTP\/1.1 (?!431)/);
    expect(await ask(port, '/healthz')).toMatchObject({ status: 200 });
  });
});
