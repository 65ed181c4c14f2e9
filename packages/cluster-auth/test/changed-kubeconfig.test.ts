import { existsSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { mountFiles } from '@kube-semaphore/testkit';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServer, localCertificate } from './api-server.ts';
import { configOf, connected, open, send, temporaryFolder } from './world.ts';

const authority = await createAuthority();
const otherAuthority = await createAuthority();
const certificate = await localCertificate(authority);
const never = new AbortController().signal;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const caOf = ({ caPem }: { caPem: string }) => ({ 'certificate-authority-data': base64(caPem) });

let api: ApiServer;
let dir: string;

/** @param clientCa PEM that verifies client certificates, which it then requires */
async function started(clientCa?: string): Promise<ApiServer> {
  const server = await ApiServer.start(certificate, clientCa);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

beforeEach(async () => {
  api = await started();
  dir = await temporaryFolder();
});

/** Publishes a kubeconfig as kubelet does it with a mounted Secret. */
const mount = (cluster: object, user: object): Promise<void> => mountText(configOf(cluster, user));
const mountText = (text: string): Promise<void> => mountFiles(dir, { kubeconfig: text });

const connect = (options?: Parameters<typeof connected>[1]) =>
  connected({ kind: 'kubeconfig', path: join(dir, 'kubeconfig') }, options);

async function certificateOf(commonName: string): Promise<object> {
  const { certPem, keyPem } = await authority.issue({ usage: 'client', commonName });
  return { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) };
}

const cluster = () => ({ server: api.url, ...caOf(authority) });

describe('a kubeconfig in a mounted Secret is read again, and', () => {
  it('its new token is sent, while a watch continues', async () => {
    await mount(cluster(), { token: 'first' });
    const { connection, clock } = await connect();
    const watch = await open(connection.server, await connection.authorize({ signal: never }), '/watch');
    const { sameServer } = connection;
    await mount(cluster(), { token: 'other' });
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer other');
    expect(watch.destroyed).toBe(false);
    expect(connection.sameServer).toBe(sameServer);
    expect(sameServer?.aborted).toBe(false);
  });

  it('its new token is sent after a 401 in the same second', async () => {
    await mount(cluster(), { token: 'first' });
    const { connection, clock } = await connect();
    await send(connection);
    clock.advance(1_000);
    api.refuses = ({ authorization }) => authorization === 'Bearer first';
    expect(await send(connection)).toBe(401);
    await mount(cluster(), { token: 'other' });
    clock.advance(1_000);
    expect(await send(connection)).toBe(200);
  });

  it('its new client certificate is presented in a new connection', async () => {
    api = await started(authority.caPem);
    await mount(cluster(), await certificateOf('before'));
    const { connection, clock } = await connect();
    await send(connection);
    expect(api.last?.client).toBe('before');
    await mount(cluster(), await certificateOf('after'));
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.client).toBe('after');
  });

  it('its new CA verifies the server', async () => {
    await mount({ server: api.url, ...caOf(otherAuthority) }, { token: 't' });
    const { connection, clock } = await connect();
    await expect(send(connection)).rejects.toMatchObject({ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' });
    await mount(cluster(), { token: 't' });
    clock.advance(1_000);
    expect(await send(connection)).toBe(200);
  });

  it('its new server gets the requests, and the old one no more, not even those of an open watch', async () => {
    await mount(cluster(), { token: 'first' });
    const { connection, clock } = await connect();
    const watch = await open(connection.server, await connection.authorize({ signal: never }), '/watch');
    watch.on('error', () => {});
    const { sameServer } = connection;
    const other = await started();
    await mount({ server: other.url, ...caOf(authority) }, { token: 'second' });
    clock.advance(1_000);
    await send(connection);
    expect(other.last?.authorization).toBe('Bearer second');
    expect(connection.server.href).toBe(`${other.url}/`);
    expect(api.seen.map(({ authorization }) => authorization)).toEqual(['Bearer first']);
    expect([watch.destroyed, sameServer?.aborted, connection.sameServer?.aborted]).toEqual([true, true, false]);
  });

  it('no credential goes to a server that it is not for, whatever changes during a request', async () => {
    await mount(cluster(), { token: 'first' });
    const { connection, clock } = await connect();
    const before = await connection.authorize({ signal: never });
    const other = await started();
    await mount({ server: other.url, ...caOf(authority) }, { token: 'second' });
    clock.advance(1_000);
    const after = await connection.authorize({ signal: never });
    const sent = [before, after].map(({ server, headers }) => [server.href, headers['authorization']]);
    expect(sent).toEqual([
      [`${api.url}/`, 'Bearer first'],
      [`${other.url}/`, 'Bearer second'],
    ]);
  });

  it('no token of a plugin goes to a server that the kubeconfig names since the plugin began', async () => {
    const folder = await temporaryFolder();
    const [plugin, began, mayEnd] = ['plugin', 'began', 'may-end'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const apiVersion = 'client.authentication.k8s.io/v1';
    const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: 'first' } });
    const script = `touch ${began}; until [ -e ${mayEnd} ]; do sleep 0.1; done; echo '${credential}'`;
    await writeFile(plugin, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await mount(cluster(), { exec: { apiVersion, interactiveMode: 'Never', command: plugin } });
    const { connection, clock } = await connect({ env: { PATH: process.env['PATH'] } });
    const asked = connection.authorize({ signal: never });
    await eventually(() => existsSync(began), true);
    const other = await started();
    await mount({ server: other.url, ...caOf(authority) }, { token: 'second' });
    clock.advance(1_000);
    await connection.authorize({ signal: never });
    await writeFile(mayEnd, '');
    const { server, headers } = await asked;
    expect([server.href, headers['authorization']]).toEqual([`${other.url}/`, 'Bearer second']);
  });

  it('nothing is opened again if another context of it changed', async () => {
    await mount(cluster(), { token: 'first' });
    const { connection, clock, log } = await connect();
    const before = await connection.authorize({ signal: never });
    const config = JSON.parse(configOf(cluster(), { token: 'first' })) as { users: object[] };
    config.users.push({ name: 'joe', user: { token: 'of-joe' } });
    await mountText(JSON.stringify(config));
    clock.advance(1_000);
    expect(await connection.authorize({ signal: never })).toBe(before);
    expect(log.lines).toEqual([]);
  });
});

