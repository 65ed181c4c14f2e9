import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { beforeEach, describe, expect, it } from 'vitest';
import { ClusterAuthError, type ClusterReference, connect, type Environment } from '../src/index.ts';
import { Recorder, temporaryFolder, writeConfig } from './world.ts';

const authority = await createAuthority();
const base64 = (text: string) => Buffer.from(text).toString('base64');
const east = { server: 'https://east:6443', 'certificate-authority-data': base64(authority.caPem) };

let dir: string;

beforeEach(async () => {
  dir = await temporaryFolder();
  await writeFile(join(dir, 'ca.pem'), authority.caPem);
  await writeFile(join(dir, 'token'), 'token');
  await writeFile(join(dir, 'empty'), '\n');
  await writeFile(join(dir, 'html'), '<html>secret</html>');
});

/** What `connect` rejects with, the test's folder written as DIR. */
async function failureOf(
  reference: ClusterReference,
  env: Environment = {},
): Promise<{ code: string; message: string }> {
  const error: unknown = await connect(reference, { env, log: new Recorder(), serviceAccountDir: dir }).then(
    (connection) => connection.close(),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ClusterAuthError)) throw new Error('it did not fail as it should', { cause: error });
  expect(String(error)).not.toContain('secret');
  return { code: error.code, message: error.message.replaceAll(dir, 'DIR') };
}

describe('connect by the API URL', () => {
  const files = { apiUrl: 'https://east', caUrl: 'file://DIR/ca.pem', token: { path: 'DIR/token' } };

  it.each([
    {
      name: 'http',
      fields: { apiUrl: 'http://east' },
      code: 'CLUSTER_ADDRESS',
      want: 'the API URL must be an https: URL and is an http: one: credentials are not sent without TLS, except to this machine (localhost, 127.0.0.1)',
    },
    {
      name: 'no URL',
      fields: { apiUrl: 'https://' },
      code: 'CLUSTER_ADDRESS',
      want: 'the API URL is not a URL such as https://host:6443',
    },
    {
      name: 'a CA by a path',
      fields: { caUrl: '/etc/ca.pem' },
      code: 'CLUSTER_ADDRESS',
      want: 'the CA URL must be an https:, http: or file: URL',
    },
    {
      name: 'a CA of another machine',
      fields: { caUrl: 'file://host/ca.pem' },
      code: 'CLUSTER_ADDRESS',
      want: 'the CA URL file://host/ca.pem names no file of this machine: write file:///path/to/ca.crt',
    },
    {
      name: 'a CA that is missing',
      fields: { caUrl: 'file://DIR/no.pem' },
      code: 'CLUSTER_FILE',
      want: "DIR/no.pem can't be read: there is no such file (ENOENT)",
    },
    {
      name: 'a CA that is none',
      fields: { caUrl: 'file://DIR/html' },
      code: 'CLUSTER_CERTIFICATE',
      want: 'DIR/html holds no PEM certificate',
    },
    {
      name: 'a token that is missing',
      fields: { token: { path: 'DIR/no' } },
      code: 'CLUSTER_FILE',
      want: "DIR/no can't be read: there is no such file (ENOENT)",
    },
    {
      name: 'a token that is a folder',
      fields: { token: { path: 'DIR' } },
      code: 'CLUSTER_FILE',
      want: "DIR can't be read: it is a folder (EISDIR)",
    },
    {
      name: 'an empty token',
      fields: { token: { path: 'DIR/empty' } },
      code: 'CLUSTER_TOKEN',
      want: 'the token file DIR/empty is empty',
    },
    {
      name: 'a token that is none',
      fields: { token: { value: 'secret secret' } },
      code: 'CLUSTER_TOKEN',
      want: 'the service account token holds no token: there are spaces or control characters in it',
    },
  ])('refuses $name', async ({ fields, code, want }) => {
    const text = JSON.stringify({ kind: 'api-server', ...files, ...fields }).replaceAll('DIR', dir);
    expect(await failureOf(JSON.parse(text) as ClusterReference)).toEqual({ code, message: want });
  });

  it('refuses a proxy that is none, and names its variable', async () => {
    const text = JSON.stringify({ kind: 'api-server', ...files }).replaceAll('DIR', dir);
    const env = { HTTPS_PROXY: 'ftp://user:secret@proxy' };
    const want = 'HTTPS_PROXY must be an http:, https: or socks5: URL and is an ftp: one';
    expect(await failureOf(JSON.parse(text) as ClusterReference, env)).toEqual({
      code: 'CLUSTER_ADDRESS',
      message: want,
    });
  });

  it('does not ask a CA on the network', async () => {
    const reference = {
      kind: 'api-server',
      apiUrl: 'https://east',
      caUrl: 'https://127.0.0.1:1/ca.crt',
      token: { value: 't' },
    } as const;
    const connection = await connect(reference, { env: {}, log: new Recorder() });
    await expect(connection.authorize({ signal: new AbortController().signal })).rejects.toThrow(
      "the CA can't be fetched from https://127.0.0.1:1/ca.crt: connection refused (ECONNREFUSED)",
    );
    connection.close();
  });
});

