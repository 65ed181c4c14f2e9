import { KeyObject, webcrypto } from 'node:crypto';
import type { Extension, Name } from '@peculiar/x509';

/** The subject of a certificate. A server certificate is valid for `dnsNames` and `ips`; a client one names a user. */
type CertificateRequest = {
  readonly usage: 'server' | 'client';
  /** In a client certificate, the Kubernetes user name. */
  readonly commonName: string;
  /** In a client certificate, the Kubernetes groups. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  /** IPv4 and IPv6 addresses, without brackets or zones. */
  readonly ips?: readonly string[];
  /** Default: in a year. */
  readonly notAfter?: Date;
};

/** A certificate and its private key (PKCS #8), both PEM. */
export type Certificate = { readonly certPem: string; readonly keyPem: string };

/** A certificate authority in memory. */
export type Authority = {
  readonly caPem: string;
  /** A leaf certificate with a new P-256 key, valid from an hour ago. */
  issue(request: CertificateRequest): Promise<Certificate>;
  /** Another CA, which this one signs. */
  intermediate(commonName: string): Promise<Authority>;
};

type AuthorityOptions = {
  /** Whether certificates name the keys of their subject and their issuer. Default: yes. */
  readonly keyIdentifiers?: boolean;
};

type Party = { readonly name: Name; readonly keys: webcrypto.CryptoKeyPair };

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A new certificate authority with a P-256 key. Node makes keys and signatures, but no certificates. */
export async function createAuthority(
  commonName = 'kube-semaphore test CA',
  options: AuthorityOptions = {},
): Promise<Authority> {
  const ca = await party(commonName);
  return authorityOf(ca, ca, options);
}

async function authorityOf(ca: Party, issuer: Party, options: AuthorityOptions): Promise<Authority> {
  const x509 = await loadX509();
  const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
  return {
    caPem: await certificate(ca, issuer, options, [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
    ]),
    async issue({ usage, commonName: user, organizations = [], dnsNames = [], ips = [], notAfter }) {
      const leaf = await party(user, organizations);
      const names = [
        ...dnsNames.map((value) => ({ type: 'dns', value }) as const),
        ...ips.map((value) => ({ type: 'ip', value }) as const),
      ];
      const certPem = await certificate(leaf, ca, { ...options, notAfter }, [
        new x509.KeyUsagesExtension(digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage === 'server' ? serverAuth : clientAuth]),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ]);
      const privateKey = KeyObject.from(leaf.keys.privateKey);
      return { certPem, keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
    intermediate: async (name) => authorityOf(await party(name), ca, options),
  };
}

/** Loaded on first use, because it takes 0.1 s. It needs the polyfill first. */
async function loadX509() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

async function party(commonName: string, organizations: readonly string[] = []): Promise<Party> {
  const x509 = await loadX509();
  // As UTF8String: in plain text, the library would interpret quotes and escapes.
  const name = new x509.Name([
    ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
    { CN: [{ utf8String: commonName }] },
  ]);
  return { name, keys: await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) };
}

async function certificate(
  subject: Party,
  issuer: Party,
  { keyIdentifiers = true, notAfter }: AuthorityOptions & { readonly notAfter?: Date | undefined },
  extensions: readonly Extension[],
): Promise<string> {
  const x509 = await loadX509();
  const now = Date.now();
  const made = await x509.X509CertificateGenerator.create({
    subject: subject.name,
    issuer: issuer.name,
    // From an hour ago, because the clock of a virtual machine may step back before the first handshake.
    notBefore: new Date(now - HOUR_MS),
    notAfter: notAfter ?? new Date(now + YEAR_MS),
    publicKey: subject.keys.publicKey,
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      ...(keyIdentifiers
        ? [
            await x509.SubjectKeyIdentifierExtension.create(subject.keys.publicKey),
            await x509.AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
          ]
        : []),
      ...extensions,
    ],
  });
  return `${made.toString('pem')}\n`;
}