describe('a changed kubeconfig that is invalid', () => {
  it.each([
    { what: 'is no YAML', text: '{', words: 'is not valid YAML' },
    { what: 'has no server', text: configOf({}, { token: 'x' }), words: 'has no server' },
    {
      what: 'has a certificate without a key',
      text: configOf({ server: 'https://127.0.0.1:1' }, { 'client-certificate-data': 'eA==' }),
      words: 'without client-key',
    },
    {
      what: 'names a token file that is missing',
      text: configOf({ server: 'https://127.0.0.1:1' }, { tokenFile: 'gone' }),
      words: 'there is no such file',
    },
  ])('stays out of use, with one warning, if it $what', async ({ text, words }) => {
    await mount(cluster(), { token: 'first' });
    const { connection, clock, log } = await connect();
    expect(await connection.isStale?.()).toBe(false);
    await mountText(text);
    for (let second = 0; second < 3; second++) {
      clock.advance(1_000);
      expect(await send(connection)).toBe(200);
    }
    expect(api.last?.authorization).toBe('Bearer first');
    expect(log.lines).toEqual([expect.stringContaining(words)]);
    expect(await connection.isStale?.()).toBe(true);

    await mount(cluster(), { token: 'second' });
    clock.advance(1_000);
    expect(await connection.isStale?.()).toBe(false);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer second');
    expect(log.lines.join()).not.toMatch(/first|second/);
  });

  it('stays out of use while it is missing, or anyone may write it', async () => {
    const path = join(dir, 'kubeconfig');
    await writeFile(path, configOf(cluster(), { token: 'first' }));
    const { connection, clock, log } = await connect();
    await writeFile(path, configOf(cluster(), { token: 'second' }));
    await chmod(path, 0o666);
    clock.advance(1_000);
    await send(connection);
    await rm(path);
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer first');
    expect(log.lines).toEqual([
      expect.stringContaining('anyone may write it'),
      expect.stringContaining('there is no such file'),
    ]);
  });
});

describe('another server in a kubeconfig', () => {
  it('is used only if it is confirmed, with the credentials of the new content', async () => {
    await mount(cluster(), { token: 'first' });
    const other = await started();
    let refuses = true;
    const { connection, clock, log } = await connect({
      confirmServer: async (candidate) => {
        await send(candidate, '/who');
        if (refuses) throw new Error('another cluster');
      },
    });
    await mount({ server: other.url, ...caOf(authority) }, { token: 'second' });
    clock.advance(1_000);
    await send(connection);
    expect(api.last).toMatchObject({ path: '/', authorization: 'Bearer first' });
    expect(other.last).toMatchObject({ path: '/who', authorization: 'Bearer second' });
    expect(await connection.isStale?.()).toBe(true);
    expect(log.lines).toEqual([expect.stringContaining('another cluster')]);

    refuses = false;
    clock.advance(1_000);
    expect(await connection.isStale?.()).toBe(false);
    await send(connection);
    expect(other.last).toMatchObject({ path: '/', authorization: 'Bearer second' });
  });

  it('is not asked for a change of anything else', async () => {
    await mount(cluster(), { token: 'first' });
    const { connection, clock } = await connect({ confirmServer: () => Promise.reject(new Error('asked')) });
    await mount(cluster(), { token: 'second' });
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer second');
  });
});
