import { createPrivateKey, hash, type KeyObject, X509Certificate } from 'node:crypto';
import { ClusterAuthError } from '../errors.ts';

/** A client certificate, perhaps with its chain, and the private key that belongs to it: PEM. */
export type KeyPair = { readonly certPem: string; readonly keyPem: string };

/** A PEM text that a file holds, or that a field held itself. */
export type PemSource = { readonly path: string } | Pem;

/** A PEM text, and the file or field that it comes from, for errors. */
export type Pem = { readonly text: string; readonly where: string };

/** A bundle may hold hundreds of certificates. */
const MAX_TOLD = 3;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Takes the certificates out of a PEM text, which may have comments between them. Equal certificates give equal
 * texts, so that a bundle whose comments changed is no new one.
 *
 * @returns the certificates in their order, as PEM
 * @throws {ClusterAuthError} if there is none, or one that is broken
 */
export function readCertificates(pem: Pem): string {
  return certificatesIn(pem).join('\n');
}

/**
 * The same, but of the certificates those alone whose public key has one of these hashes.
 *
 * @param hashes as `kubeadm join` takes them for `--discovery-token-ca-cert-hash`: `sha256:`, and that of the key's DER
 *   (SubjectPublicKeyInfo, RFC 7469) in small hex digits
 * @throws {ClusterAuthError} if there is none, or one that is broken
 */
export function readPinned(pem: Pem, hashes: readonly string[]): string {
  const certificates = certificatesIn(pem);
  const trusted = certificates.filter((certificate) => hashes.includes(keyHash(certificate)));
  if (trusted.length > 0) return trusted.join('\n');
  const [found, wanted] = [certificates.slice(0, MAX_TOLD).map(keyHash).join(', '), hashes.join(' or ')];
  const message = `${pem.where} holds no certificate that is trusted here: the hash of its key is ${found}, and should be ${wanted}`;
  throw new ClusterAuthError('CLUSTER_CERTIFICATE', message);
}

function keyHash(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  return `sha256:${hash('sha256', publicKey.export({ type: 'spki', format: 'der' }))}`;
}

/** As `readCertificates`, one PEM text for each certificate. */
export function certificatesIn({ text, where }: Pem): readonly string[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new ClusterAuthError('CLUSTER_CERTIFICATE', `${where} holds no PEM certificate`);
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block).toString().trimEnd();
    } catch (cause) {
      const message = `${where} holds a broken PEM certificate, number ${index + 1}`;
      throw new ClusterAuthError('CLUSTER_CERTIFICATE', message, { cause });
    }
  });
}

/**
 * A client certificate and its key, checked before any connection is made: OpenSSL's own words would name neither.
 *
 * @throws {ClusterAuthError} that names which of the two is wrong
 */
export function readKeyPair(cert: Pem, key: Pem): KeyPair {
  const certPem = readCertificates(cert);
  if (new X509Certificate(certPem).checkPrivateKey(readPrivateKey(key))) return { certPem, keyPem: key.text };
  throw new ClusterAuthError('CLUSTER_CERTIFICATE', `${key.where} is not the key of ${cert.where}`);
}

function readPrivateKey({ text, where }: Pem): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    // No cause: what OpenSSL says of a key isn't worth the risk that it quotes one.
    const problem = text.includes('ENCRYPTED')
      ? 'is encrypted, and nobody is here to give a passphrase'
      : 'is no PEM key';
    throw new ClusterAuthError('CLUSTER_CERTIFICATE', `${where} ${problem}`);
  }
}
