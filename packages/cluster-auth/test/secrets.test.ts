import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { Secrets } from '@kube-semaphore/text';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../src/index.ts';
import { ApiServer, localCertificate } from './api-server.ts';
import { connected, send, temporaryFolder, writeConfig } from './world.ts';

const authority = await createAuthority();
const { certPem, keyPem } = await authority.issue({ usage: 'client', commonName: 'jane' });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const keyLine = keyPem.split('\n')[1]!;

async function serverAndFolder() {
  const api = await ApiServer.start(await localCertificate(authority));
  onTestFinished(() => api[Symbol.asyncDispose]());
  const dir = await temporaryFolder();
  const cluster = { server: api.url, 'certificate-authority-data': base64(authority.caPem) };
  return { api, dir, cluster };
}

it.each([
  { name: 'a token', user: { token: 'the-token-of-jane-1' }, secrets: ['the-token-of-jane-1'] },
  {
    name: 'a password',
    user: { username: 'jane', password: 'correct-horse-battery' },
    secrets: ['correct-horse-battery', base64('jane:correct-horse-battery')],
  },
  {
    name: 'a private key',
    user: { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) },
    secrets: [keyLine],
  },
])('$name is known as a secret before it is sent', async ({ user, secrets: values }) => {
  const { dir, cluster } = await serverAndFolder();
  const { connection, secrets } = await connected({ kind: 'kubeconfig', path: await writeConfig(dir, cluster, user) });
  await connection.authorize({ signal: new AbortController().signal });
  expect(values.map((value) => secrets.strip(value))).toEqual(values.map(() => '[redacted]'));
  expect(secrets.strip('jane and certificates, which are public')).toBe('jane and certificates, which are public');
});

it('a rotated token stays a secret while answers may repeat it', async () => {
  const { dir, cluster } = await serverAndFolder();
  const tokenFile = join(dir, 'token');
  const tokens = ['first-1-', 'second-2-', 'third-3-'].map((word) => word.repeat(3));
  await writeFile(tokenFile, tokens[0]!);
  const { connection, secrets, clock } = await connected({
    kind: 'kubeconfig',
    path: await writeConfig(dir, cluster, { tokenFile }),
  });
  for (const token of tokens) {
    await writeFile(tokenFile, token);
    clock.advance(60_000);
    await send(connection);
  }
  expect(tokens.map((token) => secrets.strip(token))).toEqual([tokens[0], '[redacted]', '[redacted]']);
});

it('what is sent to a token issuer is a secret', async () => {
  const { api, dir, cluster } = await serverAndFolder();
  const config = {
    'client-id': 'kube',
    'client-secret': 'the-secret-of-the-client',
    'refresh-token': 'the-refresh-token-of-jane',
    'idp-issuer-url': `${api.url}/realm`,
    'idp-certificate-authority-data': base64(authority.caPem),
  };
  const { connection, secrets } = await connected({
    kind: 'kubeconfig',
    path: await writeConfig(dir, cluster, { 'auth-provider': { name: 'oidc', config } }),
  });
  // The issuer's answer is an error, but what was sent to it is a secret.
  await expect(connection.authorize({ signal: new AbortController().signal })).rejects.toThrow('got no id-token');
  expect(secrets.strip('the-secret-of-the-client the-refresh-token-of-jane')).toBe('[redacted] [redacted]');
});

it('the password of a proxy is a secret', async () => {
  const { dir, cluster } = await serverAndFolder();
  const path = await writeConfig(
    dir,
    { ...cluster, 'proxy-url': 'http://jane:pass%20word-of-the-proxy@127.0.0.1:1' },
    { token: 'x' },
  );
  const { secrets } = await connected({ kind: 'kubeconfig', path });
  expect(secrets.strip('word-of-the-proxy')).toBe('[redacted]');
  expect(secrets.strip(base64('jane:pass word-of-the-proxy'))).toBe('[redacted]');
});

it('a closed connection is not kept for its secrets, which stay secrets', async () => {
  const { dir, cluster } = await serverAndFolder();
  const token = 'the-token-of-jane-1';
  const path = await writeConfig(dir, cluster, { token });
  const secrets = new Secrets();
  const open = async (): Promise<WeakRef<object>> => {
    const log = { info: () => undefined, warn: () => undefined };
    const connection = await connect({ kind: 'kubeconfig', path }, { env: {}, log, secrets });
    await connection.authorize({ signal: new AbortController().signal });
    connection.close();
    return new WeakRef(connection);
  };
  const closed = await open();
  await setImmediate(); // until then, the weak reference keeps it
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  expect(closed.deref()).toBeUndefined();
  expect(secrets.strip(`refused ${token}`)).toBe('refused [redacted]');
});
