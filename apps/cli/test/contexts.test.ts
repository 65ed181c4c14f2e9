import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { secretsOf } from '../src/clusters/access.ts';
import { contextsOf } from '../src/clusters/contexts.ts';
import { kubeClientOf } from '../src/clusters/kube-client.ts';
import { request } from '../src/clusters/objects.ts';
import { certificate, kubeconfigOf, startListening } from './support/api-server.ts';
import { runHere } from './support/run.ts';

const { signal } = new AbortController();

/** A kubeconfig whose current context has this user. @returns its path, and the headers of all requests */
async function recording(user: object) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(certificate, ({ headers }, response) => {
    seen.push(headers);
    response.end(JSON.stringify({ apiVersion: 'v1', kind: 'ServiceList', metadata: {}, items: [] }));
  });
  const path = await kubeconfigOf({ c1: `https://127.0.0.1:${await startListening(server)}` }, 'c1');
  const config = await readJson(path);
  await writeFile(path, JSON.stringify({ ...config, users: [{ name: 'c1-admin', user }] }));
  return { path, seen };
}

const readJson = async (path: string): Promise<object> => JSON.parse(await readFile(path, 'utf8')) as object;

async function folderOf(texts: Readonly<Record<string, object>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'semaphore-contexts-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  for (const [name, text] of Object.entries(texts)) await writeFile(join(dir, name), JSON.stringify(text));
  return dir;
}

function stub(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

const configOf = (name: string) => ({
  'current-context': 'main',
  contexts: [{ name: 'main', context: { cluster: 'main', user: 'main' } }],
  clusters: [{ name: 'main', cluster: { server: `https://${name}` } }],
  users: [{ name: 'main', user: { token: name } }],
});

it('of a list, the first kubeconfig wins', async () => {
  const dir = await folderOf({ prod: configOf('prod'), stage: configOf('stage') });
  stub({ KUBECONFIG: ['missing', 'prod', 'stage'].map((name) => join(dir, name)).join(':') });
  expect(await contextsOf({})).toMatchObject([{ name: 'main', server: 'https://prod' }]);
  expect(await contextsOf({ kubeconfig: join(dir, 'stage') })).toMatchObject([{ server: 'https://stage' }]);
});

it('each request impersonates, as the kubeconfig says, and its password is not repeated', async () => {
  const as = { as: 'ops', 'as-uid': '7', 'as-groups': ['dev'], 'as-user-extra': { 'acme.com/why': ['x'] } };
  const { path, seen } = await recording({ username: 'jane', password: 'a-long-password', ...as });
  const [context] = await contextsOf({ kubeconfig: path });
  for (const method of ['GET', 'DELETE'] as const) await request(context!, '/x', { signal }, { method });
  await (await kubeClientOf(context!)).getRaw('/y', { signal });
  expect(seen).toHaveLength(3);
  for (const headers of seen)
    expect(headers).toMatchObject({
      authorization: `Basic ${Buffer.from('jane:a-long-password').toString('base64')}`,
      'impersonate-user': 'ops',
      'impersonate-uid': '7',
      'impersonate-group': 'dev',
      'impersonate-extra-acme.com%2fwhy': 'x',
    });
  expect(secretsOf(context!).strip('it echoes a-long-password')).toBe('it echoes [redacted]');
});

it.each([
  { user: { 'auth-provider': { name: 'gcp' } }, want: /the auth-provider "gcp", which is not supported/ },
  { user: { token: 't', username: 'jane' }, want: /both token and username: remove one/ },
  { user: { 'as-groups': ['dev'] }, want: /as-uid, as-groups or as-user-extra without as/ },
])('a user is refused by name before any request: $user', async ({ user, want }) => {
  const { path, seen } = await recording(user);
  const { code, stderr } = await runHere({}, 'status', '--kubeconfig', path);
  expect([code, stderr, seen]).toEqual([2, expect.stringMatching(want), []]);
});

it('a Pod without a kubeconfig has its own cluster', async () => {
  stub({ HOME: '/dev/null', KUBECONFIG: '', KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' });
  const [context, ...others] = await contextsOf({});
  expect([context?.server, context?.reference.kind, others]).toEqual(['https://[fd00::1]:443', 'in-cluster', []]);
});
