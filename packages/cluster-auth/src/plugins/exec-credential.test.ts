import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { describe, expect, it } from 'vitest';
import { readExecCredential } from './exec-credential.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
const { certPem, keyPem } = await (await createAuthority()).issue({ usage: 'client', commonName: 'jane' });
const printed = (status: unknown, rest: object = {}) =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status, ...rest });
const read = (text: string) => readExecCredential(text, apiVersion, 'the plugin');

describe('readExecCredential', () => {
  it('reads a token and its expiry', () => {
    expect(read(printed({ token: 'abc', expirationTimestamp: '2026-01-01T00:00:00Z' }))).toEqual({
      credentials: { authorization: 'Bearer abc' },
      expiresMs: Date.UTC(2026, 0, 1),
    });
  });

  it('reads a token without an expiry as one that never expires', () => {
    expect(read(printed({ token: 'abc', expirationTimestamp: null })).expiresMs).toBe(Infinity);
  });

  it.each([
    { clientCertificateData: '', clientKeyData: '', expirationTimestamp: '0001-01-01T00:00:00Z' },
    { clientCertificateData: null, clientKeyData: null, expirationTimestamp: null },
  ])('reads a zero value of Go as a missing one: %j', (zero) => {
    expect(read(printed({ token: 'abc', ...zero }))).toEqual({
      credentials: { authorization: 'Bearer abc' },
      expiresMs: Infinity,
    });
    const { credentials } = read(printed({ token: '', clientCertificateData: certPem, clientKeyData: keyPem }));
    expect(credentials.authorization).toBeUndefined();
  });

  it('reads a certificate', () => {
    const { credentials } = read(printed({ clientCertificateData: certPem, clientKeyData: keyPem }));
    expect(credentials.keyPair?.keyPem).toBe(keyPem);
    expect(credentials.authorization).toBeUndefined();
  });

  it.each([
    {
      name: 'a text that is not JSON',
      text: 'secret',
      want: 'the plugin did not print an ExecCredential with a status',
    },
    {
      name: 'another kind',
      text: printed({ token: 'secret' }, { kind: 'Status' }),
      want: 'did not print an ExecCredential',
    },
    { name: 'no status', text: printed(undefined), want: 'did not print an ExecCredential with a status' },
    {
      name: 'another version',
      text: printed({ token: 'secret' }, { apiVersion: 'x' }),
      want: `did not print the apiVersion ${apiVersion}`,
    },
    { name: 'an empty status', text: printed({}), want: 'printed neither a token nor a certificate' },
    {
      name: 'a key without its certificate',
      text: printed({ clientKeyData: 'secret' }),
      want: 'a certificate or a key without the other',
    },
    {
      name: 'a bad time',
      text: printed({ token: 'secret', expirationTimestamp: 'soon' }),
      want: 'an expirationTimestamp that is not a valid time',
    },
    {
      name: 'a token with a line feed',
      text: printed({ token: 'secret\nsecret' }),
      want: 'the plugin: the token is not a valid token',
    },
    {
      name: 'a bad certificate',
      text: printed({ clientCertificateData: 'secret', clientKeyData: keyPem }),
      want: 'the plugin: clientCertificateData has no PEM',
    },
  ])('refuses $name', ({ text, want }) => {
    expect(() => read(text)).toThrow(want);
    expect(() => read(text)).not.toThrow('secret');
  });
});
