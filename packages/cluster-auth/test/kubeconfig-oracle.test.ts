import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { goesWithoutKubectl } from '@kube-semaphore/testkit';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextOf, loadKubeconfigs, type MergedKubeconfig } from '../src/index.ts';
import { ApiServer, localCertificate, type Sighting } from './api-server.ts';
import { askByKubectl, kubectl } from './kubectl.ts';
import { connected, send, temporaryFolder, writeConfig } from './world.ts';

const { ORACLE_SEED, ORACLE_KUBECONFIGS = '40' } = process.env;
const seed = Number(ORACLE_SEED ?? Math.floor(Math.random() * 2 ** 31));
const numRuns = Number(ORACLE_KUBECONFIGS);

const authority = await createAuthority();
const clients = await createAuthority('client CA');
const jane = await clients.issue({ usage: 'client', commonName: 'jane' });
const server = await localCertificate(authority);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What kubectl prints; undefined if it refuses. */
function printed(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile(kubectl, [...argv], { env }, (error, stdout) => resolve(error === null ? stdout : undefined));
  return promise;
}

/** Entries by name, and the current context. Undefined: refused. */
type Merged = Readonly<Record<'contexts' | 'clusters' | 'users', Readonly<Record<string, object>>>> & {
  readonly current: string;
};

type View = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[] | null>> & {
  'current-context': string;
};

async function mergedByKubectl(env: Readonly<Record<string, string>>): Promise<Merged | undefined> {
  const text = await printed(['config', 'view', '--raw', '-o', 'json'], env);
  if (text === undefined) return undefined;
  const view = JSON.parse(text) as View;
  const named = (plural: string, kind: string) =>
    Object.fromEntries((view[plural] ?? []).map((each) => [each['name'] as string, each[kind] as object]));
  return {
    contexts: named('contexts', 'context'),
    clusters: named('clusters', 'cluster'),
    users: named('users', 'user'),
    current: view['current-context'],
  };
}

async function mergedByUs(env: Readonly<Record<string, string>>): Promise<Merged | undefined> {
  let config: MergedKubeconfig;
  try {
    config = await loadKubeconfigs(undefined, env);
  } catch {
    return undefined;
  }
  const named = <T>(all: ReadonlyMap<string, { readonly value: T }>, shown: (value: T) => object) =>
    Object.fromEntries([...all].map(([name, { value }]) => [name, shown(value)]));
  return {
    contexts: named(config.contexts, ({ cluster = '', user = '' }) => ({ cluster, user })),
    clusters: named(config.clusters, ({ server: url = '', 'certificate-authority': ca }) => ({
      server: url,
      'certificate-authority': ca,
    })),
    users: named(config.users, ({ token, tokenFile }) => ({ token, tokenFile })),
    current: config.currentContext ?? '',
  };
}

const NAMES = ['a', 'b', 'c'] as const;
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | ''> =>
  fc.oneof(value, fc.constantFrom(null, '' as const));
const file = fc.constantFrom('x.pem', './x.pem', '../x.pem', '/etc/x.pem');
const entries = (kind: string, value: fc.Arbitrary<object>) =>
  fc
    .array(fc.record({ name: fc.constantFrom(...NAMES), [kind]: value }), { maxLength: 3 })
    // Few files have a name twice: each ends the comparison.
    .chain((all) => {
      const unique = [...new Map(all.map((each) => [each.name, each])).values()];
      return fc.oneof({ weight: 15, arbitrary: fc.constant(unique) }, { weight: 1, arbitrary: fc.constant(all) });
    });
