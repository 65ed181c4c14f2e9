import { createPrivateKey, hash, type KeyObject, X509Certificate } from 'node:crypto';
import { ClusterAuthError } from '../errors.ts';

/** A client certificate, perhaps with its chain, and its private key: PEM. */
export type KeyPair = { readonly certPem: string; readonly keyPem: string };

/** A PEM text in a file or in a field. */
export type PemSource = { readonly path: string } | Pem;

/** A PEM text, and its file or field, for errors. */
export type Pem = { readonly text: string; readonly where: string };

/** An error names at most this many keys: a bundle may have hundreds of certificates. */
const MAX_NAMED = 3;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Takes the certificates out of a PEM text, without comments: a bundle in which only comments changed isn't a new one.
 *
 * @returns the certificates in their order, as PEM
 * @throws {ClusterAuthError} if the text has no certificate, or a broken one
 */
export function readCertificates(pem: Pem): string {
  return certificatesIn(pem).join('\n');
}

/**
 * As `readCertificates`, but returns only the certificates whose public key has one of these hashes.
 *
 * @param hashes as for `kubeadm join --discovery-token-ca-cert-hash`: `sha256:`, and the lower-case hex digits of the hash
 *   of the key's DER (SubjectPublicKeyInfo, RFC 7469)
 * @throws {ClusterAuthError} if the text has no such certificate, or a broken one
 */
export function readPinned(pem: Pem, hashes: readonly string[]): string {
  const certificates = certificatesIn(pem);
  const trusted = certificates.filter((certificate) => hashes.includes(keyHash(certificate)));
  if (trusted.length > 0) return trusted.join('\n');
  const [found, wanted] = [certificates.slice(0, MAX_NAMED).map(keyHash).join(', '), hashes.join(' or ')];
  const message = `${pem.where} has no trusted certificate: its key must have the hash ${wanted}, not ${found}`;
  throw new ClusterAuthError('CLUSTER_CERTIFICATE', message);
}

function keyHash(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  return `sha256:${hash('sha256', publicKey.export({ type: 'spki', format: 'der' }))}`;
}

/** As `readCertificates`, but returns one PEM text per certificate. */
export function certificatesIn({ text, where }: Pem): readonly string[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new ClusterAuthError('CLUSTER_CERTIFICATE', `${where} has no PEM certificate`);
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block).toString().trimEnd();
    } catch (cause) {
      const message = `${where} has a broken PEM certificate (number ${index + 1})`;
      throw new ClusterAuthError('CLUSTER_CERTIFICATE', message, { cause });
    }
  });
}

/**
 * A client certificate and its key, checked before any connection: OpenSSL's errors don't name the file or field.
 *
 * @throws {ClusterAuthError} with the name of the one that is wrong
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
    // No cause: OpenSSL's error might quote the key.
    const problem = text.includes('ENCRYPTED') ? 'is encrypted, but must not need a passphrase' : 'is not a PEM key';
    throw new ClusterAuthError('CLUSTER_CERTIFICATE', `${where} ${problem}`);
  }
}
