import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServer, localCertificate } from './api-server.ts';
import { connected, FakeClock, send, temporaryFolder, writeConfig } from './world.ts';

const authority = await createAuthority();
const caData = Buffer.from(authority.caPem).toString('base64');

let api: ApiServer;
let issuer: ApiServer;
let dir: string;

beforeEach(async () => {
  api = await ApiServer.start(await localCertificate(authority));
  issuer = await ApiServer.start(await localCertificate(authority));
  onTestFinished(async () => {
    await api[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });
  issuer.answers = { '/realm/.well-known/openid-configuration': { token_endpoint: `${issuer.url}/token` } };
  dir = await temporaryFolder();
});

const started = new FakeClock().epochMs();

/** An id-token with the part that a client reads. It expires so many seconds after the start of the test. */
function idToken(expiresInSeconds: number, sub = 'jane'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [part({ alg: 'RS256' }), part({ sub, exp: started / 1000 + expiresInSeconds }), 'signature'].join('.');
}

async function connectedBy(config: object) {
  const cluster = { server: api.url, 'certificate-authority-data': caData };
  const provider = {
    'client-id': 'kube',
    'idp-issuer-url': `${issuer.url}/realm/`,
    'idp-certificate-authority-data': caData,
    ...config,
  };
  const path = await writeConfig(dir, cluster, { 'auth-provider': { name: 'oidc', config: provider } });
  return connected({ kind: 'kubeconfig', path });
}

describe('the oidc auth provider', () => {
  it('sends its id-token without a refresh while that is valid', async () => {
    const token = idToken(60);
    const { connection, clock } = await connectedBy({ 'id-token': token });
    await send(connection);
    clock.advance(59_999);
    await send(connection);
    expect(api.seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
    expect(issuer.seen).toEqual([]);
  });

  it('gets another id-token with its refresh-token, once for several requests, and the next one with the new refresh-token', async () => {
    const answer = (token: string, next: string) => ({ id_token: token, refresh_token: next });
    const [second, third] = [idToken(120, 'second'), idToken(180, 'third')];
    const { connection, clock } = await connectedBy({ 'id-token': idToken(60), 'refresh-token': 'r1' });
    issuer.answers = { ...issuer.answers, '/token': answer(second, 'r2') };
    clock.advance(60_000);
    await Promise.all([send(connection), send(connection), send(connection)]);
    expect(api.last?.authorization).toBe(`Bearer ${second}`);
    issuer.answers = { ...issuer.answers, '/token': answer(third, 'r3') };
    clock.advance(60_000);
    await send(connection);
    expect(api.last?.authorization).toBe(`Bearer ${third}`);
    const grants = issuer.seen.filter(({ path }) => path === '/token').map(({ body }) => body);
    expect(grants).toEqual([
      'grant_type=refresh_token&refresh_token=r1&client_id=kube',
      'grant_type=refresh_token&refresh_token=r2&client_id=kube',
    ]);
  });

  it.each(['', null])('keeps its refresh-token if the answer has no other one: %j', async (empty) => {
    const { connection, clock } = await connectedBy({ 'id-token': '', 'refresh-token': 'r1' });
    issuer.answers = { ...issuer.answers, '/token': { id_token: idToken(60), refresh_token: empty } };
    await send(connection);
    clock.advance(60_000);
    await send(connection);
    const grants = issuer.seen.filter(({ path }) => path === '/token').map(({ body }) => body);
    expect(grants).toEqual(Array(2).fill('grant_type=refresh_token&refresh_token=r1&client_id=kube'));
  });

  it.each([
    {
      name: 'in the header, encoded, by default',
      methods: {},
      authorization: `Basic ${Buffer.from('kube:a%3Ab').toString('base64')}`,
      body: 'grant_type=refresh_token&refresh_token=r1',
    },
    {
      name: 'in the form, if the issuer requires that',
      methods: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
      authorization: undefined,
      body: 'grant_type=refresh_token&refresh_token=r1&client_id=kube&client_secret=a%3Ab',
    },
  ])('sends its secret $name', async ({ methods, authorization, body }) => {
    issuer.answers = {
      '/realm/.well-known/openid-configuration': { token_endpoint: `${issuer.url}/token`, ...methods },
      '/token': { id_token: idToken(60) },
    };
    const { connection } = await connectedBy({ 'refresh-token': 'r1', 'client-secret': 'a:b' });
    await send(connection);
    expect(issuer.last).toMatchObject({ authorization, body });
  });

  it.each([
    { name: 'there is no refresh-token', config: {}, want: 'no valid id-token, and no refresh-token' },
    { name: 'the issuer refuses', config: { 'refresh-token': 'secret' }, answer: 400, want: '/token: it answered 400' },
    {
      name: 'the answer is not valid',
      config: { 'refresh-token': 'secret' },
      answer: { secret: 1 },
      want: '/token: its answer is not valid',
    },
    {
      name: 'the new id-token is not valid',
      config: { 'refresh-token': 'r' },
      answer: { id_token: 'secret' },
      want: 'id-token is not a JWT',
    },
  ])('sends no request without a token when $name', async ({ config, answer, want }) => {
    if (typeof answer === 'number') issuer.status = answer;
    else issuer.answers = { ...issuer.answers, '/token': answer ?? {} };
    const { connection } = await connectedBy(config);
    const failure = send(connection);
    await expect(failure).rejects.toMatchObject({ code: expect.stringMatching(/^CLUSTER_(PLUGIN|TOKEN)$/) });
    await expect(failure).rejects.toThrow('user "jane": auth-provider oidc');
    await expect(failure).rejects.toThrow(want);
    await expect(failure).rejects.not.toThrow('secret');
    expect(api.seen).toEqual([]);
  });

  it('does not send its tokens to an endpoint without TLS', async () => {
    issuer.answers = { '/realm/.well-known/openid-configuration': { token_endpoint: 'http://127.0.0.1:1/token' } };
    const { connection } = await connectedBy({ 'refresh-token': 'r' });
    await expect(send(connection)).rejects.toThrow('must be an https: URL');
  });
});
