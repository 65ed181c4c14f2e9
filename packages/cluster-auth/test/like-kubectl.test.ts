import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { type Authority, type Certificate, createAuthority } from '@kube-semaphore/embedded-apiserver';
import { goesWithoutKubectl } from '@kube-semaphore/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextOf, loadKubeconfigs } from '../src/index.ts';
import { ApiServer, localCertificate } from './api-server.ts';
import { askByKubectl, type Outcome, outcomeOf } from './kubectl.ts';
import { startConnectProxy, startSocksProxy } from './proxies.ts';
import { connected, send, temporaryFolder, writeConfig } from './world.ts';

const authority = await createAuthority();
const other = await createAuthority('other CA');
const clients = await createAuthority('client CA');
const issuing = await authority.intermediate('issuing CA');
/** CAs and their successors with the same subjects, as those of clusters from before Go 1.15. */
const [old, next] = [await withoutKeyIdentifiers(), await withoutKeyIdentifiers()];
const [oldIssuing, nextIssuing] = [await old.intermediate('issuing'), await next.intermediate('issuing')];

function withoutKeyIdentifiers(): Promise<Authority> {
  return createAuthority('kubernetes', { keyIdentifiers: false });
}

const leaf = await localCertificate(authority);
/** Of no CA that a test trusts otherwise. */
const apart = await localCertificate(await createAuthority('apart'));
const issued = await localCertificate(issuing);
const [oldLeaf, nextLeaf] = [await localCertificate(old), await localCertificate(next)];
const [oldIssued, nextIssued] = [await localCertificate(oldIssuing), await localCertificate(nextIssuing)];
const misnamed = await authority.issue({ usage: 'server', commonName: 'api', dnsNames: ['api.example.com'] });

const withChain = ({ certPem, keyPem }: Certificate, { caPem }: Authority): Certificate => ({
  certPem: `${certPem}${caPem}`,
  keyPem,
});
const bundle = (...authorities: readonly Authority[]): string => authorities.map(({ caPem }) => caPem).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const trusting = (ca: string): object => ({ 'certificate-authority-data': base64(ca) });

