import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { bitString, element, octetString, oid, sequence, setOf, unsigned, utcTime, utf8String, yes } from './der.ts';

/** What a certificate is for. A server certificate is valid for `dnsNames` and `ips`; a client one names a user. */
type CertificateRequest = {
  readonly usage: 'server' | 'client';
  /** For Kubernetes the user name of a client certificate. */
  readonly commonName: string;
  /** For Kubernetes the groups of a client certificate. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  /** IPv4 and IPv6 addresses, without brackets or zones. */
  readonly ips?: readonly string[];
};

/** A certificate and its private key (PKCS #8), both PEM. */
export type Certificate = { readonly certPem: string; readonly keyPem: string };

/** A certificate authority that lives in memory and is forgotten with the test. */
export type Authority = {
  readonly caPem: string;
  /** A leaf certificate with a new P-256 key, valid from an hour ago for a year. */
  issue(request: CertificateRequest): Certificate;
};

type Party = { readonly name: Uint8Array; readonly publicKey: KeyObject; readonly privateKey: KeyObject };

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
const extendedUsage = { server: oid('1.3.6.1.5.5.7.3.1'), client: oid('1.3.6.1.5.5.7.3.2') } as const;

/**
 * A new certificate authority with a P-256 key. Node makes keys and signatures but no certificates, and these few
 * fields of X.509 are less to carry than a library: a fresh machine needs neither openssl nor another dependency.
 */
export function createAuthority(commonName = 'kube-semaphore test CA'): Authority {
  const ca = party(commonName);
  return {
    caPem: certificate(ca, ca, [
      extension('2.5.29.19', sequence(yes), 'critical'), // basicConstraints: a CA
      extension('2.5.29.15', bitString(Buffer.of(0b0000_0110), 1), 'critical'), // keyUsage: keyCertSign, cRLSign
    ]),
    issue({ usage, commonName: name, organizations = [], dnsNames = [], ips = [] }) {
      const leaf = party(name, organizations);
      const names = [
        ...dnsNames.map((dnsName) => element(0x82, Buffer.from(dnsName, 'latin1'))),
        ...ips.map((ip) => element(0x87, addressBytes(ip))),
      ];
      const certPem = certificate(leaf, ca, [
        extension('2.5.29.15', bitString(Buffer.of(0b1000_0000), 7), 'critical'), // keyUsage: digitalSignature
        extension('2.5.29.37', sequence(extendedUsage[usage])),
        ...(names.length > 0 ? [extension('2.5.29.17', sequence(...names))] : []), // subjectAltName
      ]);
      return { certPem, keyPem: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}

function party(commonName: string, organizations: readonly string[] = []): Party {
  const attribute = (type: string, value: string) => setOf(sequence(oid(type), utf8String(value)));
  const name = sequence(
    ...organizations.map((organization) => attribute('2.5.4.10', organization)),
    attribute('2.5.4.3', commonName),
  );
  return { name, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

function certificate(subject: Party, issuer: Party, extensions: readonly Uint8Array[], now = Date.now()): string {
  const subjectKeyId = extension('2.5.29.14', octetString(keyId(subject.publicKey)));
  const authorityKeyId = extension('2.5.29.35', sequence(element(0x80, keyId(issuer.publicKey))));
  const toBeSigned = sequence(
    element(0xa0, unsigned(Buffer.of(2))), // version 3
    unsigned(randomBytes(16)),
    ecdsaWithSha256,
    issuer.name,
    // From an hour ago: the clock of a virtual machine may step back between here and the first handshake.
    sequence(utcTime(new Date(now - HOUR_MS)), utcTime(new Date(now + YEAR_MS))),
    subject.name,
    spki(subject.publicKey),
    element(0xa3, sequence(subjectKeyId, authorityKeyId, ...extensions)),
  );
  const signature = sign('sha256', toBeSigned, issuer.privateKey);
  const der = sequence(toBeSigned, ecdsaWithSha256, bitString(signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function extension(id: string, value: Uint8Array, critical?: 'critical'): Buffer {
  return critical === undefined ? sequence(oid(id), octetString(value)) : sequence(oid(id), yes, octetString(value));
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha256').update(spki(key)).digest().subarray(0, 20);
}

function addressBytes(ip: string): Buffer {
  if (isIPv4(ip)) return Buffer.from(ip.split('.').map(Number));
  const [head = '', tail] = ip.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}
