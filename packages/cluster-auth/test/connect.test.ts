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

/** The error of `connect`, with DIR in place of the test's folder. */
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
      want: 'the API URL must be an https: URL, not http: (http: only works for localhost and 127.0.0.1), as credentials need TLS',
    },
    {
      name: 'an invalid URL',
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
      name: 'a CA on another machine',
      fields: { caUrl: 'file://host/ca.pem' },
      code: 'CLUSTER_ADDRESS',
      want: 'the CA URL file://host/ca.pem must name a file on this machine, such as file:///path/to/ca.crt',
    },
    {
      name: 'a CA that is missing',
      fields: { caUrl: 'file://DIR/no.pem' },
      code: 'CLUSTER_FILE',
      want: "DIR/no.pem can't be read: there is no such file (ENOENT)",
    },
    {
      name: 'a CA without a certificate',
      fields: { caUrl: 'file://DIR/html' },
      code: 'CLUSTER_CERTIFICATE',
      want: 'DIR/html has no PEM certificate',
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
      name: 'a token with a space',
      fields: { token: { value: 'secret secret' } },
      code: 'CLUSTER_TOKEN',
      want: 'the service account token is not a valid token: it has spaces or control characters',
    },
  ])('refuses $name', async ({ fields, code, want }) => {
    const text = JSON.stringify({ kind: 'api-server', ...files, ...fields }).replaceAll('DIR', dir);
    expect(await failureOf(JSON.parse(text) as ClusterReference)).toEqual({ code, message: want });
  });

  it('names the variable of an invalid proxy', async () => {
    const text = JSON.stringify({ kind: 'api-server', ...files }).replaceAll('DIR', dir);
    const env = { HTTPS_PROXY: 'ftp://user:secret@proxy' };
    const want = 'HTTPS_PROXY must be an http:, https: or socks5: URL, not ftp:';
    expect(await failureOf(JSON.parse(text) as ClusterReference, env)).toEqual({
      code: 'CLUSTER_ADDRESS',
      message: want,
    });
  });

  it('fetches no CA from the network', async () => {
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
  it('refuses outside of a Pod', async () => {
    expect(await failureOf({ kind: 'in-cluster' })).toEqual({
      code: 'CLUSTER_NO_POD',
      message: 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: outside of a Pod, name a kubeconfig',
    });
  });

  it('names the file that a Pod lacks', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(await failureOf({ kind: 'in-cluster' }, env)).toEqual({
      code: 'CLUSTER_FILE',
      message: "DIR/ca.crt can't be read: there is no such file (ENOENT)",
    });
  });

  it('adds brackets to an IPv6 address', async () => {
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
      want: `${atEast}: server must be an https: URL, not http: (http: only works for localhost and 127.0.0.1), as credentials need TLS`,
    },
    {
      name: 'a proxy before a server without TLS',
      cluster: { server: 'http://127.0.0.1:8001', 'proxy-url': 'http://proxy:3128' },
      code: 'CLUSTER_ADDRESS',
      want: 'http://127.0.0.1:8001 is on this machine and has no TLS, so no proxy can be used: remove proxy-url',
    },
    {
      name: 'an invalid proxy',
      cluster: { ...east, 'proxy-url': 'ftp://proxy' },
      code: 'CLUSTER_ADDRESS',
      want: `${atEast}: proxy-url must be an http:, https: or socks5: URL, not ftp:`,
    },
    {
      name: 'a CA without a certificate',
      cluster: { server: 'https://east', 'certificate-authority-data': base64('secret') },
      code: 'CLUSTER_CERTIFICATE',
      want: `${atEast}: certificate-authority-data has no PEM certificate`,
    },
    {
      name: 'a CA file that is missing',
      cluster: { server: 'https://east', 'certificate-authority': 'no.pem' },
      code: 'CLUSTER_FILE',
      want: "DIR/no.pem can't be read: there is no such file (ENOENT)",
    },
    {
      name: 'an invalid key',
      user: { 'client-certificate': 'ca.pem', 'client-key-data': base64('secret') },
      code: 'CLUSTER_CERTIFICATE',
      want: `${atJane}: client-key-data is not a PEM key`,
    },
    {
      name: 'a token with a space',
      user: { token: 'secret secret' },
      code: 'CLUSTER_TOKEN',
      want: `${atJane}: token is not a valid token: it has spaces or control characters`,
    },
    {
      name: 'a token file that is missing',
      user: { tokenFile: 'no' },
      code: 'CLUSTER_FILE',
      want: "DIR/no can't be read: there is no such file (ENOENT)",
    },
    {
      name: 'insecure-skip-tls-verify',
      cluster: { server: east.server, 'insecure-skip-tls-verify': true },
      code: 'CLUSTER_KUBECONFIG',
      want: `${atEast} has insecure-skip-tls-verify, which is not allowed: use certificate-authority(-data) instead`,
    },
    {
      name: 'a provider without an issuer',
      user: { 'auth-provider': { name: 'oidc', config: { 'client-id': 'kube' } } },
      code: 'CLUSTER_KUBECONFIG',
      want: `${atJane}: auth-provider oidc must have a client-id, and an https: URL as idp-issuer-url`,
    },
    {
      name: 'a provider with an invalid token',
      user: {
        'auth-provider': {
          name: 'oidc',
          config: { 'client-id': 'kube', 'idp-issuer-url': 'https://i', 'id-token': 'secret' },
        },
      },
      code: 'CLUSTER_TOKEN',
      want: `${atJane}: auth-provider oidc: id-token is not a JWT with an exp`,
    },
  ])('refuses $name', async ({ cluster = east, user = {}, code, want }) => {
    const path = await writeConfig(dir, cluster, user);
    expect(await failureOf({ kind: 'kubeconfig', path })).toEqual({ code, message: want });
  });

  it('names a missing kubeconfig', async () => {
    expect(await failureOf({ kind: 'kubeconfig', path: join(dir, 'no') })).toEqual({
      code: 'CLUSTER_FILE',
      message: "DIR/no can't be read: there is no such file (ENOENT)",
    });
  });

  it('names the variable of invalid roots', async () => {
    const path = await writeConfig(dir, { server: 'https://east' }, {});
    expect(await failureOf({ kind: 'kubeconfig', path }, { SSL_CERT_FILE: join(dir, 'html') })).toEqual({
      code: 'CLUSTER_CERTIFICATE',
      message: 'SSL_CERT_FILE DIR/html has no PEM certificate',
    });
  });
});
