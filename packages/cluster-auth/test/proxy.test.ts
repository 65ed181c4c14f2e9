import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ClusterReference } from '../src/index.ts';
import { ApiServer, localCertificate } from './api-server.ts';
import { startAnsweringProxy, startConnectProxy, startSocksProxy } from './proxies.ts';
import { connected, open, send, temporaryFolder, writeConfig } from './world.ts';

const authority = await createAuthority();
const web = await createAuthority('public CA');
const certificate = await authority.issue({
  usage: 'server',
  commonName: 'api',
  dnsNames: ['api.example.com'],
  ips: ['10.9.8.7', 'fd00::1'],
});

let api: ApiServer;
let dir: string;

beforeEach(async () => {
  api = await ApiServer.start(certificate);
  onTestFinished(() => api[Symbol.asyncDispose]());
  dir = await temporaryFolder();
});

/** Connects to a host that only the proxy can reach. */
async function connectedThrough(proxyUrl: string, { host = 'api.example.com', cluster = {}, env = {} } = {}) {
  const ca = Buffer.from(authority.caPem).toString('base64');
  const fields = {
    server: `https://${host}:6443`,
    'certificate-authority-data': ca,
    'proxy-url': proxyUrl,
    ...cluster,
  };
  const path = await writeConfig(dir, fields, { token: 'token' });
  return connected({ kind: 'kubeconfig', path }, { env });
}

describe('an HTTP proxy', () => {
  it('carries TLS to the API server, on kept-alive connections', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port });
    const { connection } = await connectedThrough(`http://127.0.0.1:${proxy.port}`);
    await send(connection);
    await send(connection);
    expect(proxy.asked).toEqual(['api.example.com:6443']);
    expect(api.seen).toMatchObject([{ serverName: 'api.example.com', authorization: 'Bearer token' }, {}]);
  });

  it('does not change how the API server is verified', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port });
    const { connection } = await connectedThrough(`http://127.0.0.1:${proxy.port}`, { host: 'other.example.com' });
    await expect(send(connection)).rejects.toThrow(expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }));
  });

  it('connects to IPv6 addresses', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port });
    const { connection } = await connectedThrough(`http://127.0.0.1:${proxy.port}`, { host: '[fd00::1]' });
    expect(await send(connection)).toBe(200);
    expect(proxy.asked).toEqual(['[fd00::1]:6443']);
  });

  it('gets the user and the password in its URL', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port, credentials: 'jane:p@ss' });
    const { connection } = await connectedThrough(`http://jane:p%40ss@127.0.0.1:${proxy.port}`);
    expect(await send(connection)).toBe(200);
  });

  it.each([
    { name: 'a refusal', proxy: { answer: 'HTTP/1.1 403 Forbidden\r\n\r\n' }, want: 'it answered 403' },
    { name: 'a wrong password', proxy: { credentials: 'a:b' }, want: 'it answered 407' },
    { name: 'an answer that is not HTTP', proxy: { answer: 'hello' }, want: 'HPE_INVALID_CONSTANT' },
  ])('is named in the error of $name, without its password', async ({ proxy: options, want }) => {
    const proxy = await startConnectProxy({ leadsTo: api.port, ...options });
    const { connection } = await connectedThrough(`http://jane:secret@127.0.0.1:${proxy.port}`);
    const failure = send(connection);
    await expect(failure).rejects.toMatchObject({ code: 'CLUSTER_PROXY' });
    await expect(failure).rejects.toThrow(
      `the proxy http://127.0.0.1:${proxy.port}/ opens no connection to api.example.com:6443: ${want}`,
    );
  });

  it('is named when its port is closed', async () => {
    const { connection } = await connectedThrough('http://127.0.0.1:1');
    await expect(send(connection)).rejects.toThrow('opens no connection to api.example.com:6443: connection refused');
  });

  it('that never answers is disconnected when the connection is closed', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port, answer: undefined });
    const { connection } = await connectedThrough(`http://127.0.0.1:${proxy.port}`);
    const request = send(connection);
    await eventually(() => proxy.asked.length > 0, true);
    connection.close();
    await expect(request).rejects.toThrow('aborted');
  });

  it('keeps a watch open', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port });
    const { connection } = await connectedThrough(`http://127.0.0.1:${proxy.port}`);
    const authorization = await connection.authorize({ signal: new AbortController().signal });
    const watch = await open(connection.server, authorization, '/watch');
    await send(connection);
    expect(proxy.asked).toHaveLength(2);
    expect(watch.destroyed).toBe(false);
  });
});

describe('an https: proxy', () => {
  it.each([
    { name: 'a root of this machine', signer: web },
    { name: "the cluster's own CA, as for Go", signer: authority },
  ])('is verified with $name', async ({ signer }) => {
    await writeFile(join(dir, 'roots.pem'), web.caPem);
    const proxy = await startConnectProxy({ leadsTo: api.port }, await localCertificate(signer));
    const env = { SSL_CERT_FILE: join(dir, 'roots.pem') };
    const { connection } = await connectedThrough(`https://localhost:${proxy.port}`, { env });
    expect(await send(connection)).toBe(200);
  });

  it('is refused when its certificate is for another name', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port }, certificate);
    const { connection } = await connectedThrough(`https://localhost:${proxy.port}`);
    await expect(send(connection)).rejects.toThrow('its certificate is for another name');
    expect(proxy.asked).toEqual([]);
  });
});

