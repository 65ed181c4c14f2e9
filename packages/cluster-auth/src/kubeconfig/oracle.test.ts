import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { type Cluster, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../dependencies.ts';
import { openKubeconfig } from './access.ts';

/** The settings on which both readers must agree. PEM is compared without white space at its ends. */
type Reading = {
  server: string;
  ca: string | undefined;
  tlsServerName: string | undefined;
  proxy: string | undefined;
  authorization: string | undefined;
  cert: string | undefined;
  key: string | undefined;
  impersonated: string | undefined;
};

const authority = await createAuthority();
const { certPem, keyPem } = await authority.issue({ usage: 'client', commonName: 'jane' });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const east = { server: 'https://east:6443', 'certificate-authority-data': base64(authority.caPem) };

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kubeconfig-oracle-'));
  const files = { 'ca.pem': authority.caPem, 'cert.pem': certPem, 'key.pem': keyPem, token: 'from-file' };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(dir, name), text)));
});
afterAll(() => rm(dir, { recursive: true }));

const log = { info: () => {}, warn: () => {} };

/** How a kubeconfig is used by us. */
async function routeBy(path: string, env: Readonly<Record<string, string>> = {}) {
  const lifetime = new AbortController().signal;
  const deps = { env, log, clock: systemClock, secrets: { hold: () => {} }, lifetime };
  const routes = await openKubeconfig(path, deps, async (access) => ({ ...access, tunnel: undefined }));
  return routes.current();
}

async function readByUs(path: string): Promise<Reading> {
  const { server, ca, credentials, tlsServerName, proxy, headers } = await routeBy(path);
  const { authorization, keyPair } = await credentials.current();
  return {
    server: server.href,
    ca: (await ca.current())?.trim(),
    tlsServerName,
    proxy: proxy?.href,
    authorization,
    cert: keyPair?.certPem.trim(),
    key: keyPair?.keyPem.trim(),
    impersonated: headers?.['Impersonate-User'] as string | undefined,
  };
}

async function readByClientNode(path: string): Promise<Reading> {
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromFile(path);
  // client-node reads proxies only when it makes its agent, which isn't compared here.
  const { proxyUrl, ...cluster } = kubeconfig.getCurrentCluster() as Cluster;
  const direct = new KubeConfig();
  direct.loadFromClusterAndUser(cluster, kubeconfig.getCurrentUser() ?? { name: 'none' });
  const options: RequestOptions = {};
  await direct.applyToHTTPSOptions(options);
  const headers = options.headers as Record<string, string> | undefined;
  const text = (value: unknown) => (value == null ? undefined : String(value as Buffer).trim());
  return {
    server: new URL(cluster.server).href,
    ca: text(options.ca),
    tlsServerName: options.servername,
    proxy: proxyUrl === undefined ? undefined : new URL(proxyUrl).href,
    authorization: headers?.['Authorization'] ?? (options.auth ? `Basic ${base64(options.auth)}` : undefined),
    cert: text(options.cert),
    key: text(options.key),
    impersonated: headers?.['Impersonate-User'],
  };
}

async function writeKubeconfig(config: { cluster?: object; user?: object } & Record<string, unknown>): Promise<string> {
  const { cluster = east, user = {}, ...rest } = config;
  const path = join(dir, 'kubeconfig');
  const whole = {
    clusters: [
      { name: 'west', cluster: { server: 'https://west', 'certificate-authority-data': base64(authority.caPem) } },
      { name: 'east', cluster },
    ],
    users: [
      { name: 'joe', user: { token: 'not-this' } },
      { name: 'jane', user },
    ],
    contexts: [
      { name: 'first', context: { cluster: 'west', user: 'joe' } },
      { name: 'second', context: { cluster: 'east', user: 'jane', namespace: 'x' } },
    ],
    'current-context': 'second',
    ...rest,
  };
  await writeFile(path, JSON.stringify(whole));
  return path;
}

describe('our reading of a kubeconfig and that of client-node', () => {
  it.each([
    { name: 'a CA and a token in the file', config: { user: { token: 'abc' } } },
    { name: 'a context that is not the first', config: { 'current-context': 'first' } },
    { name: 'an anonymous user', config: { user: {} } },
    {
      name: 'a CA beside the file',
      config: { cluster: { server: 'https://east', 'certificate-authority': 'ca.pem' } },
    },
    { name: 'a slash at the end of the server', config: { cluster: { ...east, server: 'https://east/k8s/' } } },
    {
      name: 'a client certificate beside the file',
      config: { user: { 'client-certificate': 'cert.pem', 'client-key': './key.pem' } },
    },
    {
      name: 'a client certificate in the file',
      config: { user: { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) } },
    },
    { name: 'a user name and a password', config: { user: { username: 'jane', password: 'p:w' } } },
    { name: 'tls-server-name', config: { cluster: { ...east, 'tls-server-name': 'api.internal' } } },
    { name: 'proxy-url', config: { cluster: { ...east, 'proxy-url': 'http://proxy:3128' } } },
    { name: 'a user that acts as another', config: { user: { token: 'abc', as: 'ops' } } },
  ])('agree on $name', async ({ config }) => {
    const path = await writeKubeconfig(config);
    expect(await readByUs(path)).toEqual(await readByClientNode(path));
  });

  it('differ on tokenFile, which client-node ignores: its requests are anonymous', async () => {
    const path = await writeKubeconfig({ user: { tokenFile: 'token' } });
    expect((await readByUs(path)).authorization).toBe('Bearer from-file');
    expect((await readByClientNode(path)).authorization).toBeUndefined();
  });

  it('differ without a CA: we use the roots of the machine, client-node those of Node.js', async () => {
    const path = await writeKubeconfig({ cluster: { server: 'https://east' } });
    const { ca } = await routeBy(path, { SSL_CERT_FILE: join(dir, 'ca.pem') });
    expect((await ca.current())?.trim()).toBe(readFileSync(join(dir, 'ca.pem'), 'utf8').trim());
    expect((await readByClientNode(path)).ca).toBeUndefined();
  });

  it('differ on as-groups, which client-node ignores', async () => {
    const path = await writeKubeconfig({ user: { as: 'ops', 'as-groups': ['dev'] } });
    expect((await routeBy(path)).headers).toEqual({
      'Impersonate-User': 'ops',
      'Impersonate-Group': ['dev'],
    });
    const kubeconfig = new KubeConfig();
    kubeconfig.loadFromFile(path);
    const options: RequestOptions = {};
    await kubeconfig.applyToHTTPSOptions(options);
    expect(options.headers).toEqual({ 'Impersonate-User': 'ops' });
  });

  it('differ on insecure-skip-tls-verify, which client-node obeys', async () => {
    const path = await writeKubeconfig({ cluster: { server: 'https://east', 'insecure-skip-tls-verify': true } });
    await expect(readByUs(path)).rejects.toThrow('insecure-skip-tls-verify, which is not allowed');
    await expect(readByClientNode(path)).resolves.toMatchObject({ server: 'https://east/' });
  });
});