async function started(certificate: Certificate, clientCa?: string): Promise<ApiServer> {
  const server = await ApiServer.start(certificate, clientCa);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Asks a server by kubectl, and with the same kubeconfig as an app and as `semaphore`. */
async function askByAll(
  cluster: object,
  { user = { token: 't' }, env = {} }: { readonly user?: object; readonly env?: Readonly<Record<string, string>> } = {},
) {
  const path = await writeConfig(await temporaryFolder(), cluster, user);
  const { outcome, words } = await askByKubectl(path, env);
  return {
    kubectl: outcome,
    words,
    app: await outcomeOf(connected({ kind: 'kubeconfig', path }, { env }).then(({ connection }) => send(connection))),
    cli: await outcomeOf(askAsSemaphore(path, env)),
  };
}

async function askAsSemaphore(path: string, env: Readonly<Record<string, string>>): Promise<number> {
  const context = contextOf(await loadKubeconfigs(path, env));
  return send((await connected({ kind: 'context', context }, { env })).connection);
}

const all = (outcome: Outcome) => ({ kubectl: outcome, app: outcome, cli: outcome });

describe.skipIf(goesWithoutKubectl)('as kubectl', () => {
  describe.each<{ name: string; ca: string; server: Certificate; want: Outcome }>([
    { name: 'a root', ca: authority.caPem, server: leaf, want: 'reached' },
    { name: 'another root', ca: other.caPem, server: leaf, want: 'not reached' },
    {
      name: 'the root of a CA that is sent',
      ca: bundle(authority),
      server: withChain(issued, issuing),
      want: 'reached',
    },
    { name: 'the root of a CA that is not sent', ca: bundle(authority), server: issued, want: 'not reached' },
    { name: 'a CA without its root', ca: bundle(issuing), server: issued, want: 'reached' },
    {
      name: 'a CA without its root, which is sent',
      ca: bundle(issuing),
      server: withChain(issued, issuing),
      want: 'reached',
    },
    { name: 'a CA without its root, of another server', ca: bundle(issuing), server: leaf, want: 'not reached' },
    { name: "the server's own certificate", ca: leaf.certPem, server: leaf, want: 'reached' },
    {
      name: "the server's own certificate, for another name",
      ca: misnamed.certPem,
      server: misnamed,
      want: 'not reached',
    },
    { name: "another server's certificate of the same CA", ca: misnamed.certPem, server: leaf, want: 'not reached' },
    {
      name: 'the old CA, then the new of one subject, for the old',
      ca: bundle(old, next),
      server: oldLeaf,
      want: 'reached',
    },
    {
      name: 'the old CA, then the new of one subject, for the new',
      ca: bundle(old, next),
      server: nextLeaf,
      want: 'reached',
    },
    {
      name: 'the new CA, then the old of one subject, for the old',
      ca: bundle(next, old),
      server: oldLeaf,
      want: 'reached',
    },
    {
      name: 'the new CA, then the old of one subject, for the new',
      ca: bundle(next, old),
      server: nextLeaf,
      want: 'reached',
    },
    { name: 'only the old CA of one subject, for the new', ca: bundle(old), server: nextLeaf, want: 'not reached' },
    { name: 'two CAs of one subject, for another', ca: bundle(old, next), server: leaf, want: 'not reached' },
    {
      name: 'old and new roots and CAs in mixed order, for the old',
      ca: bundle(old, next, nextIssuing, oldIssuing),
      server: oldIssued,
      want: 'reached',
    },
    {
      name: 'old and new roots and CAs in mixed order, for the new',
      ca: bundle(old, next, nextIssuing, oldIssuing),
      server: withChain(nextIssued, nextIssuing),
      want: 'reached',
    },
  ])('with $name, a server', ({ ca, server, want }) => {
    it(`is ${want}`, async () => {
      const { url } = await started(server);
      expect(await askByAll({ server: url, ...trusting(ca) })).toMatchObject(all(want));
    });

    it(`is ${want} if the CA comes from a URL`, async () => {
      const { url } = await started(server);
      const port = await listening(createHttpServer((_request, response) => response.end(ca)));
      const caUrl = `http://127.0.0.1:${port}/ca.crt`;
      const { connection } = await connected({ kind: 'api-server', apiUrl: url, caUrl, token: { value: 't' } });
      expect(await outcomeOf(send(connection))).toBe(want);
    });

    it(`is ${want} if it has the CA itself, and the machine trusts its own`, async () => {
      const web = await started(server);
      const api = await started(leaf);
      web.body = authority.caPem;
      const roots = join(await temporaryFolder(), 'roots.pem');
      await writeFile(roots, ca);
      const { connection } = await connected(
        { kind: 'api-server', apiUrl: api.url, caUrl: `${web.url}/ca.crt`, token: { value: 't' } },
        { env: { SSL_CERT_FILE: roots } },
      );
      expect(await outcomeOf(send(connection))).toBe(want);
    });

    it(`is ${want} if it is an https: proxy, which the CA of the cluster verifies`, async () => {
      const api = await started(apart);
      const proxy = await startConnectProxy({ leadsTo: api.port }, server);
      const cluster = {
        server: api.url,
        ...trusting(`${ca}${apart.certPem}`),
        'proxy-url': `https://127.0.0.1:${proxy.port}`,
      };
      const path = await writeConfig(await temporaryFolder(), cluster, { token: 't' });
      const { connection } = await connected({ kind: 'kubeconfig', path });
      expect([(await askByKubectl(path)).outcome, await outcomeOf(send(connection))]).toEqual([want, want]);
    });
  });

  it.each<{ name: string; roots: string; want: Outcome }>([
    { name: 'SSL_CERT_FILE', roots: authority.caPem, want: 'reached' },
    { name: 'SSL_CERT_FILE with another root', roots: other.caPem, want: 'not reached' },
  ])('without a CA, a server is $want by $name', async ({ roots, want }) => {
    const { url } = await started(leaf);
    const env = { SSL_CERT_FILE: join(await temporaryFolder(), 'roots.pem') };
    await writeFile(env.SSL_CERT_FILE, roots);
    expect(await askByAll({ server: url }, { env })).toMatchObject(all(want));
  });

  it('a server that does not answer the TLS handshake is given up by a timeout for that alone', async () => {
    const port = await listening(createTcpServer((socket) => socket.on('error', () => {}).resume()));
    const path = await writeConfig(
      await temporaryFolder(),
      { server: `https://127.0.0.1:${port}`, ...trusting(authority.caPem) },
      { token: 't' },
    );
    const { connection } = await connected({ kind: 'kubeconfig', path });
    const [kubectl, ours] = await Promise.all([
      askByKubectl(path),
      send(connection).catch((error: unknown) => String(error)),
    ]);
    expect(kubectl.words).toContain('TLS handshake timeout');
    expect(ours).toContain('no answer to the TLS handshake within 10 s');
  });

  it.each([
    { name: 'a token', file: 'token', before: 'old', after: 'new' },
    { name: 'a CA', file: 'ca.pem', before: other.caPem, after: authority.caPem },
  ])('the file of $name is read again, so what a new kubectl reaches is reached', async ({ file, before, after }) => {
    const api = await started(leaf);
    api.refuses = ({ authorization }) => authorization !== 'Bearer new';
    const dir = await temporaryFolder();
    await writeFile(join(dir, 'token'), 'new');
    await writeFile(join(dir, 'ca.pem'), authority.caPem);
    await writeFile(join(dir, file), before);
    const cluster = { server: api.url, 'certificate-authority': join(dir, 'ca.pem') };
    const path = await writeConfig(dir, cluster, { tokenFile: join(dir, 'token') });
    const { connection, clock } = await connected({ kind: 'kubeconfig', path });
    const statusOf = () => send(connection).catch(() => 0);
    expect([(await askByKubectl(path)).outcome, await statusOf()]).not.toContain(200);
    await writeFile(join(dir, file), after);
    clock.advance(60_000);
    expect([(await askByKubectl(path)).outcome, await statusOf()]).toEqual(['reached', 200]);
  });

  it('the files of a client certificate are read again', async () => {
    const api = await started(leaf, clients.caPem);
    const dir = await temporaryFolder();
    const write = async (certificate: Certificate) => {
      await writeFile(join(dir, 'cert.pem'), certificate.certPem);
      await writeFile(join(dir, 'key.pem'), certificate.keyPem);
    };
    await write(await other.issue({ usage: 'client', commonName: 'jane' }));
    const user = { 'client-certificate': join(dir, 'cert.pem'), 'client-key': join(dir, 'key.pem') };
    const path = await writeConfig(dir, { server: api.url, ...trusting(authority.caPem) }, user);
    const { connection, clock } = await connected({ kind: 'kubeconfig', path });
    expect([(await askByKubectl(path)).outcome, await outcomeOf(send(connection))]).toEqual([
      'not reached',
      'not reached',
    ]);
    await write(await clients.issue({ usage: 'client', commonName: 'jane' }));
    clock.advance(60_000);
    expect([(await askByKubectl(path)).outcome, await outcomeOf(send(connection))]).toEqual(['reached', 'reached']);
  });

  it.each([
    { scheme: 'http://', start: startConnectProxy, asked: '10.9.8.7:6443' },
    { scheme: '', start: startConnectProxy, asked: '10.9.8.7:6443' },
    { scheme: 'socks5://', start: startSocksProxy, asked: '1 0a090807 6443' },
    { scheme: 'socks5h://', start: startSocksProxy, asked: '1 0a090807 6443' },
  ])('HTTPS_PROXY=$scheme… is used', async ({ scheme, start, asked }) => {
    const api = await started(await authority.issue({ usage: 'server', commonName: 'api', ips: ['10.9.8.7'] }));
    const proxy = await start({ leadsTo: api.port });
    const env = { HTTPS_PROXY: `${scheme}127.0.0.1:${proxy.port}` };
    expect(await askByAll({ server: 'https://10.9.8.7:6443', ...trusting(authority.caPem) }, { env })).toMatchObject(
      all('reached'),
    );
    expect(proxy.asked).toEqual(Array(3).fill(asked));
  });

  it('proxy-url is used, whatever the environment says', async () => {
    const api = await started(await authority.issue({ usage: 'server', commonName: 'api', ips: ['10.9.8.7'] }));
    const proxy = await startConnectProxy({ leadsTo: api.port });
    const cluster = {
      server: 'https://10.9.8.7:6443',
      ...trusting(authority.caPem),
      'proxy-url': `http://127.0.0.1:${proxy.port}`,
    };
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '*' };
    expect(await askByAll(cluster, { env })).toMatchObject(all('reached'));
    expect(proxy.asked).toHaveLength(3);
  });
});

describe.skipIf(goesWithoutKubectl)('unlike kubectl, on purpose, an app does not reach', () => {
  it.each([{ name: 'insecure-skip-tls-verify', cluster: { 'insecure-skip-tls-verify': true } }])(
    'a server that nothing verifies: $name',
    async ({ cluster }) => {
      const { url } = await started(leaf);
      const path = await writeConfig(await temporaryFolder(), { server: url, ...cluster }, { token: 't' });
      expect((await askByKubectl(path)).outcome).toBe('reached');
      await expect(connected({ kind: 'kubeconfig', path })).rejects.toThrow('insecure-skip-tls-verify');
    },
  );
});
