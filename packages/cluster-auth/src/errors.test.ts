import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { reasonOf, tlsFailure } from './errors.ts';

/** The error of Node.js for a certificate with these names that must be for `host`. */
const refusal = (host: string, certificate: object): Error | undefined =>
  checkServerIdentity(host, certificate as PeerCertificate);

describe('a certificate for another name', () => {
  const names =
    'DNS:kubernetes, DNS:api.c2.example, IP Address:10.96.0.1, IP Address:FD00:0:0:0:0:0:0:1, URI:spiffe://x';

  it.each([
    {
      name: 'names and addresses',
      host: '10.0.0.9',
      certificate: { subject: { CN: 'api' }, subjectaltname: names },
      want: 'it is for kubernetes, api.c2.example, 10.96.0.1, fd00::1, not 10.0.0.9',
    },
    {
      name: 'only a common name',
      host: 'c2.example',
      certificate: { subject: { CN: 'api' } },
      want: 'it is for api, not c2.example',
    },
    { name: 'no name', host: 'c2.example', certificate: { subject: {} }, want: 'it is for none, not c2.example' },
    {
      name: 'many names',
      host: 'c2.example',
      certificate: { subject: {}, subjectaltname: Array.from({ length: 12 }, (_, i) => `DNS:n${i}`).join(', ') },
      want: 'it is for n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more, not c2.example',
    },
  ])('is an error with the names that it has: $name', ({ host, certificate, want }) => {
    const error = new Error('list pods', { cause: refusal(host, certificate) });
    expect(tlsFailure(error)).toBe(
      `its certificate is for another name: ${want}; use one of its names in the URL, or as tls-server-name in a kubeconfig`,
    );
    expect(reasonOf(error.cause)).toBe(`its certificate is for another name: ${want}`);
  });

  it('is not the message of another error', () => {
    expect(
      tlsFailure(new Error('x', { cause: Object.assign(new Error('y'), { code: 'ECONNREFUSED' }) })),
    ).toBeUndefined();
  });
});

it('has a message for a server that answers without TLS, other than that of OpenSSL', () => {
  const error = Object.assign(new Error('40CDA4FC347F0000:error:0A00010B:SSL routines'), {
    code: 'ERR_SSL_WRONG_VERSION_NUMBER',
  });
  expect(tlsFailure(error)).toBe(
    'it answers without TLS (ERR_SSL_WRONG_VERSION_NUMBER); check that this is the address of an API server',
  );
  expect(reasonOf(error)).toBe('it answers without TLS (ERR_SSL_WRONG_VERSION_NUMBER)');
});
