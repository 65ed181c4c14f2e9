import { createAuthority } from '@kube-semaphore/testkit';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServer, localCertificate } from './api-server.ts';
import { connected, send, temporaryFolder, writeConfig } from './world.ts';

const authority = createAuthority();
const caData = Buffer.from(authority.caPem).toString('base64');

let api: ApiServer;
let issuer: ApiServer;
let dir: string;

beforeEach(async () => {
  api = await ApiServer.start(localCertificate(authority));
  issuer = await ApiServer.start(localCertificate(authority));
  onTestFinished(async () => {
    await api[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });
  dir = await temporaryFolder();
});

/** An id-token as far as a client looks into it. client-node goes by the machine's clock. */
function idToken(expiresInSeconds: number, claims: object = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: issuer.url, aud: 'kube', sub: 'jane', iat: now, exp: now + expiresInSeconds, ...claims };
  return [part({ alg: 'RS256' }), part(payload), 'signature'].join('.');
}

async function connectedBy(config: object, name = 'oidc') {
  const cluster = { server: api.url, 'certificate-authority-data': caData };
  const path = await writeConfig(dir, cluster, { 'auth-provider': { name, config } });
  return connected({ kind: 'kubeconfig', path });
}

describe('the oidc auth provider', () => {
  it('sends its id-token as long as that is good', async () => {
    const token = idToken(3600);
    const { connection, clock } = await connectedBy({ 'id-token': token });
    await send(connection);
    clock.advance(10_000);
    await send(connection);
    expect(api.seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
  });

  it('gets another with its refresh-token, once', async () => {
    const renewed = idToken(3600, { sub: 'renewed' });
    issuer.answers = {
      '/.well-known/openid-configuration': { issuer: issuer.url, token_endpoint: `${issuer.url}/token` },
      '/token': { access_token: 'a', token_type: 'Bearer', expires_in: 3600, id_token: renewed, refresh_token: 'next' },
    };
    const { connection, clock } = await connectedBy({
      'id-token': idToken(-60),
      'refresh-token': 'r',
      'client-id': 'kube',
      'idp-issuer-url': issuer.url,
      'idp-certificate-authority-data': caData,
    });
    for (let request = 0; request < 3; request++) {
      await send(connection);
      clock.advance(10_000);
      expect(api.last?.authorization).toBe(`Bearer ${renewed}`);
    }
    expect(issuer.seen.map(({ path }) => path)).toEqual(['/.well-known/openid-configuration', '/token']);
  });

  it.each([
    { name: 'there is no id-token', config: () => ({}) },
    { name: 'it has expired and there is nothing to refresh it with', config: () => ({ 'id-token': idToken(-60) }) },
  ])('rejects the request, and sends none without a token, when $name', async ({ config }) => {
    const { connection } = await connectedBy(config());
    await expect(send(connection)).rejects.toThrow('user "jane": auth-provider oidc gave no token: id-token is missing, or');
    expect(api.seen).toEqual([]);
  });

  it('says so when the issuer does not answer', async () => {
    const { connection } = await connectedBy({
      'id-token': idToken(-60),
      'refresh-token': 'secret',
      'client-id': 'kube',
      'idp-issuer-url': issuer.url,
    });
    await issuer[Symbol.asyncDispose]();
    const failure = send(connection);
    await expect(failure).rejects.toThrow('auth-provider oidc gave no token');
    await expect(failure).rejects.not.toThrow('secret');
  });
});
