import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { run } from './support/run.ts';

const secrets = [
  `eyJhbGciOiJSUzI1NiJ9.${'claims09'.repeat(12)}.${'sig-_x'.repeat(9)}`,
  'hunter2-hunter2-hunter2',
  Buffer.alloc(32, 'private-of-wireguard').toString('base64'),
  'abcdef.0123456789abcdef',
  Buffer.from('private key of a certificate').toString('base64').repeat(6),
  // Nothing shows that it is one.
  'correct horse battery staple',
];
const [token, password, key, bootstrap, pem, unmarked] = secrets;
const spilled = `Authorization: Bearer ${token}, password=${password} wg ${key} join ${bootstrap} https://joe:${password}@x
-----BEGIN RSA PRIVATE KEY-----\n${pem}\n-----END RSA PRIVATE KEY-----\nthe last line`;

/** It clears a screen, writes to the clipboard, reverses text, and hides a part of it. */
const steering = '\u001b[2J\u001b]52;c;cm0=\u0007 \u202e\u2066\u200b\u009b31m\r\b\u0000';

/** With secrets wherever an object may have them. */
const metadata = (name: string) => ({
  name,
  namespace: 'kube-system',
  labels: { app: 'semaphore-policy', spilled },
  annotations: { 'kubectl.kubernetes.io/last-applied-configuration': unmarked, 'mirror-svc-source': spilled },
  managedFields: [{ manager: unmarked }],
});

const list = (kind: string, item: object) => ({
  apiVersion: 'v1',
  kind: `${kind}List`,
  metadata: { resourceVersion: '1' },
  items: [item],
});

const apps = 'semaphore-policy,semaphore-service-mirror,semaphore-wireguard';
const containers = [
  { env: [{ name: 'A', value: unmarked }], args: [unmarked], ports: [{ name: 'http', containerPort: 8080 }] },
];
const objects = {
  '/version': { gitVersion: 'v1.34.0' },
  [`/api/v1/pods?app in (${apps})`]: list('Pod', { metadata: metadata('policy-0'), spec: { containers } }),
  '/api/v1/services?mirrored-svc=true': list('Service', {
    metadata: metadata('c2-shop-73736d-web'),
    spec: { selector: { a: spilled } },
  }),
  '/api/v1/nodes': list('Node', { metadata: metadata('n1') }),
  '/api/v1/secrets': list('Secret', { metadata: metadata('s'), data: { unmarked } }),
  '/api/v1/configmaps': list('ConfigMap', { metadata: metadata('s'), data: { unmarked } }),
  '/api/v1/namespaces/kube-system/pods/policy-0/log': `the first line${steering}\r\n${spilled}\n`,
};
const status = policyPage({ lastError: { time: '2026-01-01T00:00:00.000Z', message: spilled } });

const gather = async (served: object, answer: number | (() => string) = () => status) =>
  gatherFrom(
    await startApiServer({
      pods: [{ app: 'semaphore-policy', name: 'policy-0', status: answer }],
      objects: { ...served },
    }),
  );

/** Runs it, and extracts the archive. @returns what `run` does, and all texts by path */
async function gatherFrom(server: string) {
  const dir = await mkdtemp(join(tmpdir(), 'semaphore-gather-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const kubeconfig = await kubeconfigOf({ '../c1': server }, '../c1');
  const file = join(dir, 'bug.tar.gz');
  const result = await run('gather', '--kubeconfig', kubeconfig, '-o', file);
  const paths = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n');
  const texts = new Map(paths.map((path) => [path, execFileSync('tar', ['-xzOf', file, path], { encoding: 'utf8' })]));
  return { ...result, file, kubeconfig, texts };
}

/** All pieces of secrets. */
const piecesIn = (text: string): readonly string[] =>
  secrets
    .flatMap((secret) => Array.from({ length: secret.length - 11 }, (_, at) => secret.slice(at, at + 12)))
    .filter((piece) => text.includes(piece));

describe('gather', () => {
  it('writes versions, objects, statuses and logs, without a piece of any secret', async () => {
    const { code, stdout, stderr, file, texts } = await gather(objects);
    expect([code, stdout, stderr]).toEqual([0, `wrote ${file}\n`, '']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const cluster = 'semaphore-gather/0-.._c1';
    const text = (path: string) => texts.get(`${cluster}/${path}`);
    expect(text('version.json')).toContain('v1.34.0');
    expect(text('mirrors.json')).toContain('c2-shop-73736d-web');
    expect(text('0-policy-0.status.json')).toContain('"remotes"');
    expect(text('0-policy-0.log')).toMatch(/^the first line\\u001b\[2J[^]*\n[^]*\nthe last line\n$/);
    const all = [...texts.values()].join('\n');
    expect(piecesIn(all)).toEqual([]);
    expect(all).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  it('writes no secret that a refusal repeats', async () => {
    const { code, stderr, texts } = await gatherFrom(await startApiServer({ refusal: 403, message: spilled }));
    expect([code, texts.get('semaphore-gather/failures.txt')]).toEqual([1, stderr.replaceAll(/^semaphore: /gm, '')]);
    expect(stderr).toContain('lacks a right');
    expect(piecesIn(stderr)).toEqual([]);
  });

  it('names what it can not read, and does not replace a file', async () => {
    const { '/version': _, '/api/v1/namespaces/kube-system/pods/policy-0/log': __, ...others } = objects;
    const { code, stderr, texts, file, kubeconfig } = await gather(others, 503);
    expect([code, stderr.split('\n')]).toEqual([
      1,
      [
        'semaphore: ../c1: there is no /version',
        "semaphore: ../c1: kube-system/policy-0 doesn't report its status: it is away",
        "semaphore: ../c1: kube-system/policy-0 doesn't report its log: it is away",
        '',
      ],
    ]);
    expect(texts.get('semaphore-gather/failures.txt')).toBe(stderr.replaceAll(/^semaphore: /gm, ''));
    expect(await run('gather', '--kubeconfig', kubeconfig, '-o', file)).toEqual({
      code: 2,
      stdout: '',
      stderr: `semaphore: ${file} can't be written (EEXIST): set -o to another file\n`,
    });
  });
});
