import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { describe, expect, it } from 'vitest';
import { readExecCredential } from './exec-credential.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
const { certPem, keyPem } = await (await createAuthority()).issue({ usage: 'client', commonName: 'jane' });
const printed = (status: unknown, rest: object = {}) =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status, ...rest });
const read = (text: string) => readExecCredential(text, apiVersion, 'the plugin');

describe('readExecCredential', () => {
  it('reads a token, and when it expires', () => {
    expect(read(printed({ token: 'abc', expirationTimestamp: '2026-01-01T00:00:00Z' }))).toEqual({
      credentials: { authorization: 'Bearer abc' },
      expiresMs: Date.UTC(2026, 0, 1),
    });
  });

  it('takes a token without an expiry for one that stays good', () => {
    expect(read(printed({ token: 'abc', expirationTimestamp: null })).expiresMs).toBe(Infinity);
  });

  it('reads a certificate', () => {
    const { credentials } = read(printed({ clientCertificateData: certPem, clientKeyData: keyPem }));
    expect(credentials.keyPair?.keyPem).toBe(keyPem);
    expect(credentials.authorization).toBeUndefined();
  });

  it.each([
    { name: 'no JSON', text: 'secret', want: 'the plugin printed no ExecCredential with a status' },
    { name: 'another kind', text: printed({ token: 'secret' }, { kind: 'Status' }), want: 'printed no ExecCredential' },
    { name: 'no status', text: printed(undefined), want: 'printed no ExecCredential with a status' },
    {
      name: 'another version',
      text: printed({ token: 'secret' }, { apiVersion: 'x' }),
      want: `another apiVersion than ${apiVersion}`,
    },
    { name: 'an empty status', text: printed({}), want: 'printed neither a token nor a certificate' },
    {
      name: 'half a pair',
      text: printed({ clientKeyData: 'secret' }),
      want: 'a certificate or a key without the other',
    },
    {
      name: 'a bad time',
      text: printed({ token: 'secret', expirationTimestamp: 'soon' }),
      want: 'an expirationTimestamp that is no time',
    },
    {
      name: 'a token of two lines',
      text: printed({ token: 'secret\nsecret' }),
      want: 'the plugin: the token holds no token',
    },
    {
      name: 'a bad certificate',
      text: printed({ clientCertificateData: 'secret', clientKeyData: keyPem }),
      want: 'the plugin: clientCertificateData holds no PEM',
    },
  ])('refuses $name', ({ text, want }) => {
    expect(() => read(text)).toThrow(want);
    expect(() => read(text)).not.toThrow('secret');
  });
});
