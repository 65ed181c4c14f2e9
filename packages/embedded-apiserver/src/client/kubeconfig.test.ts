import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Credentials, kubeconfig, writeKubeconfig } from './kubeconfig.ts';

const common = { name: 'c1', url: 'https://127.0.0.1:6443', caPem: 'CA' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

it.each([
  { name: 'a token', credentials: { token: 't' }, user: { token: 't' } },
  { name: 'the name of a file', credentials: { tokenFile: '/run/token' }, user: { tokenFile: '/run/token' } },
  {
    name: 'a client certificate',
    credentials: { certificate: { certPem: 'CERT', keyPem: 'KEY' } },
    user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
  },
] satisfies { name: string; credentials: Credentials; user: object }[])('holds $name', ({ credentials, user }) => {
  expect(JSON.parse(kubeconfig({ ...common, credentials }))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c1', cluster: { server: common.url, 'certificate-authority-data': base64('CA') } }],
    users: [{ name: 'c1', user }],
    contexts: [{ name: 'c1', context: { cluster: 'c1', user: 'c1' } }],
    'current-context': 'c1',
  });
});

it('is readable by its owner only', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const file = await writeKubeconfig(join(dir, 'config'), { ...common, credentials: { token: 't' } });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  rmSync(dir, { recursive: true });
});
