import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiServer, localCertificate } from './api-server.ts';
import { connected, open, send, temporaryFolder, writeConfig } from './world.ts';

const authority = await createAuthority();
const clients = await createAuthority('client CA');
const clientOf = (commonName: string) => clients.issue({ usage: 'client', commonName });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const caData = { 'certificate-authority-data': base64(authority.caPem) };
const never = new AbortController().signal;

let api: ApiServer;
let dir: string;

beforeEach(async () => {
  api = await ApiServer.start(await localCertificate(authority), clients.caPem);
  onTestFinished(() => api[Symbol.asyncDispose]());
  dir = await temporaryFolder();
});

/** Connects by a kubeconfig for the API server with these fields. Every user has a certificate, which the server requires. */
async function connectedBy(cluster: object, user: object, env = {}) {
  const path = await writeConfig(
    dir,
    { server: api.url, ...cluster },
    { ...certificateData(await clientOf('jane')), ...user },
  );
  return connected({ kind: 'kubeconfig', path }, { env });
}

const certificateData = ({ certPem, keyPem }: { certPem: string; keyPem: string }) => ({
  'client-certificate-data': base64(certPem),
  'client-key-data': base64(keyPem),
});

describe('a kubeconfig', () => {
  it('with certificate data presents a client certificate, and sends no header', async () => {
    const { connection } = await connectedBy(caData, {});
    expect(await send(connection)).toBe(200);
    expect(api.last).toMatchObject({ client: 'jane', authorization: undefined });
  });

  it('with a client certificate tells when that begins and ends', async () => {
    const { connection } = await connectedBy(caData, {});
    await send(connection);
    const { validFromDate, validToDate } = new X509Certificate((await clientOf('jane')).certPem);
    const lifeMs = validToDate.getTime() - validFromDate.getTime();
    const { fromMs, untilMs } = connection.validity!;
    expect(untilMs - fromMs).toBe(lifeMs);
    expect(fromMs).toBeLessThanOrEqual(Date.now());
  });

  it('with a token and a client certificate sends both', async () => {
    const { connection } = await connectedBy(caData, { token: 'token' });
    await send(connection);
    expect(api.last).toMatchObject({ client: 'jane', authorization: 'Bearer token' });
  });

  it('with a user name and a password sends them', async () => {
    const { connection } = await connectedBy(caData, { username: 'jane', password: 'pass:word' });
    await send(connection);
    expect(api.last?.authorization).toBe(`Basic ${base64('jane:pass:word')}`);
  });

  it('has paths that are relative to its folder', async () => {
    await mkdir(join(dir, 'pki'));
    const { certPem, keyPem } = await clientOf('files');
    await writeFile(join(dir, 'pki', 'ca.pem'), authority.caPem);
    await writeFile(join(dir, 'pki', 'cert.pem'), certPem);
    await writeFile(join(dir, 'pki', 'key.pem'), keyPem);
    await writeFile(join(dir, 'pki', 'token'), 'from-file\n');
    const user = {
      'client-certificate': 'pki/cert.pem',
      'client-key': './pki/key.pem',
      tokenFile: 'pki/token',
      token: 'not this',
    };
    const path = await writeConfig(dir, { server: api.url, 'certificate-authority': 'pki/ca.pem' }, user);
    const { connection } = await connected({ kind: 'kubeconfig', path });
    await send(connection);
    expect(api.last).toMatchObject({ client: 'files', authorization: 'Bearer from-file' });
  });

  it('without a CA trusts the roots of the machine', async () => {
    await writeFile(join(dir, 'roots.pem'), authority.caPem);
    const { connection } = await connectedBy({}, {}, { SSL_CERT_FILE: join(dir, 'roots.pem') });
    expect(await send(connection)).toBe(200);
    const { connection: other } = await connectedBy({}, {}, {});
    await expect(send(other)).rejects.toThrow(expect.objectContaining({ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }));
  });

  it('may have a server with a path, as with Rancher', async () => {
    const { connection } = await connectedBy({ server: `${api.url}/k8s/clusters/c-1/`, ...caData }, {});
    expect(connection.server.href).toBe(`${api.url}/k8s/clusters/c-1`);
  });

  it('may act as another user, with a header line per group', async () => {
    const user = { as: 'ops', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { 'acme.com/why': ['x', 'y'] } };
    const { connection } = await connectedBy(caData, user);
    await send(connection);
    const lines = api.last?.rawHeaders.flatMap((name, i, all) =>
      /^impersonate/i.test(name) ? [`${name}: ${all[i + 1]}`] : [],
    );
    expect(lines).toEqual([
      'Impersonate-User: ops',
      'Impersonate-Uid: 7',
      'Impersonate-Group: a',
      'Impersonate-Group: b',
      'Impersonate-Extra-acme.com%2Fwhy: x',
      'Impersonate-Extra-acme.com%2Fwhy: y',
    ]);
  });
});