const config = fc.record(
  {
    kind: maybe(fc.constant('Config')),
    apiVersion: maybe(fc.constant('v1')),
    'current-context': maybe(fc.constantFrom(...NAMES)),
    contexts: entries(
      'context',
      fc.record(
        { cluster: maybe(fc.constantFrom(...NAMES)), user: maybe(fc.constantFrom(...NAMES)) },
        { requiredKeys: [] },
      ),
    ),
    clusters: entries(
      'cluster',
      fc.record({ server: maybe(fc.webUrl()), 'certificate-authority': maybe(file) }, { requiredKeys: [] }),
    ),
    users: entries(
      'user',
      fc.record({ token: maybe(fc.constantFrom('t', 'u')), tokenFile: maybe(file) }, { requiredKeys: [] }),
    ),
  },
  { requiredKeys: [] },
);
/** The text of a file by its path; undefined for one that is missing. */
const list = fc.array(
  fc.tuple(
    fc.constantFrom('one', 'two', 'sub/three', 'sub/sub/four'),
    fc.oneof(
      { weight: 6, arbitrary: config.map((each) => JSON.stringify(each)) },
      { weight: 1, arbitrary: fc.constantFrom('', '\n', '# nothing\n', 'null', '[]', 'kind: Pod') },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
  ),
  { minLength: 1, maxLength: 4 },
);

/** What the server saw; or that the request was refused before it. */
type Seen = Pick<Sighting, 'authorization' | 'client'> & { readonly impersonation: readonly string[] };

function seenOf({ authorization, client, rawHeaders }: Sighting): Seen {
  const lines = rawHeaders.flatMap((name, i) =>
    // HTTP compares names without regard to case, and Go sends those of a map in any order.
    /^impersonate/i.test(name) ? [`${name.toLowerCase()}: ${rawHeaders[i + 1]}`] : [],
  );
  return { authorization, client, impersonation: lines.toSorted() };
}

async function started(): Promise<ApiServer> {
  const api = await ApiServer.start(server, clients.caPem, true);
  onTestFinished(() => api[Symbol.asyncDispose]());
  return api;
}

/** What a server sees of a user from kubectl, from an app, and from `semaphore`. */
async function seenOfAll(api: ApiServer, dir: string, user: object, cluster: object = {}) {
  const ca = { 'certificate-authority-data': base64(authority.caPem) };
  const path = await writeConfig(dir, { server: api.url, ...ca, ...cluster }, user);
  const env = { PATH: process.env['PATH'] ?? '' };
  const seenAfter = async (request: () => Promise<unknown>): Promise<Seen | 'refused'> => {
    api.seen.length = 0;
    await request().catch(() => {});
    return api.last === undefined ? 'refused' : seenOf(api.last);
  };
  let words = '';
  return {
    kubectl: await seenAfter(async () => ({ words } = await askByKubectl(path, env))),
    words,
    app: await seenAfter(async () => send((await connected({ kind: 'kubeconfig', path }, { env })).connection)),
    semaphore: await seenAfter(async () => {
      const context = contextOf(await loadKubeconfigs(path, env));
      return send((await connected({ kind: 'context', context }, { env })).connection);
    }),
  };
}

/** Writes a plugin that prints an ExecCredential. */
async function writePlugin(dir: string, status: object | null): Promise<object> {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const path = join(dir, 'plugin');
  await writeFile(
    path,
    `#!/bin/sh\ncat <<'END'\n${JSON.stringify({ kind: 'ExecCredential', apiVersion, status })}\nEND\n`,
  );
  await chmod(path, 0o755);
  return { apiVersion, command: './plugin', interactiveMode: 'Never', args: null, env: null, installHint: '' };
}

const certificate = { 'client-certificate-data': base64(jane.certPem), 'client-key-data': base64(jane.keyPem) };
const text = maybe(fc.constantFrom('x', 'jäne', 'a,b', 'a b'));
const randomUser = fc.record(
  {
    token: maybe(fc.constantFrom('t', 'u')),
    tokenFile: maybe(fc.constantFrom('token', 'empty', 'missing')),
    certificate: fc.constantFrom(true, false),
    username: text,
    password: text,
    as: text,
    'as-uid': maybe(fc.constant('7')),
    'as-groups': fc.oneof(fc.constant(null), fc.array(text, { maxLength: 2 })),
    'as-user-extra': fc.oneof(
      fc.constant(null),
      fc.dictionary(
        fc.constantFrom('scopes', 'acme.com/why', 'Ä%'),
        fc.oneof(fc.constant(null), fc.array(text, { maxLength: 2 })),
      ),
    ),
    exec: fc.constantFrom(true, null),
    extensions: fc.constant([{ name: 'x', extension: {} }]),
  },
  { requiredKeys: [] },
);

describe.skipIf(goesWithoutKubectl)('as kubectl', () => {
  it('kubeconfigs of a list are merged', { timeout: 0 }, async () => {
    let refusals = 0;
    for (const [i, files] of fc.sample(list, { seed, numRuns }).entries()) {
      const dir = await temporaryFolder();
      for (const [path, content] of files) {
        await mkdir(dirname(join(dir, path)), { recursive: true });
        if (content !== undefined) await writeFile(join(dir, path), content);
      }
      const paths = files.map(([path]) => join(dir, path));
      const env = { HOME: dir, KUBECONFIG: ['', ...paths, ''].join(':') };
      const [theirs, ours] = await Promise.all([mergedByKubectl(env), mergedByUs(env)]);
      const about = `ORACLE_SEED=${seed}, list ${i}: ${JSON.stringify(files)}`;
      expect({ about, ours }).toEqual({ about, ours: theirs });
      if (theirs === undefined) refusals++;
    }
    // Otherwise the comparison says nothing.
    expect(refusals).toBeLessThan(numRuns / 2);
  });

  it('paths begin at the file that has them', async () => {
    const api = await started();
    const dir = await temporaryFolder();
    const exec = await writePlugin(dir, { token: 'not-this' });
    const texts = {
      'first/config': {
        'current-context': 'main',
        clusters: [{ name: 'east', cluster: { server: api.url, 'certificate-authority': 'ca.pem' } }],
      },
      'second/config': {
        'current-context': 'other',
        users: [{ name: 'jane', user: { tokenFile: '../second/token', exec } }],
      },
      'third/config': {
        contexts: [{ name: 'main', context: { cluster: 'east', user: 'jane' } }],
        clusters: [{ name: 'east', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [{ name: 'jane', user: { tokenFile: 'token' } }],
      },
    };
    for (const [path, content] of Object.entries(texts)) {
      await mkdir(dirname(join(dir, path)));
      await writeFile(join(dir, path), JSON.stringify(content));
      await writeFile(join(dir, dirname(path), 'token'), path);
    }
    await writeFile(join(dir, 'first/ca.pem'), authority.caPem);
    const paths = ['missing', ...Object.keys(texts)].map((path) => join(dir, path));
    const env = { PATH: process.env['PATH'] ?? '', KUBECONFIG: paths.join(':') };
    expect(await printed(['get', '--raw', '/'], env)).toBe('ok');
    const context = contextOf(await loadKubeconfigs(undefined, env));
    await send((await connected({ kind: 'context', context }, { env })).connection);
    expect(api.seen.map(({ authorization }) => authorization)).toEqual(Array(2).fill('Bearer second/config'));
  });

  it('a user is sent, or refused', { timeout: 0 }, async () => {
    const api = await started();
    const dir = await temporaryFolder();
    await writeFile(join(dir, 'token'), 'from-file\n');
    await writeFile(join(dir, 'empty'), '\n');
    const exec = await writePlugin(dir, { token: 'from-plugin' });
    let refusals = 0;
    for (const [i, random] of fc.sample(randomUser, { seed, numRuns }).entries()) {
      const { certificate: hasCertificate, exec: hasExec, ...rest } = random;
      const user = { ...rest, ...(hasExec && { exec }), ...(hasCertificate && certificate) };
      const { kubectl: theirs, words, app, semaphore } = await seenOfAll(api, dir, user);
      const about = `ORACLE_SEED=${seed}, user ${i}: ${JSON.stringify(rest)}, ${hasExec}, ${hasCertificate}: ${words}`;
      // It may ask who we are, and its input has ended.
      const wanted = words === 'error: EOF' ? app : theirs;
      expect({ about, app, semaphore }).toEqual({ about, app: wanted, semaphore: wanted });
      if (theirs === 'refused') refusals++;
    }
    // Otherwise the comparison says nothing.
    expect(refusals).toBeLessThan(numRuns);
  });

  const plugin = { token: 't', clientCertificateData: jane.certPem, clientKeyData: jane.keyPem };
  it.each([
    { name: 'a token, and empty texts', status: { token: 't', clientCertificateData: '', clientKeyData: '' } },
    { name: 'a token, and null', status: { token: 't', clientCertificateData: null, expirationTimestamp: null } },
    { name: 'a certificate, and an empty token', status: { ...plugin, token: '' } },
    { name: 'a token and a certificate', status: plugin },
    { name: "Go's time zero", status: { token: 't', expirationTimestamp: '0001-01-01T00:00:00Z' } },
    { name: 'an empty time', status: { token: 't', expirationTimestamp: '' } },
    { name: 'only empty texts', status: { token: '', clientCertificateData: '', clientKeyData: '' } },
    { name: 'a certificate and an empty key', status: { ...plugin, clientKeyData: '' } },
    { name: 'an empty status', status: {} },
    { name: 'no status', status: null },
  ])('a plugin is used that prints $name', async ({ status }) => {
    const api = await started();
    const dir = await temporaryFolder();
    const {
      kubectl: theirs,
      app,
      semaphore,
      words,
    } = await seenOfAll(api, dir, { exec: await writePlugin(dir, status) });
    expect({ words, app, semaphore }).toEqual({ words, app: theirs, semaphore: theirs });
  });

  it.each([
    { name: 'a CA beside insecure-skip-tls-verify', cluster: { 'insecure-skip-tls-verify': true } },
    { name: 'an empty tls-server-name and proxy-url', cluster: { 'tls-server-name': '', 'proxy-url': null } },
    { name: 'another tls-server-name', cluster: { 'tls-server-name': 'other' } },
    { name: 'disable-compression', cluster: { 'disable-compression': true } },
    { name: 'a proxy of an unknown kind', cluster: { 'proxy-url': 'ftp://127.0.0.1' } },
    { name: 'a CA that is missing', cluster: { 'certificate-authority-data': null, 'certificate-authority': 'none' } },
    { name: 'a CA twice', cluster: { 'certificate-authority': 'kubeconfig' } },
    { name: 'no server', cluster: { server: '' } },
  ])('a cluster is used that has $name', async ({ cluster }) => {
    const api = await started();
    const {
      kubectl: theirs,
      app,
      semaphore,
      words,
    } = await seenOfAll(api, await temporaryFolder(), { token: 't' }, cluster);
    expect({ words, app, semaphore }).toEqual({ words, app: theirs, semaphore: theirs });
  });

  it('no credentials go to a server without TLS', async () => {
    const seen: unknown[] = [];
    const plain = createServer(({ headers }, response) => {
      seen.push([headers.authorization, headers['impersonate-user']]);
      response.end('ok');
    });
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    onTestFinished(() => void plain.close());
    const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    const path = await writeConfig(await temporaryFolder(), { server: url }, { token: 't', as: 'ops' });
    expect((await askByKubectl(path)).outcome).toBe('reached');
    const { connection } = await connected({ kind: 'kubeconfig', path });
    const { server: base, agent, headers } = await connection.authorize({ signal: new AbortController().signal });
    const [response] = (await once(get(base, { agent, headers }), 'response')) as [IncomingMessage];
    response.resume();
    expect(seen).toEqual(Array(2).fill([undefined, 'ops']));
  });

  it('insecure-skip-tls-verify is obeyed by semaphore, not by an app', async () => {
    const api = await started();
    const cluster = { 'certificate-authority-data': null, 'insecure-skip-tls-verify': true };
    const { kubectl: theirs, app, semaphore } = await seenOfAll(api, await temporaryFolder(), { token: 't' }, cluster);
    expect([semaphore, app]).toEqual([theirs, 'refused']);
    expect(theirs).not.toBe('refused');
  });
});
