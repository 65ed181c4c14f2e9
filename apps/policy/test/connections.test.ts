import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { describe, expect, onTestFinished } from 'vitest';
import { it, itBehindProxies } from './support/it.ts';

/** The flags of a remote without a kubeconfig, except the token. */
const direct = ({ url, caFile }: Pick<TestCluster, 'url' | 'caFile'>) => ({
  'target-kube-config': undefined,
  'remote-api-url': url,
  'remote-ca-url': pathToFileURL(caFile).href,
});

const UNENCRYPTED = 'CA is fetched without encryption; anyone on the network path can replace it';

/** Serves a cluster's CA at an http: URL. */
async function servedCa({ caFile }: TestCluster): Promise<string> {
  const ca = await readFile(caFile);
  const server = createServer((_, response) => void response.end(ca)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ca.crt`;
}

async function caHash({ caFile }: TestCluster): Promise<string> {
  const { publicKey } = new X509Certificate(await readFile(caFile));
  return `sha256:${createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')}`;
}

const pod = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const nets = { 'c2-default-app': ['10.4.0.1/32'] };

describe('a remote without a kubeconfig', () => {
  it('is reached by its URL, its CA and a token, each in a file', async ({ accounts, remote, pods, sets, start }) => {
    await pods.add(pod);
    await start({ ...direct(remote), 'remote-sa-token-path': accounts.remote.tokenFile });
    await sets.become(nets);
  });

  it.for(['SP_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH', 'KPS_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH'])(
    'has the file of its token in %s, as with Go',
    async (name, { accounts, remote, pods, sets, start }) => {
      await pods.add(pod);
      await start(direct(remote), { env: { [name]: accounts.remote.tokenFile } });
      await sets.become(nets);
    },
  );

  it.for(['SP_REMOTE_SERVICE_ACCOUNT_TOKEN', 'KPS_REMOTE_SERVICE_ACCOUNT_TOKEN'])(
    'has its token in %s, as with Go',
    async (name, { accounts, remote, pods, sets, start }) => {
      await pods.add(pod);
      await start(direct(remote), { env: { [name]: accounts.remote.token } });
      await sets.become(nets);
    },
  );

  it('can have its CA at an http: URL, with a warning', async ({ accounts, remote, pods, sets, start }) => {
    await pods.add(pod);
    const token = { 'remote-sa-token-path': accounts.remote.tokenFile };
    const policy = await start({ ...direct(remote), 'remote-ca-url': await servedCa(remote), ...token });
    await sets.become(nets);
    await policy.logged(UNENCRYPTED, { level: 'warn' });
  });

  it('can have its CA at an http: URL without a warning, with the hash of its key', async ({
    accounts,
    remote,
    pods,
    sets,
    start,
  }) => {
    await pods.add(pod);
    const token = { 'remote-sa-token-path': accounts.remote.tokenFile };
    const pinned = { 'remote-ca-url': await servedCa(remote), 'remote-ca-cert-hash': await caHash(remote) };
    const policy = await start({ ...direct(remote), ...pinned, ...token });
    await sets.become(nets);
    expect(policy.log().filter(({ msg }) => msg === UNENCRYPTED)).toEqual([]);
  });

  it('gets no request if its CA has another hash', async ({ accounts, local, remote, start }) => {
    const token = { 'remote-sa-token-path': accounts.remote.tokenFile };
    const pinned = { 'remote-ca-url': await servedCa(remote), 'remote-ca-cert-hash': await caHash(local) };
    const policy = await start({ ...direct(remote), ...pinned, ...token }, { ready: false });
    const line = await policy.logged('watch failed', { cluster: 'c2' });
    expect(JSON.stringify(line)).toContain(
      `its key must have the hash ${await caHash(local)}, not ${await caHash(remote)}`,
    );
  });

  it('is not trusted with a certificate of another CA', async ({ accounts, local, remote, start }) => {
    const caOfAnother = { 'remote-ca-url': pathToFileURL(local.caFile).href };
    const token = { 'remote-sa-token-path': accounts.remote.tokenFile };
    const policy = await start({ ...direct(remote), ...caOfAnother, ...token }, { ready: false });
    const line = await policy.logged('watch failed', { cluster: 'c2', reason: 'unreachable' });
    expect(JSON.stringify(line)).toMatch(/its certificate is not signed by a trusted CA/);
    // Node.js would suggest a flag.
    expect(policy.stderr()).not.toContain('--use-system-ca');
  });
});

describe('an API server whose certificate has another name', () => {
  it('is reported with the names in it, and how to set one', async ({ accounts, remote, start }) => {
    const file = join(remote.dir, 'other-name.kubeconfig');
    const config = await readFile(accounts.remote.kubeconfig, 'utf8');
    await writeFile(file, config.replace('"server": ', '"tls-server-name": "10.9.8.7", "server": '));
    const policy = await start({ 'target-kube-config': file }, { ready: false });
    const line = await policy.logged('watch failed', { cluster: 'c2', reason: 'unreachable' });
    const error = JSON.stringify(line);
    expect(error).toMatch(/its certificate is for another name: it is for .*127\.0\.0\.1.*, not 10\.9\.8\.7; /);
    expect(error).toContain('use one of its names in the URL, or as tls-server-name in a kubeconfig');
  });
});

describe('an API server without TLS', () => {
  it('is watched on this machine, as behind kubectl proxy, with a warning', async ({
    accounts,
    remote,
    pods,
    sets,
    start,
  }) => {
    const agent = new https.Agent({ ca: await readFile(remote.caFile), keepAlive: true });
    const server = createServer(({ method, url, headers }, response) => {
      const authorization = `Bearer ${accounts.remote.token}`;
      const onward = https.request(
        `${remote.url}${url}`,
        { agent, method, headers: { ...headers, authorization } },
        (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      onward.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const file = join(remote.dir, 'plain.kubeconfig');
    const config = {
      clusters: [{ name: 'c', cluster: { server: url } }],
      users: [{ name: 'u' }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(file, JSON.stringify(config));
    await pods.add(pod);
    const policy = await start({ 'target-kube-config': file });
    await sets.become(nets);
    await policy.logged('API server is used without TLS; any local process on its port can impersonate it', {
      level: 'warn',
      server: url,
    });
    await pods.add({ ...pod, name: 'b', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
  });
});

describe('a token', () => {
  itBehindProxies(
    'is in no log, no help and no metric',
    async ({ accounts, remoteProxy, pods, sets, start, startWith }) => {
      const { token } = accounts.remote;
      const env = { SP_REMOTE_SERVICE_ACCOUNT_TOKEN: token };
      await pods.add(pod);
      const policy = await start({ ...direct(remoteProxy), 'log-level': 'trace' }, { env });
      await sets.become(nets);
      // A token is most likely to leak into the log of a failure.
      await remoteProxy.set({ kind: 'refuse' });
      await policy.logged('watch failed', { cluster: 'c2' });
      const help = await startWith(['-help'], { env, ready: false });
      await help.exited;
      const metrics = await policy.get('/metrics');
      for (const text of [policy.stderr(), policy.stdout(), metrics.body, help.stdout()]) {
        expect(text).not.toContain(token.slice(-12));
      }
    },
  );

  it('that the remote refuses is not repeated', async ({ remote, start }) => {
    const env = { SP_REMOTE_SERVICE_ACCOUNT_TOKEN: 'token-of-another-cluster' };
    const policy = await start(direct(remote), { env, ready: false });
    await policy.logged('watch failed', { cluster: 'c2', reason: 'denied' });
    expect(policy.stderr()).not.toContain('another-cluster');
  });

  it('that is not valid is not repeated', async ({ remote, start }) => {
    const env = { SP_REMOTE_SERVICE_ACCOUNT_TOKEN: 'two words-of-a-secret' };
    const policy = await start(direct(remote), { env, ready: false });
    expect(await policy.exited).toEqual({ code: 2, signal: null });
    expect(policy.stderr()).toContain('SP_REMOTE_SERVICE_ACCOUNT_TOKEN');
    expect(policy.stderr()).not.toContain('words-of-a-secret');
  });

  it('has no flag, and is not repeated if one was tried', async ({ startWith }) => {
    const policy = await startWith(['-remote-sa-token', 'words-of-a-secret'], { ready: false });
    expect(await policy.exited).toEqual({ code: 2, signal: null });
    expect(policy.stderr()).toContain('unknown flag -remote-sa-token');
    expect(policy.stderr()).not.toContain('words-of-a-secret');
  });

  it('in a file is read again after it was refused', async ({ accounts, remote, pods, sets, start }) => {
    const file = join(remote.dir, 'renewed.token');
    await writeFile(file, 'not-yet-a-token', { mode: 0o600 });
    await pods.add(pod);
    const policy = await start({ ...direct(remote), 'remote-sa-token-path': file }, { ready: false });
    await policy.logged('watch failed', { cluster: 'c2', reason: 'denied' });
    await writeFile(file, accounts.remote.token);
    await sets.become(nets);
  });
});
