import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { ClusterAuthError, reasonOf } from '../errors.ts';
import { certificatesIn, type KeyPair } from './pem.ts';
import { verificationFailure } from './verification.ts';

/** How many choices among CAs of equal subjects are tried. The change of a CA has two, those of two CAs have four. */
const MAX_CHOICES = 8;

/**
 * Verifies servers as Go does: every certificate of the bundle is trusted by itself, also an intermediate CA without its
 * root, and a server's own certificate. Of several CAs with one subject, OpenSSL tries only one, if their key identifiers
 * don't say which. So if a server isn't verified, bundles are tried that have only one CA of each subject.
 */
export class SecureContexts {
  readonly #ca: string | undefined;
  readonly #keyPair: KeyPair | undefined;
  /** That of the whole bundle is the first. The others are made when that fails. */
  readonly #contexts: tls.SecureContext[];
  #hasAll = false;
  /** The one that verified the server last. */
  #last: tls.SecureContext;

  /**
   * @param ca PEM; undefined: the roots that Node.js has built in
   * @throws {ClusterAuthError} if OpenSSL refuses a certificate, for example because its key is too short
   */
  constructor(ca: string | undefined, keyPair?: KeyPair) {
    this.#ca = ca;
    this.#keyPair = keyPair;
    this.#last = contextOf(ca, keyPair);
    this.#contexts = [this.#last];
  }

  /**
   * Makes a verified connection. A bundle of 140 roots is slow to parse, so all connections share the contexts.
   *
   * @param connect makes one with a context; it rejects with Node.js' error if the server isn't verified
   * @throws the error of the first attempt
   */
  async connect<T>(connect: (context: tls.SecureContext) => Promise<T>): Promise<T> {
    const first = this.#last;
    try {
      return await connect(first);
    } catch (error) {
      for (const context of isUnverified(error) ? this.#all() : []) {
        if (context === first) continue;
        try {
          const connection = await connect(context);
          this.#last = context;
          return connection;
        } catch (next) {
          if (!isUnverified(next)) throw next;
        }
      }
      throw error;
    }
  }

  #all(): readonly tls.SecureContext[] {
    if (!this.#hasAll && this.#ca !== undefined)
      this.#contexts.push(...choicesAmong(this.#ca).map((ca) => contextOf(ca, this.#keyPair)));
    this.#hasAll = true;
    return this.#contexts;
  }
}

const isUnverified = (error: unknown): boolean => verificationFailure(error) !== undefined;

function contextOf(ca: string | undefined, keyPair: KeyPair | undefined): tls.SecureContext {
  try {
    return tls.createSecureContext({
      minVersion: 'TLSv1.2',
      allowPartialTrustChain: true,
      ...(ca !== undefined && { ca }),
      ...(keyPair !== undefined && { cert: keyPair.certPem, key: keyPair.keyPem }),
    });
  } catch (cause) {
    const message = `the CA or the client certificate can't be used: ${reasonOf(cause)}`;
    throw new ClusterAuthError('CLUSTER_CERTIFICATE', message, { cause });
  }
}

/** The bundles that have one certificate of each subject; none if the subjects differ. */
function choicesAmong(ca: string): readonly string[] {
  const certificates = new Set(certificatesIn({ text: ca, where: 'the CA' }));
  const bySubject = Map.groupBy(certificates, (certificate) => new X509Certificate(certificate).subject);
  if (bySubject.size === certificates.size) return [];
  const choices = [...bySubject.values()].reduce<readonly (readonly string[])[]>(
    (chosen, same) => chosen.flatMap((some) => same.map((one) => [...some, one])).slice(0, MAX_CHOICES),
    [[]],
  );
  return choices.map((choice) => choice.join('\n'));
}
