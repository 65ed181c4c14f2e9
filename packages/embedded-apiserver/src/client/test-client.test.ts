import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { uncaughtErrors } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createAuthority } from './certificates.ts';
import { createAgent, createTestClient } from './test-client.ts';

const authority = await createAuthority();
const agent = createAgent(authority.caPem);
const identity = await authority.issue({ usage: 'server', commonName: 'echo', ips: ['127.0.0.1'] });

/** Echoes each request as JSON; `/text` answers text, `/status/N` answers N. */
const server = createServer(
  { key: identity.keyPem, cert: identity.certPem, ca: authority.caPem, requestCert: true, rejectUnauthorized: false },
  (request, response) => {
    void echo(request).then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body));
  },
);

async function echo(request: IncomingMessage) {
  const { method, url = '', headers, socket } = request;
  if (url === '/text') return { status: 429, type: 'text/plain', body: 'Too many requests\n' };
  const status = url.startsWith('/status/') ? Number(url.split('/')[2]) : 200;
  const user = (socket as TLSSocket).getPeerCertificate().subject?.CN;
  const received = await text(request);
  const body = JSON.stringify({ method, headers, user, received, port: socket.remotePort, message: 'said the server' });
  return { status, type: 'application/json', body };
}

let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  agent.destroy();
  server.close();
  await once(server, 'close');
});

it.each([
  { name: 'merge patch by default', method: 'PATCH', options: {}, want: 'application/merge-patch+json' },
  { name: 'JSON for other methods', method: 'PUT', options: {}, want: 'application/json' },
  {
    name: 'the given content type',
    method: 'PATCH',
    options: { contentType: 'application/json-patch+json' },
    want: 'application/json-patch+json',
  },
] as const)('sends $name', async ({ method, options, want }) => {
  const { body } = await createTestClient({ url, agent, token: 't' }).request(method, '/', { a: 1 }, options);
  expect(body).toMatchObject({
    method,
    received: '{"a":1}',
    headers: { 'content-type': want, authorization: 'Bearer t' },
  });
});

it('presents its certificate, and shares no connection with others', async () => {
  const certificate = await authority.issue({ usage: 'client', commonName: 'ada' });
  const ada = createTestClient({ url, agent, certificate });
  const anonymous = createTestClient({ url, agent });
  expect(await anonymous.get('/')).not.toHaveProperty('user');
  expect(await ada.get('/')).toHaveProperty('user', 'ada');
  expect(await anonymous.get('/')).not.toHaveProperty('user');
});

it('reuses a connection', async () => {
  const client = createTestClient({ url, agent });
  const first = await client.get('/');
  expect(await client.get('/')).toHaveProperty('port', first['port']);
});

it('returns a Status for an answer that is not JSON', async () => {
  const answer = await createTestClient({ url, agent }).request('GET', '/text');
  expect(answer).toMatchObject({ status: 429, body: { kind: 'Status', message: 'Too many requests' } });
});

it.each([
  { name: 'a GET', run: () => createTestClient({ url, agent }).get('/status/404'), want: 'GET /status/404: 404 said' },
  {
    name: 'a list',
    run: () => createTestClient({ url, agent }).list('/status/403'),
    want: 'GET /status/403: 403 said',
  },
  {
    name: 'a POST',
    run: () => createTestClient({ url, agent }).create('/status/409', {}),
    want: 'POST /status/409: 409',
  },
  {
    name: 'a DELETE',
    run: () => createTestClient({ url, agent }).delete('/status/409'),
    want: 'DELETE /status/409: 409',
  },
])("throws the server's words when $name fails", async ({ run, want }) => {
  await expect(run()).rejects.toThrow(want);
});

it('ignores the deletion of a missing object', async () => {
  await expect(createTestClient({ url, agent }).delete('/status/404')).resolves.toBeUndefined();
});

it('trusts only servers of its authority', async () => {
  const stranger = createTestClient({ url, agent: createAgent((await createAuthority()).caPem) });
  await expect(stranger.get('/')).rejects.toThrow('certificate');
});

it('raises no uncaught error when a request is aborted after its answer came and before its end was read', async () => {
  const { errors, restore } = uncaughtErrors();
  onTestFinished(restore);
  for (let round = 0; round < 20; round += 1) {
    const aborter = new AbortController();
    const request = httpsRequest(`${url}/text`, { agent, signal: aborter.signal }).on('error', () => {});
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
    const read = async () => {
      for await (const _piece of response) aborter.abort();
    };
    await Promise.allSettled([read()]);
    await turn();
  }
  expect(errors).toEqual([]);
});