describe('a SOCKS5 proxy', () => {
  it.each([
    { name: 'names, which it resolves', host: 'api.example.com', want: `3 api.example.com 6443` },
    { name: 'IPv4 addresses', host: '10.9.8.7', want: '1 0a090807 6443' },
    { name: 'IPv6 addresses', host: '[fd00::1]', want: '4 fd000000000000000000000000000001 6443' },
  ])('accepts $name', async ({ host, want }) => {
    const proxy = await startSocksProxy({ leadsTo: api.port });
    const { connection } = await connectedThrough(`socks5://127.0.0.1:${proxy.port}`, { host });
    await send(connection);
    expect(await send(connection)).toBe(200);
    expect(proxy.asked).toEqual([want]);
  });

  it('gets the user and the password in its URL', async () => {
    const proxy = await startSocksProxy({ leadsTo: api.port, credentials: 'jane:pass' });
    const { connection } = await connectedThrough(`socks5://jane:pass@127.0.0.1:${proxy.port}`);
    expect(await send(connection)).toBe(200);
    const { connection: wrong } = await connectedThrough(`socks5://jane:secret@127.0.0.1:${proxy.port}`);
    await expect(send(wrong)).rejects.toThrow('it refused the user name and password');
    const { connection: without } = await connectedThrough(`socks5://127.0.0.1:${proxy.port}`);
    await expect(send(without)).rejects.toThrow('it requires another authentication');
  });

  it('is named when it does not speak SOCKS5', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port });
    const { connection } = await connectedThrough(`socks5://127.0.0.1:${proxy.port}`);
    await expect(send(connection)).rejects.toThrow('it does not speak SOCKS5');
  });

  it.each([
    { name: 'closes the connection', answers: [], want: 'it closed the connection' },
    { name: 'accepts no method', answers: [[5, 255]], want: 'it requires another authentication' },
    { name: 'selects a method that was not offered', answers: [[5, 1]], want: 'it requires another authentication' },
    {
      name: 'refuses',
      answers: [
        [5, 0],
        [5, 2, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
      want: 'NotAllowed',
    },
    {
      name: 'closes the connection late',
      answers: [
        [5, 0],
        [5, 0, 0, 1, 127],
      ],
      want: 'it closed the connection',
    },
  ])('is named when it $name, without its password', async ({ answers, want }) => {
    const { port } = await startAnsweringProxy(answers);
    const { connection } = await connectedThrough(`socks5://jane:secret@127.0.0.1:${port}`);
    const failure: unknown = await send(connection).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'CLUSTER_PROXY', message: expect.stringContaining(want) as string });
    expect((failure as Error).message).toContain(`the proxy socks5://127.0.0.1:${port}`);
    expect(inspect(failure, { depth: Infinity, showHidden: true })).not.toContain('secret');
  });

  it('is named when its port is closed', async () => {
    const { connection } = await connectedThrough('socks5://127.0.0.1:1');
    await expect(send(connection)).rejects.toThrow('opens no connection to api.example.com:6443: connection refused');
  });

  it('that never answers is disconnected when the connection is closed', async () => {
    const proxy = await startAnsweringProxy([[], []]);
    const { connection } = await connectedThrough(`socks5://127.0.0.1:${proxy.port}`);
    const request = send(connection);
    await eventually(() => proxy.asked.length > 0, true);
    connection.close();
    await expect(request).rejects.toThrow('aborted');
  });

  it.each([
    { name: 'password', login: `jane:${'x'.repeat(256)}` },
    { name: 'user name', login: `${'x'.repeat(256)}:pass` },
  ])('refuses a $name of more than 255 bytes', async ({ login }) => {
    const proxy = await startSocksProxy({ leadsTo: api.port, credentials: login });
    const { connection } = await connectedThrough(`socks5://${login}@127.0.0.1:${proxy.port}`);
    await expect(send(connection)).rejects.toThrow(
      'SOCKS5 allows host names, user names and passwords of at most 255 bytes',
    );
  });
});

describe('HTTPS_PROXY', () => {
  it('is used for the API server, as in client-go, unless NO_PROXY exempts that', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port });
    await writeFile(join(dir, 'ca.pem'), authority.caPem);
    const reference: ClusterReference = {
      kind: 'api-server',
      apiUrl: 'https://10.9.8.7:6443',
      caUrl: `file://${dir}/ca.pem`,
      token: { value: 'token' },
    };
    const { connection } = await connected(reference, { env: { HTTPS_PROXY: `127.0.0.1:${proxy.port}` } });
    expect(await send(connection)).toBe(200);
    expect(proxy.asked).toEqual(['10.9.8.7:6443']);
  });

  it('is used for the URL of a CA', async () => {
    const identity = await web.issue({ usage: 'server', commonName: 'ca', dnsNames: ['ca.example.com'] });
    const ca = await ApiServer.start(identity);
    onTestFinished(() => ca[Symbol.asyncDispose]());
    ca.body = authority.caPem;
    const proxy = await startConnectProxy({ leadsTo: ca.port });
    await writeFile(join(dir, 'roots.pem'), web.caPem);
    const env = { https_proxy: `http://127.0.0.1:${proxy.port}`, SSL_CERT_FILE: join(dir, 'roots.pem') };
    await api.restart(await localCertificate(authority));
    const reference: ClusterReference = {
      kind: 'api-server',
      apiUrl: api.url,
      caUrl: 'https://ca.example.com/ca.crt',
      token: { value: 'token' },
    };
    const { connection } = await connected(reference, { env });
    expect(await send(connection)).toBe(200);
    expect(proxy.asked).toEqual(['ca.example.com:443']);
  });

  it('is overridden by proxy-url', async () => {
    const proxy = await startConnectProxy({ leadsTo: api.port });
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    const { connection } = await connectedThrough(`http://127.0.0.1:${proxy.port}`, { env });
    expect(await send(connection)).toBe(200);
  });
});
