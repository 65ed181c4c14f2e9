import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from './proxy.ts';

const authority = await createAuthority();
const identity = await authority.issue({ usage: 'server', commonName: 'behind', ips: ['127.0.0.1'] });
const tls = { cert: identity.certPem, key: identity.keyPem };

/** The server's handler. */
let behind: (request: IncomingMessage, response: ServerResponse) => unknown;
let server: ReturnType<typeof createServer>;
let dir: string;
let proxy: FaultProxy;
let agent: Agent;

beforeEach(async () => {
  server = createServer(tls, (incoming, response) => void behind(incoming, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  dir = await mkdtemp(join(tmpdir(), 'behind-'));
  const caFile = join(dir, 'ca.crt');
  await writeFile(caFile, authority.caPem);
  const { port } = server.address() as AddressInfo;
  proxy = await startFaultProxy({ name: 'behind', url: `https://127.0.0.1:${port}`, caFile });
  agent = new Agent({ ca: await readFile(proxy.caFile) });
});

afterEach(async () => {
  agent.destroy();
  await proxy.stop();
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true });
});

/** The answer to a request. A body is sent chunk by chunk. */
async function ask(headers: OutgoingHttpHeaders = {}, body: AsyncIterable<string> | [] = []): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request(`${proxy.url}/x`, { agent, headers, method: 'POST' }, resolve).on('error', reject);
  for await (const chunk of body) outgoing.write(chunk);
  outgoing.end();
  return promise;
}

describe('a fault proxy', () => {
  it('passes repeated headers on, but no hop-by-hop header', async () => {
    behind = ({ headersDistinct }, response) => response.end(JSON.stringify(headersDistinct));
    const seen = JSON.parse(await text(await ask({ 'impersonate-group': ['a', 'b'], te: 'trailers' }))) as object;
    expect(seen).toMatchObject({ 'impersonate-group': ['a', 'b'] });
    expect(seen).not.toHaveProperty('te');
  });

  it('passes a body on while the client still writes it', async () => {
    const first = Promise.withResolvers<void>();
    behind = async (incoming, response) => {
      incoming.once('data', () => first.resolve());
      response.end(await text(incoming));
    };
    const body = async function* () {
      yield 'one, ';
      await first.promise;
      yield 'two';
    };
    expect(await text(await ask({}, body()))).toBe('one, two');
  });

  it('continues both directions after a stall', async () => {
    const served = Promise.withResolvers<[IncomingMessage, ServerResponse]>();
    behind = (...exchange) => (exchange[0].url === '/both-ways' ? served.resolve(exchange) : exchange[1].end());
    const outgoing = request(`${proxy.url}/both-ways`, { agent, method: 'POST' });
    outgoing.flushHeaders();
    const [incoming, response] = await served.promise;
    response.flushHeaders();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const undo = await proxy.set({ kind: 'stall' }, { target: /both-ways/ });
    outgoing.write('up');
    response.write('down');
    const [up, down] = [once(incoming, 'data'), once(answer, 'data')];
    // Other requests pass; when they have, both are held back.
    for (let count = 0; count < 2; count++) await text(await ask());
    await undo();
    expect([String(await up), String(await down)]).toEqual(['up', 'down']);
    outgoing.destroy();
  });

  it('passes on an answer that comes before the end of the request', async () => {
    behind = (_, response) => response.writeHead(413).end('too large');
    const outgoing = request(`${proxy.url}/x`, { agent, method: 'POST' });
    outgoing.write('x'.repeat(1_000_000));
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([413, 'too large']);
    outgoing.destroy();
  });

  it('ends an answer where the server aborts it', async () => {
    behind = (_, response) => response.write('{"kind"', () => response.destroy());
    await expect(text(await ask())).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('resets the connection if the server does not listen', async () => {
    server.closeAllConnections();
    server.close();
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it.each([
    { name: 'leaves', leave: (socket: TLSSocket) => socket.destroy() },
    // kube-apiserver treats both alike.
    { name: 'closes its half of the connection', leave: (socket: TLSSocket) => socket.end() },
  ])('closes the connection to the server when the client $name', async ({ leave }) => {
    const [begun, left] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    behind = (_, response) => {
      response.flushHeaders();
      response.once('close', () => left.resolve('left'));
      begun.resolve();
    };
    const { port } = new URL(proxy.url);
    const client = connect({ host: '127.0.0.1', port: Number(port), ca: await readFile(proxy.caFile) });
    client.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun.promise;
    leave(client);
    expect(await left.promise).toBe('left');
    client.destroy();
  });

  it('reads no faster than the client does', async () => {
    const chunk = Buffer.alloc(65_536);
    let sent = 0;
    const fill = (response: ServerResponse) => {
      do sent += chunk.length;
      while (response.write(chunk));
      response.once('drain', () => fill(response));
    };
    behind = (_, response) => fill(response);
    const response = await ask();
    let before = 0;
    const isStuck = () => {
      const grown = sent - before;
      before = sent;
      return grown === 0;
    };
    await eventually(isStuck, true, { intervalMs: 200 });
    // The buffers of three sockets hold less than this.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    response.destroy();
  });

  it('stops while requests are open, even twice', async () => {
    behind = (_, response) => response.flushHeaders();
    const answer = text(await ask());
    answer.catch(() => {}); // the test awaits it later
    await proxy.set({ kind: 'stall' });
    await proxy.set({ kind: 'cut', everyMs: 1000, by: 'clean' });
    await Promise.all([proxy.stop(), proxy.stop()]);
    await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
