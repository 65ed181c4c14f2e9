import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { startHealthServer, type Health } from './health-server.ts';

const registry = { contentType: 'text/plain; version=0.0.4', metrics: () => Promise.resolve('up 1\n') };

let stop: () => Promise<void>;
afterEach(() => stop());

const defaults = {
  host: '127.0.0.1',
  port: 0,
  registry,
  isLive: (): Health => ({ ok: true }),
  isReady: (): Health => ({ ok: true }),
};

/** A server on a port of its own, stopped after the test, and what it logged. */
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
    { name: 'takes no notice of a query', method: 'GET', path: '/healthz?verbose', status: 200, body: 'ok\n' },
    { name: 'answers HEAD without a body', method: 'HEAD', path: '/readyz', status: 503, body: '' },
    { name: 'knows no other path', method: 'GET', path: '/healthz/', status: 404, body: 'not found\n' },
    { name: 'refuses other methods', method: 'POST', path: '/metrics', status: 405, body: 'only GET and HEAD\n' },
  ])('$name', async ({ method, path, status, body }) => {
    const { port } = await start({ isReady: () => broken });
    expect(await ask(port, path, { method })).toMatchObject({ status, body });
  });

  it.each([
    { name: 'metrics as the registry has them', path: '/metrics', want: { 'content-type': registry.contentType } },
    { name: 'health as text', path: '/healthz', want: { 'content-type': 'text/plain; charset=utf-8' } },
  ])('types $name', async ({ path, want }) => {
    const { port } = await start();
    expect((await ask(port, path)).headers).toMatchObject(want);
  });

  it('survives a check that throws, and logs it', async () => {
    const isLive = () => {
      throw new Error('bug');
    };
    const { port, logs } = await start({ isLive });
    expect(await ask(port, '/healthz')).toMatchObject({ status: 500, body: 'internal error\n' });
    expect(logs).toEqual(['health request failed']);
    expect(await ask(port, '/readyz')).toMatchObject({ status: 200 });
  });

  it('names the flag when the port is taken', async () => {
    const { port } = await start();
    const second = startHealthServer({ ...defaults, port, log: console });
    await expect(second).rejects.toThrow(`-listen-address 127.0.0.1:${port} is in use by another process`);
  });

  it('names the flag when the host is not ours', async () => {
    stop = () => Promise.resolve();
    const server = startHealthServer({ ...defaults, host: '192.0.2.1', log: console });
    await expect(server).rejects.toThrow("-listen-address 192.0.2.1:0 can't be listened on");
  });

  it('ends kept connections when it closes', async () => {
    const { port, close } = await start();
    const agent = new Agent({ keepAlive: true });
    await ask(port, '/healthz', { agent });
    const kept = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
    expect(kept).toHaveLength(1);
    await Promise.all([close(), ...kept.map((socket) => once(socket, 'close'))]);
  });

  it('ends a connection that never asked when it closes, and can be closed twice', async () => {
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
    { name: 'asks nothing', sends: '' },
    { name: 'never ends its question', sends: 'GET /healthz HTTP/1.1\r\n' },
    { name: 'keeps its connection after an answer', sends: 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n' },
  ])('cuts off a client that $name', async ({ sends }) => {
    const { port } = await start({ slowMs: 20 });
    const socket = connect(port, '127.0.0.1').resume();
    socket.write(sends);
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });
});