describe('the server name', () => {
  it('is sent for a name, not for an address', async () => {
    const { connection } = await connectedBy({ ...caData, server: `https://localhost:${api.port}` }, {});
    await send(connection);
    expect(api.last?.serverName).toBe('localhost');
    const { connection: byAddress } = await connectedBy(caData, {});
    await send(byAddress);
    expect(api.last?.serverName).toBe(false);
  });

  it('is tls-server-name, if set, for the certificate and in the handshake', async () => {
    await api.restart(await authority.issue({ usage: 'server', commonName: 'api', dnsNames: ['api.internal'] }));
    const { connection } = await connectedBy({ ...caData, 'tls-server-name': 'api.internal' }, {});
    await send(connection);
    expect(api.last?.serverName).toBe('api.internal');
    const { connection: without } = await connectedBy(caData, {});
    await expect(send(without)).rejects.toThrow(expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }));
  });

  it('may be an address, which is verified and not sent', async () => {
    await api.restart(await authority.issue({ usage: 'server', commonName: 'api', ips: ['10.0.0.1'] }));
    const { connection } = await connectedBy({ ...caData, 'tls-server-name': '10.0.0.1' }, {});
    expect(await send(connection)).toBe(200);
    expect(api.last?.serverName).toBe(false);
    const { connection: other } = await connectedBy({ ...caData, 'tls-server-name': '10.0.0.2' }, {});
    await expect(send(other)).rejects.toThrow(expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }));
  });

  it('is verified even if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { connection } = await connectedBy({ ...caData, 'tls-server-name': 'other' }, {});
    await expect(send(connection)).rejects.toThrow(expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }));
  });
});

describe('client certificate files', () => {
  it('are presented after they were replaced, while a watch continues with the old one', async () => {
    const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };
    const before = await clientOf('before');
    await writeFile(files.cert, before.certPem);
    await writeFile(files.key, before.keyPem);
    const user = { 'client-certificate': 'cert.pem', 'client-key': 'key.pem' };
    const path = await writeConfig(dir, { server: api.url, ...caData }, user);
    const { connection, clock, log } = await connected({ kind: 'kubeconfig', path });
    const watch = await open(connection.server, await connection.authorize({ signal: never }), '/watch');

    const after = await clientOf('after');
    await writeFile(files.cert, after.certPem);
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.client, 'while only one of the two is new').toBe('before');
    expect(log.lines).toEqual([expect.stringContaining('key.pem is not the key of')]);

    await writeFile(files.key, after.keyPem);
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.client).toBe('after');
    expect(watch.destroyed).toBe(false);
  });
});

describe('a kubeconfig that others may write', () => {
  const withMode = async (mode: number) => {
    const path = await writeConfig(dir, { server: api.url, ...caData }, certificateData(await clientOf('jane')));
    await chmod(path, mode);
    return path;
  };

  it.each([0o646, 0o666, 0o602])('is refused if anyone may write it: %o', async (mode) => {
    const path = await withMode(mode);
    const octal = `0${mode.toString(8)}`;
    const words = `kubeconfig ${path}: anyone may write it (mode ${octal}), and so make us run any program: use chmod o-w ${path}`;
    await expect(connected({ kind: 'kubeconfig', path })).rejects.toMatchObject({
      code: 'CLUSTER_KUBECONFIG',
      message: words,
    });
  });

  it('is refused by the mode of the file behind a link', async () => {
    await symlink(await withMode(0o666), join(dir, 'link'));
    await expect(connected({ kind: 'kubeconfig', path: join(dir, 'link') })).rejects.toThrow(
      'anyone may write it (mode 0666)',
    );
  });

  it('is used with a warning if its group may write it', async () => {
    const path = await withMode(0o660);
    const { connection, log } = await connected({ kind: 'kubeconfig', path });
    expect(await send(connection)).toBe(200);
    expect(log.lines).toEqual([
      `warn: kubeconfig is writable by its group, which can so make us run any program; use chmod g-w { path: '${path}', mode: '0660' }`,
    ]);
  });

  it.each([0o600, 0o644, 0o440])('is used without a warning if only its owner may write it: %o', async (mode) => {
    const { log } = await connected({ kind: 'kubeconfig', path: await withMode(mode) });
    expect(log.lines).toEqual([]);
  });
});