describe('connect in a cluster', () => {
  it('refuses to where there is no pod', async () => {
    expect(await failureOf({ kind: 'in-cluster' })).toEqual({
      code: 'CLUSTER_NO_POD',
      message: 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod, name a kubeconfig',
    });
  });

  it('names the file that a pod lacks', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(await failureOf({ kind: 'in-cluster' }, env)).toEqual({
      code: 'CLUSTER_FILE',
      message: "DIR/ca.crt can't be read: there is no such file (ENOENT)",
    });
  });

  it('writes the brackets of an IPv6 API server', async () => {
    await writeFile(join(dir, 'ca.crt'), authority.caPem);
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const connection = await connect({ kind: 'in-cluster' }, { env, log: new Recorder(), serviceAccountDir: dir });
    expect(connection.server.href).toBe('https://[fd00::1]/');
    connection.close();
  });
});

describe('connect by a kubeconfig', () => {
  const atEast = 'kubeconfig DIR/kubeconfig: cluster "east"';
  const atJane = 'kubeconfig DIR/kubeconfig: user "jane"';

  it.each([
    {
      name: 'a server without TLS',
      cluster: { server: 'http://east:8080' },
      code: 'CLUSTER_ADDRESS',
      want: `${atEast}: server must be an https: URL and is an http: one: credentials are not sent without TLS, except to this machine (localhost, 127.0.0.1)`,
    },
    {
      name: 'a proxy before a server without TLS',
      cluster: { server: 'http://127.0.0.1:8001', 'proxy-url': 'http://proxy:3128' },
      code: 'CLUSTER_ADDRESS',
      want: 'http://127.0.0.1:8001 is on this machine and without TLS: it is not reached through a proxy, leave out proxy-url',
    },
    {
      name: 'a proxy that is none',
      cluster: { ...east, 'proxy-url': 'ftp://proxy' },
      code: 'CLUSTER_ADDRESS',
      want: `${atEast}: proxy-url must be an http:, https: or socks5: URL and is an ftp: one`,
    },
    {
      name: 'a CA that is none',
      cluster: { server: 'https://east', 'certificate-authority-data': base64('secret') },
      code: 'CLUSTER_CERTIFICATE',
      want: `${atEast}: certificate-authority-data holds no PEM certificate`,
    },
    {
      name: 'a CA file that is missing',
      cluster: { server: 'https://east', 'certificate-authority': 'no.pem' },
      code: 'CLUSTER_FILE',
      want: "DIR/no.pem can't be read: there is no such file (ENOENT)",
    },
    {
      name: 'a key that is none',
      user: { 'client-certificate': 'ca.pem', 'client-key-data': base64('secret') },
      code: 'CLUSTER_CERTIFICATE',
      want: `${atJane}: client-key-data is no PEM key`,
    },
    {
      name: 'a token that is none',
      user: { token: 'secret secret' },
      code: 'CLUSTER_TOKEN',
      want: `${atJane}: token holds no token: there are spaces or control characters in it`,
    },
    {
      name: 'a token file that is missing',
      user: { tokenFile: 'no' },
      code: 'CLUSTER_FILE',
      want: "DIR/no can't be read: there is no such file (ENOENT)",
    },
    {
      name: 'insecure-skip-tls-verify',
      cluster: { ...east, 'insecure-skip-tls-verify': true },
      code: 'CLUSTER_KUBECONFIG',
      want: `${atEast} has insecure-skip-tls-verify, which is refused: give certificate-authority(-data) instead`,
    },
    {
      name: 'a provider without an issuer',
      user: { 'auth-provider': { name: 'oidc', config: { 'client-id': 'kube' } } },
      code: 'CLUSTER_KUBECONFIG',
      want: `${atJane}: auth-provider oidc needs a client-id, and an https: URL as idp-issuer-url`,
    },
    {
      name: 'a provider whose token is none',
      user: {
        'auth-provider': {
          name: 'oidc',
          config: { 'client-id': 'kube', 'idp-issuer-url': 'https://i', 'id-token': 'secret' },
        },
      },
      code: 'CLUSTER_TOKEN',
      want: `${atJane}: auth-provider oidc: id-token is no JWT with an exp`,
    },
  ])('refuses $name', async ({ cluster = east, user = {}, code, want }) => {
    const path = await writeConfig(dir, cluster, user);
    expect(await failureOf({ kind: 'kubeconfig', path })).toEqual({ code, message: want });
  });

  it('names the kubeconfig that is missing', async () => {
    expect(await failureOf({ kind: 'kubeconfig', path: join(dir, 'no') })).toEqual({
      code: 'CLUSTER_FILE',
      message: "DIR/no can't be read: there is no such file (ENOENT)",
    });
  });

  it('refuses roots that are none, and names their variable', async () => {
    const path = await writeConfig(dir, { server: 'https://east' }, {});
    expect(await failureOf({ kind: 'kubeconfig', path }, { SSL_CERT_FILE: join(dir, 'html') })).toEqual({
      code: 'CLUSTER_CERTIFICATE',
      message: 'SSL_CERT_FILE DIR/html holds no PEM certificate',
    });
  });
});
