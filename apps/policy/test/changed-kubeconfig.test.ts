import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { type Authority, createAuthority } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { mountFiles, watchRestarts } from '@kube-semaphore/testkit';
import { describe, expect, onTestFinished } from 'vitest';
import { remoteRules } from './support/accounts.ts';
import { itBehindProxies } from './support/it.ts';
import type { PolicyProcess } from './support/policy-process.ts';
import { isUp, prefix } from './support/remote-state.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The text of a kubeconfig. */
const configOf = (url: string, caPem: string, user: object): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

const clientCertificate = async (authority: Authority, commonName: string): Promise<object> => {
  const { certPem, keyPem } = await authority.issue({ usage: 'client', commonName });
  return { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) };
};

/** A test with the kubeconfig of the remote in a mounted Secret. */
const it = itBehindProxies.extend('secret', async ({ task: _task }, { onCleanup }) => {
  const dir = await mkdtemp(join(tmpdir(), 'mounted-'));
  onCleanup(() => rm(dir, { recursive: true }));
  return {
    flags: { 'target-kube-config': join(dir, 'kubeconfig') },
    write: (text: string) => mountFiles(dir, { kubeconfig: text }),
  };
});

type Front = {
  readonly authority: Authority;
  /** The common name of the client that is let in; default: all. */
  readonly client?: () => string;
  readonly token: string;
  readonly port?: number;
};

