import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Authority, createAuthority } from '@kube-semaphore/embedded-apiserver';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ClusterReference } from '../src/index.ts';
import { ApiServer, localCertificate } from './api-server.ts';
import { startSocksProxy } from './proxies.ts';
import { connected, open, send, temporaryFolder } from './world.ts';

const first = await createAuthority('first CA');
const second = await createAuthority('second CA');
const web = await createAuthority('public CA');
const unverified = expect.objectContaining({ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' });
const never = new AbortController().signal;

let api: ApiServer;
let dir: string;

beforeEach(async () => {
  api = await started(first);
  dir = await temporaryFolder();
  await writeFile(join(dir, 'roots.pem'), web.caPem);
});

async function started(signer: Authority): Promise<ApiServer> {
  const server = await ApiServer.start(await localCertificate(signer));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

const reference = (caUrl: string, caHashes?: readonly string[]): ClusterReference => ({
  kind: 'api-server',
  apiUrl: api.url,
  caUrl,
  caHashes,
  token: { value: 't' },
});

describe('a CA file', () => {
  it('verifies the API server', async () => {
    await writeFile(join(dir, 'ca.pem'), `# a comment\n${first.caPem}`);
    const { connection } = await connected(reference(`file://${dir}/ca.pem`));
    expect(await send(connection)).toBe(200);
  });

  it('is read again when the API server has another CA, and a retry of the request could help', async () => {
    await writeFile(join(dir, 'ca.pem'), first.caPem);
    const { connection, clock } = await connected(reference(`file://${dir}/ca.pem`));
    await send(connection);
    await api.restart(await localCertificate(second));
    await writeFile(join(dir, 'ca.pem'), second.caPem);
    await expect(send(connection), 'within a second of the last read').rejects.toThrow(unverified);
    clock.advance(1_000);
    expect(await send(connection)).toBe(200);
  });

  it('may hold the old CA and the new one', async () => {
    await writeFile(join(dir, 'ca.pem'), `${first.caPem}\n${second.caPem}`);
    const { connection } = await connected(reference(`file://${dir}/ca.pem`));
    expect(await send(connection)).toBe(200);
    await api.restart(await localCertificate(second));
    expect(await send(connection)).toBe(200);
  });

  it('does not affect an open watch when it changes', async () => {
    await writeFile(join(dir, 'ca.pem'), first.caPem);
    const { connection, clock } = await connected(reference(`file://${dir}/ca.pem`));
    const before = await connection.authorize({ signal: never });
    const watch = await open(connection.server, before, '/watch');
    await send(connection);
    const idle = Object.values(before.agent.freeSockets).flat();
    expect(idle).toHaveLength(1);
    await writeFile(join(dir, 'ca.pem'), `${first.caPem}\n${second.caPem}`);
    clock.advance(1_000);
    const after = await connection.authorize({ signal: never });
    expect(after.agent).not.toBe(before.agent);
    expect(idle.map((socket) => socket?.destroyed)).toEqual([true]);
    expect(watch.destroyed).toBe(false);

    const closed = once(watch.socket, 'close');
    api.endWatches();
    await text(watch);
    await closed;
    expect(before.agent.freeSockets, 'the socket of the watch is not kept').toEqual({});
  });

  it('leaves no watch behind when the connection is closed, not even on a replaced agent', async () => {
    await writeFile(join(dir, 'ca.pem'), first.caPem);
    const { connection, clock } = await connected(reference(`file://${dir}/ca.pem`));
    const watch = await open(connection.server, await connection.authorize({ signal: never }), '/watch');
    await writeFile(join(dir, 'ca.pem'), `${first.caPem}\n${second.caPem}`);
    clock.advance(1_000);
    await send(connection);
    connection.close();
    await expect(text(watch)).rejects.toThrow('aborted');
  });
});

describe('a CA at an https: URL', () => {
  it('is fetched once, with the first request, and verified by SSL_CERT_FILE', async () => {
    const ca = await started(web);
    ca.body = first.caPem;
    const { connection } = await connected(reference(`${ca.url}/ca.crt`), {
      env: { SSL_CERT_FILE: join(dir, 'roots.pem') },
    });
    expect(ca.seen).toHaveLength(0);
    await Promise.all([send(connection), send(connection), send(connection)]);
    await send(connection);
    expect(ca.seen.map(({ path, authorization }) => ({ path, authorization }))).toEqual([
      { path: '/ca.crt', authorization: undefined },
    ]);
  });

  describe('verified by the directories of SSL_CERT_DIR', () => {
    const fetchedBy = async (env: Readonly<Record<string, string>>) => {
      const ca = await started(web);
      ca.body = first.caPem;
      const { connection } = await connected(reference(`${ca.url}/ca.crt`), { env });
      return send(connection);
    };

    it('is fetched although they have other files, folders, and the links of a mounted ConfigMap', async () => {
      const mounted = join(dir, 'mounted');
      await mkdir(join(mounted, '..2026'), { recursive: true });
      await writeFile(join(mounted, '..2026', 'root.crt'), web.caPem);
      await symlink('..2026', join(mounted, '..data'));
      await symlink('..data/root.crt', join(mounted, 'root.crt'));
      await writeFile(join(mounted, 'README'), 'roots of this company');
      await writeFile(join(mounted, 'broken.pem'), web.caPem.replace('MII', 'AAA'));
      await symlink('/nonexistent', join(mounted, 'dangling'));
      expect(await fetchedBy({ SSL_CERT_DIR: `/nonexistent::${mounted}` })).toBe(200);
    });

    it('is fetched if SSL_CERT_FILE has other roots', async () => {
      const [roots, others] = [join(dir, 'roots'), join(dir, 'others.pem')];
      await mkdir(roots);
      await writeFile(join(roots, 'root.crt'), web.caPem);
      await writeFile(others, second.caPem);
      expect(await fetchedBy({ SSL_CERT_FILE: others, SSL_CERT_DIR: roots })).toBe(200);
      await expect(fetchedBy({ SSL_CERT_FILE: others })).rejects.toThrow('not signed by a trusted CA');
    });
  });

  it('delays only the request while it is unreachable', async () => {
    const ca = await started(web);
    ca.body = first.caPem;
    ca.status = 503;
    const { connection } = await connected(reference(`${ca.url}/ca.crt`), {
      env: { SSL_CERT_FILE: join(dir, 'roots.pem') },
    });
    await expect(connection.authorize({ signal: never })).rejects.toThrow(
      `the CA can't be fetched from ${ca.url}/ca.crt: it answered 503`,
    );
    ca.status = 200;
    expect(await send(connection)).toBe(200);
  });

  it('is fetched again when TLS verification fails, at most once a minute', async () => {
    const ca = await started(web);
    ca.body = first.caPem;
    const { connection, clock, log } = await connected(reference(`${ca.url}/ca.crt`), {
      env: { SSL_CERT_FILE: join(dir, 'roots.pem') },
    });
    await send(connection);
    await api.restart(await localCertificate(second));

    clock.advance(59_999);
    await expect(send(connection)).rejects.toThrow(unverified);
    expect(ca.seen).toHaveLength(1);
    clock.advance(1);
    await expect(send(connection), 'the CA is still the old one').rejects.toThrow(unverified);
    expect(ca.seen).toHaveLength(2);
    ca.body = second.caPem;
    clock.advance(60_000);
    expect(await send(connection)).toBe(200);
    expect(ca.seen).toHaveLength(3);
    expect(log.lines).toEqual([`info: CA replaced { url: '${ca.url}/ca.crt' }`]);
  });

  it('stays in use when it can not be fetched again', async () => {
    const ca = await started(web);
    ca.body = first.caPem;
    const { connection, clock, log } = await connected(reference(`${ca.url}/ca.crt`), {
      env: { SSL_CERT_FILE: join(dir, 'roots.pem') },
    });
    await send(connection);
    await api.restart(await localCertificate(second));
    ca.body = '<html>';
    clock.advance(60_000);
    await expect(send(connection)).rejects.toThrow(unverified);
    expect(log.lines.join()).toContain('CA can not be fetched; the last one stays in use');
    await api.restart(await localCertificate(first));
    expect(await send(connection)).toBe(200);
  });

  it('is not fetched again for an error that another CA does not solve', async () => {
    const ca = await started(web);
    ca.body = first.caPem;
    const { connection, clock } = await connected(reference(`${ca.url}/ca.crt`), {
      env: { SSL_CERT_FILE: join(dir, 'roots.pem') },
    });
    await send(connection);
    await api[Symbol.asyncDispose]();
    clock.advance(60_000);
    await expect(send(connection)).rejects.toThrow('ECONNREFUSED');
    expect(ca.seen).toHaveLength(1);
  });

  it.each([
    { name: 'an unknown signer', env: { SSL_CERT_FILE: '' }, want: 'not signed by a trusted CA' },
    { name: 'a redirect', status: 302, want: 'it answered 302' },
    { name: 'a page without a certificate', body: '<html>secret</html>', want: 'has no PEM certificate' },
    {
      name: 'a broken certificate',
      body: first.caPem.replace('MII', 'AAA'),
      want: 'broken PEM certificate (number 1)',
    },
    { name: 'more than a megabyte', body: 'x'.repeat(1024 * 1024 + 1), want: 'it answered more than 1048576 bytes' },
  ])('refuses $name', async ({ env, status = 200, body = first.caPem, want }) => {
    const ca = await started(web);
    Object.assign(ca, { status, body });
    const { connection } = await connected(reference(`${ca.url}/ca.crt?token=secret`), {
      env: { SSL_CERT_FILE: join(dir, 'roots.pem'), ...env },
    });
    const failure = connection.authorize({ signal: never });
    await expect(failure).rejects.toThrow(want);
    await expect(failure).rejects.toThrow(`${ca.url}/ca.crt`);
    await expect(failure).rejects.not.toThrow('secret');
  });

  it('ends with the caller, and with the connection', async () => {
    const silent = await startSilent();
    const { connection } = await connected(reference(`http://127.0.0.1:${portOf(silent)}/ca.crt`));
    const caller = new AbortController();
    const waiting = connection.authorize({ signal: caller.signal });
    await once(silent, 'request');
    caller.abort(new Error('shutdown'));
    await expect(waiting).rejects.toThrow('shutdown');
    const other = connection.authorize({ signal: never });
    connection.close();
    await expect(other).rejects.toThrow('is closed');
    await expect(connection.authorize({ signal: never })).rejects.toMatchObject({ code: 'CLUSTER_CLOSED' });
  });
});

describe('a redirect of the CA', () => {
  const fetched = async (ca: ApiServer, caUrl: string) => {
    const { connection } = await connected(reference(caUrl), { env: { SSL_CERT_FILE: join(dir, 'roots.pem') } });
    return {
      outcome: await send(connection).catch((error: unknown) => error),
      seen: ca.seen.map(({ path, authorization }) => ({ path, authorization })),
    };
  };

  it.each([
    { name: 'to a path', to: () => '/new?v=1' },
    { name: 'to a URL', to: ({ url }: ApiServer) => `${url}/new?v=1` },
    { name: 'to a URL with a password', to: ({ port }: ApiServer) => `https://jane:secret@127.0.0.1:${port}/new?v=1` },
  ])('is followed $name on the same host, without credentials', async ({ to }) => {
    const ca = await started(web);
    Object.assign(ca, { body: first.caPem, locations: { '/ca.crt': to(ca) } });
    const { outcome, seen } = await fetched(ca, `https://joe:secret@127.0.0.1:${ca.port}/ca.crt`);
    expect(outcome).toBe(200);
    expect(seen).toEqual([
      { path: '/ca.crt', authorization: expect.stringMatching(/^Basic /) },
      { path: '/new?v=1', authorization: undefined },
    ]);
  });

  it('is followed from http: to https:', async () => {
    const ca = await started(web);
    ca.body = first.caPem;
    const plain = createHttpServer((_request, response) =>
      response.writeHead(308, { location: `${ca.url}/new` }).end(),
    ).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    onTestFinished(() => void plain.close());
    const { outcome } = await fetched(ca, `http://127.0.0.1:${portOf(plain)}/ca.crt`);
    expect(outcome).toBe(200);
  });

  it.each([
    {
      name: 'to another host',
      to: ({ port }: ApiServer) => `https://localhost:${port}/new?t=secret`,
      want: /it redirects to https:\/\/localhost:\d+\/new; only https: on the same host is allowed$/,
    },
    {
      name: 'to http:',
      to: ({ port }: ApiServer) => `http://127.0.0.1:${port}/new`,
      want: /it redirects to http:\/\/.*; only https: on the same host is allowed$/,
    },
    { name: 'to an invalid URL', to: () => 'https://', want: /it redirects to an invalid URL$/ },
    { name: 'without end', to: () => '/ca.crt', want: /it redirects more than 10 times$/ },
  ])('is not followed $name', async ({ to, want }) => {
    const ca = await started(web);
    Object.assign(ca, { body: first.caPem, locations: { '/ca.crt': to(ca) } });
    const { outcome, seen } = await fetched(ca, `${ca.url}/ca.crt`);
    expect(String(outcome)).toMatch(want);
    expect(new Set(seen.map(({ path }) => path))).toEqual(new Set(['/ca.crt']));
  });
});

describe('a CA at an http: URL', () => {
  it.each([
    { name: 'never comes' },
    {
      name: 'has begun, and does not go on',
      answer: (response: ServerResponse) => void response.writeHead(200).write('-'),
    },
  ])('is given up after ten seconds if its answer $name', async ({ answer }) => {
    const slow = await startSilent(answer);
    const { connection } = await connected(reference(`http://127.0.0.1:${portOf(slow)}/ca.crt`));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const waiting = connection.authorize({ signal: never });
    await once(slow, 'request');
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10_000);
    await expect(waiting).rejects.toThrow('no answer within 10 s');
  });

  it.each(['HTTP_PROXY', 'http_proxy'])('is fetched through the proxy of %s, as in Go', async (name) => {
    const asked: unknown[] = [];
    const proxy = createHttpServer(({ url, headers }, response) => {
      asked.push({
        url,
        host: headers.host,
        proxyAuthorization: headers['proxy-authorization'],
        authorization: headers.authorization,
      });
      response.end(first.caPem);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    onTestFinished(() => void proxy.close());
    const env = { [name]: `http://jane:pw@127.0.0.1:${portOf(proxy)}` };
    const { connection } = await connected(reference('http://ca.example.com/ca.crt?v=1'), { env });
    expect(await send(connection)).toBe(200);
    const proxyAuthorization = `Basic ${Buffer.from('jane:pw').toString('base64')}`;
    expect(asked).toEqual([
      { url: 'http://ca.example.com/ca.crt?v=1', host: 'ca.example.com', proxyAuthorization, authorization: undefined },
    ]);
  });

  it('is fetched through an https: proxy, and through a SOCKS proxy', async () => {
    const ca = createHttpServer((_request, response) => response.end(first.caPem)).listen(0, '127.0.0.1');
    await once(ca, 'listening');
    onTestFinished(() => void ca.close());
    const socks = await startSocksProxy({ leadsTo: portOf(ca) });
    const overTls = await started(web);
    overTls.body = first.caPem;
    for (const HTTP_PROXY of [`socks5://127.0.0.1:${socks.port}`, overTls.url]) {
      const { connection } = await connected(reference('http://ca.example.com/ca.crt'), {
        env: { HTTP_PROXY, SSL_CERT_FILE: join(dir, 'roots.pem') },
      });
      expect(await send(connection)).toBe(200);
    }
    expect(socks.asked).toEqual(['3 ca.example.com 80']);
    expect(overTls.seen.map(({ path }) => path)).toEqual(['http://ca.example.com/ca.crt']);
  });

  it('is fetched without a proxy on this machine', async () => {
    const ca = createHttpServer((_request, response) => response.end(first.caPem)).listen(0, '127.0.0.1');
    await once(ca, 'listening');
    onTestFinished(() => void ca.close());
    const caUrl = `http://127.0.0.1:${portOf(ca)}/ca.crt`;
    const { connection } = await connected(reference(caUrl), { env: { HTTP_PROXY: 'http://127.0.0.1:1' } });
    expect(await send(connection)).toBe(200);
  });

  it('is fetched with one warning', async () => {
    const ca = createHttpServer((_request, response) => response.end(first.caPem)).listen(0, '127.0.0.1');
    await once(ca, 'listening');
    onTestFinished(() => void ca.close());
    const { connection, log } = await connected(reference(`http://user:secret@127.0.0.1:${portOf(ca)}/ca.crt`));
    expect(await send(connection)).toBe(200);
    expect(log.lines).toEqual([expect.stringMatching(/^warn: CA is fetched without encryption/)]);
    expect(log.lines.join()).not.toContain('secret');
  });
});

describe('a CA with a hash', () => {
  /** Serves `body` at an http: URL, and counts the requests. */
  async function served(initial: string) {
    const state = { body: initial, requests: 0, url: '' };
    const server = createHttpServer((_request, response) => {
      state.requests += 1;
      response.end(state.body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    state.url = `http://127.0.0.1:${portOf(server)}/ca.crt`;
    return state;
  }

  it('has the hash that kubeadm prints, and is fetched without encryption and without a warning', async () => {
    const ca = await served(first.caPem);
    const { connection, log } = await connected(reference(ca.url, [hashOf(first)]));
    expect(await send(connection)).toBe(200);
    expect(log.lines).toEqual([]);
  });

  it('is not trusted if its key is another one, and is fetched again with the next request', async () => {
    const ca = await served(second.caPem);
    await api.restart(await localCertificate(second));
    const { connection } = await connected(reference(ca.url, [hashOf(first)]));
    const failure = connection.authorize({ signal: never });
    await expect(failure).rejects.toMatchObject({
      code: 'CLUSTER_CERTIFICATE',
      message: `${ca.url} has no trusted certificate: its key must have the hash ${hashOf(first)}, not ${hashOf(second)}`,
    });
    ca.body = first.caPem;
    await api.restart(await localCertificate(first));
    expect(await send(connection)).toBe(200);
    expect(ca.requests).toBe(2);
  });

  it('is trusted without the other certificates that come with it', async () => {
    const ca = await served(`${second.caPem}\n${first.caPem}`);
    const { connection } = await connected(reference(ca.url, [hashOf(first)]));
    expect(await send(connection)).toBe(200);
    await api.restart(await localCertificate(second));
    await expect(send(connection)).rejects.toThrow(unverified);
  });

  it('may be one of several, for a change of the CA', async () => {
    const ca = await served(first.caPem);
    const { connection, clock } = await connected(reference(ca.url, [hashOf(first), hashOf(second)]));
    expect(await send(connection)).toBe(200);
    await api.restart(await localCertificate(second));
    ca.body = second.caPem;
    clock.advance(60_000);
    expect(await send(connection)).toBe(200);
  });

  it('stays in use while another one is served', async () => {
    const ca = await served(first.caPem);
    const { connection, clock, log } = await connected(reference(ca.url, [hashOf(first)]));
    await send(connection);
    await api.restart(await localCertificate(second));
    ca.body = second.caPem;
    clock.advance(60_000);
    await expect(send(connection)).rejects.toThrow(unverified);
    expect(log.lines).toEqual([expect.stringContaining(`not ${hashOf(second)}`)]);
    await api.restart(await localCertificate(first));
    expect(await send(connection)).toBe(200);
  });

  it('may be a file', async () => {
    await writeFile(join(dir, 'ca.pem'), first.caPem);
    const { connection } = await connected(reference(`file://${dir}/ca.pem`, [hashOf(first)]));
    expect(await send(connection)).toBe(200);
    await expect(connected(reference(`file://${dir}/ca.pem`, [hashOf(second)]))).rejects.toThrow(
      `${dir}/ca.pem has no trusted certificate`,
    );
  });
});

/** The hash of the public key's DER (SubjectPublicKeyInfo), as in `kubeadm token create --print-join-command`. */
function hashOf({ caPem }: { readonly caPem: string }): string {
  const key = new X509Certificate(caPem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** Accepts requests without an answer, or without its end. */
async function startSilent(begin: (response: ServerResponse) => void = () => {}): Promise<Server> {
  const server = createHttpServer((_request, response) => begin(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
