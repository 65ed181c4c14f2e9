import { generateKeyPairSync } from 'node:crypto';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { describe, expect, it } from 'vitest';
import { readCertificates, readKeyPair, readPinned } from './pem.ts';

const [first, second] = [await createAuthority('first'), await createAuthority('second')];
const { certPem, keyPem } = await first.issue({ usage: 'client', commonName: 'jane' });
const other = await first.issue({ usage: 'client', commonName: 'joe' });
const from = (text: string, where = 'x.pem') => ({ text, where });

describe('readCertificates', () => {
  it('returns the same text for the same certificates, whatever is between them', () => {
    const plain = readCertificates(from(first.caPem + second.caPem));
    const commented = `# first\r\n${first.caPem.replaceAll('\n', '\r\n')}\n# second\n${second.caPem}\n`;
    expect(readCertificates(from(commented))).toBe(plain);
    expect(plain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  });

  it.each([
    { name: 'an empty text', text: '', want: 'x.pem has no PEM certificate' },
    { name: 'a key', text: keyPem, want: 'x.pem has no PEM certificate' },
    { name: 'half a certificate', text: first.caPem.slice(0, 200), want: 'x.pem has no PEM certificate' },
    {
      name: 'a broken certificate, by its number',
      text: first.caPem + second.caPem.replace('MII', 'AAA'),
      want: 'x.pem has a broken PEM certificate (number 2)',
    },
  ])('refuses $name', ({ text, want }) => {
    expect(() => readCertificates(from(text))).toThrow(want);
  });
});

/** A certificate from openssl, with its hash: `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256`. */
const sample = `-----BEGIN CERTIFICATE-----
MIIBgjCCASegAwIBAgIUMWCE2naa8vnfyrBUI54oEakVNmcwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAgFw0yNjExMjIwNjA2MThaGA8yMTI2MTAy
OTA2MDYxOFowFTETMBEGA1UEAwwKa3ViZXJuZXRlczBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABI1gAACNgbM0qzJcF/tGbnWfcw8psh+j6jg2sjg/unli6G428sFL
RSeprqSXOtzS9x+zeNSY7jogPpoqqFVe052jUzBRMB0GA1UdDgQWBBQ+jWtHC4DW
lXJIgKeIBlabgouQ7zAfBgNVHSMEGDAWgBQ+jWtHC4DWlXJIgKeIBlabgouQ7zAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQC18qictR2D+KiQop3o
j2RRfuUBSd3+DN+my/7WzsHisgIhAKlXEbP5Xw5EzosE6Uj27CfVEHWoFPAD4ZZX
hKOYwur8
-----END CERTIFICATE-----
`;
const sampleHash = 'sha256:3724da98fb452b7b3681affa742b8d61a6549719d5aa49df9175ec3c94dd11c4';

describe('readPinned', () => {
  it('returns only the certificates whose key has one of the hashes', () => {
    const all = from(first.caPem + sample + second.caPem);
    expect(readPinned(all, [sampleHash])).toBe(readCertificates(from(sample)));
    expect(readPinned(all, ['sha256:00', sampleHash])).toBe(readCertificates(from(sample)));
  });

  it('accepts a certificate that was renewed with the same key', () => {
    expect(readPinned(from(sample + sample), [sampleHash])).toBe(readCertificates(from(sample + sample)));
  });

  it('names the found hash and the wanted ones', () => {
    const pinned = () => readPinned(from(sample), ['sha256:aa', 'sha256:bb']);
    expect(pinned).toThrow(
      `x.pem has no trusted certificate: its key must have the hash sha256:aa or sha256:bb, not ${sampleHash}`,
    );
  });
});

describe('readKeyPair', () => {
  const read = (cert: string, key: string) => readKeyPair(from(cert, 'cert.pem'), from(key, 'key.pem'));

  it('accepts a certificate with its chain, the leaf first', () => {
    expect(read(certPem + first.caPem, keyPem).keyPem).toBe(keyPem);
  });

  it.each([
    {
      name: 'the key of another certificate',
      cert: certPem,
      key: other.keyPem,
      want: 'key.pem is not the key of cert.pem',
    },
    {
      name: 'a chain that begins with the CA',
      cert: first.caPem + certPem,
      key: keyPem,
      want: 'key.pem is not the key of cert.pem',
    },
    { name: 'no key', cert: certPem, key: certPem, want: 'key.pem is not a PEM key' },
    { name: 'no certificate', cert: keyPem, key: keyPem, want: 'cert.pem has no PEM certificate' },
    { name: 'an encrypted key', cert: certPem, key: encryptedKey(), want: 'key.pem is encrypted' },
  ])('refuses $name', ({ cert, key, want }) => {
    expect(() => read(cert, key)).toThrow(want);
  });
});

function encryptedKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
}