/** An API server with another certificate, which passes requests on with a token of its own. */
async function startFront(remote: { url: string; caFile: string }, { authority, client, token, port = 0 }: Front) {
  const names = { dnsNames: ['localhost'], ips: ['127.0.0.1'] };
  const { certPem, keyPem } = await authority.issue({ usage: 'server', commonName: 'front', ...names });
  const agent = new https.Agent({ ca: await readFile(remote.caFile), keepAlive: true });
  const tls = { cert: certPem, key: keyPem, ca: authority.caPem, requestCert: true, rejectUnauthorized: false };
  const server = https.createServer(tls, (request, response) => {
    const { method, url, headers } = request;
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    if (client !== undefined && subject?.CN !== client()) return void response.writeHead(401).end();
    const authorization = `Bearer ${token}`;
    const options = { agent, method, headers: { ...headers, authorization } };
    const onward = https.request(`${remote.url}${url}`, options, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  };
  onTestFinished(stop);
  const bound = (server.address() as AddressInfo).port;
  return { url: `https://127.0.0.1:${bound}`, port: bound, stop, cut: () => server.closeAllConnections() };
}

const a = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const b = { name: 'b', app: 'app', ips: ['10.4.0.2'] };
const first = { 'c2-default-app': ['10.4.0.1/32'] };
const both = { 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] };

const isStale = (policy: PolicyProcess) => policy.metric('semaphore_policy_config_stale');
const UNUSED = 'files can not be used; their last content stays in use';

describe('a kubeconfig that changes in a mounted Secret', () => {
  it('renews the token, and the log says that the old one is the reason now', async ({
    remote,
    pods,
    sets,
    secret,
    start,
  }) => {
    const ca = await readFile(remote.caFile, 'utf8');
    const old = await remote.account('old', remoteRules);
    const next = await remote.account('next', remoteRules);
    await secret.write(configOf(remote.url, ca, { token: old.token }));
    await pods.add(a);
    const policy = await start(secret.flags);
    await sets.become(first);
    await remote.admin.delete('/api/v1/namespaces/kube-system/serviceaccounts/old');
    await remote.restart();
    await policy.logged('watch failed', { cluster: 'c2', level: 'warn', reason: 'denied' });
    await pods.add(b);
    await secret.write(configOf(remote.url, ca, { token: next.token }));
    await sets.become(both);
    expect(await isStale(policy)).toBe(0);
    expect(policy.stderr()).not.toContain(next.token.slice(-12));
  });

  it('renews the client certificate', async ({ accounts, remote, pods, sets, secret, start }) => {
    const authority = await createAuthority();
    let client = 'before';
    const front = await startFront(remote, { authority, client: () => client, token: accounts.remote.token });
    const write = async () =>
      secret.write(configOf(front.url, authority.caPem, await clientCertificate(authority, client)));
    await write();
    await pods.add(a);
    const policy = await start(secret.flags);
    await sets.become(first);
    client = 'after';
    front.cut();
    await policy.logged('watch failed', { cluster: 'c2', reason: 'denied' });
    await pods.add(b);
    await write();
    await sets.become(both);
  });

  it('renews the CA', async ({ accounts, remote, pods, sets, secret, start }) => {
    const [before, after] = await Promise.all([createAuthority(), createAuthority()]);
    const { token } = accounts.remote;
    const front = await startFront(remote, { authority: before, token });
    await secret.write(configOf(front.url, before.caPem, { token: 'any' }));
    await pods.add(a);
    const policy = await start(secret.flags);
    await sets.become(first);
    front.stop();
    await startFront(remote, { authority: after, token, port: front.port });
    await pods.add(b);
    await eventually(() => policy.stderr().includes('its certificate is not signed by a trusted CA'), true);
    await secret.write(configOf(front.url, after.caPem, { token: 'any' }));
    await sets.become(both);
  });

  it('names another server of the cluster, which is listed at once, while the old one answers', async ({
    accounts,
    remote,
    remoteProxy,
    pods,
    sets,
    history,
    secret,
    start,
  }) => {
    const { token } = accounts.remote;
    await secret.write(configOf(remote.url, await readFile(remote.caFile, 'utf8'), { token }));
    await pods.add(a);
    const policy = await start(secret.flags);
    await sets.become(first);
    await secret.write(configOf(remoteProxy.url, await readFile(remoteProxy.caFile, 'utf8'), { token }));
    const asked = () => remoteProxy.requests().filter(({ target }) => target.includes('/pods'));
    await eventually(() => asked().length > 0, true);
    expect(asked()[0]?.target).not.toMatch(/[?&]resourceVersion=/);
    await pods.add(b);
    await sets.become(both);
    expect([await isUp(policy), await isStale(policy)]).toEqual([1, 0]);
    await history.caughtUp();
    expect([history.deletions(), history.gaps('app', ['10.4.0.1/32'])]).toEqual([[], []]);
  });

  it('is not used if it names a server of another cluster, which config_stale says', async ({
    accounts,
    local,
    remote,
    pods,
    sets,
    history,
    secret,
    start,
  }) => {
    const good = configOf(remote.url, await readFile(remote.caFile, 'utf8'), { token: accounts.remote.token });
    await secret.write(good);
    await pods.add(a);
    const policy = await start(secret.flags);
    await sets.become(first);
    const { token } = await local.account('strange', remoteRules);
    await secret.write(configOf(local.url, await readFile(local.caFile, 'utf8'), { token }));
    await eventually(() => isStale(policy), 1);
    const line = await policy.logged(UNUSED, { level: 'warn' });
    expect(JSON.stringify(line)).toMatch(/of the cluster of -local-kube-config.*; if that is right, restart to use it/);
    await pods.add(b);
    await sets.become(both);
    await secret.write(good);
    await eventually(() => isStale(policy), 0);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
  });

  it('is not used if it is invalid, which config_stale says', async ({
    accounts,
    remote,
    pods,
    sets,
    secret,
    start,
  }) => {
    const good = configOf(remote.url, await readFile(remote.caFile, 'utf8'), { token: accounts.remote.token });
    await secret.write(good);
    await pods.add(a);
    const policy = await start(secret.flags);
    await sets.become(first);
    await secret.write('{');
    await eventually(() => isStale(policy), 1);
    expect(JSON.stringify(await policy.logged(UNUSED, { level: 'warn' }))).toContain('is not valid YAML');
    await pods.add(b);
    await sets.become(both);
    await secret.write(good);
    await eventually(() => isStale(policy), 0);
  });
});

describe('connections that a load balancer ends all the time', () => {
  const cuts = (policy: PolicyProcess, reason: string) => watchRestarts(policy, { prefix, cluster: 'c2', reason });

  /** Whether the remote was ever down until so many watches ended, and what the log says of it. */
  async function seenUntil(policy: PolicyProcess, reason: string, times: number) {
    const seen = new Set<number | undefined>();
    await eventually(async () => {
      seen.add(await isUp(policy));
      return (await cuts(policy, reason)) >= times;
    }, true);
    const told = policy.log().filter(({ level, cluster }) => level === 'warn' && cluster === 'c2');
    return { up: [...seen], told };
  }

  it.for([
    { by: 'close', reason: 'cut' },
    { by: 'clean', reason: 'closed' },
  ] as const)(
    'by $by are counted, and are no outage',
    async ({ by, reason }, { remoteProxy, viaRemoteProxy, pods, sets, start }) => {
      await pods.add(a);
      const policy = await start(viaRemoteProxy);
      await sets.become(first);
      await remoteProxy.set({ kind: 'truncate', after: 0, by }, { verb: 'watch', target: /[?&]resourceVersion=/ });
      await remoteProxy.set({ kind: 'reset', connections: 'open' });
      // Each watch ends when it brings this.
      await pods.add(b);
      expect(await seenUntil(policy, reason, 5)).toEqual({ up: [1], told: [] });
      await remoteProxy.clear();
      await sets.become(both);
    },
  );

  it('by a reset are counted, and are no outage', async ({ remoteProxy, viaRemoteProxy, pods, sets, start }) => {
    await pods.add(a);
    const policy = await start(viaRemoteProxy);
    await sets.become(first);
    for (let times = 1; times <= 3; times++) {
      await remoteProxy.set({ kind: 'reset', connections: 'open' });
      expect(await seenUntil(policy, 'cut', times)).toEqual({ up: [1], told: [] });
      // What arrives shows that the next watch is open.
      await pods.relabel('a', `app-${times}`);
      await sets.become({ [`c2-default-app-${times}`]: ['10.4.0.1/32'] });
    }
  });
});
