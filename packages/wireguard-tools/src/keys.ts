import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { bad, good, type Parsed } from '@kube-semaphore/net';

const KEY_BYTES = 32;

/** The DER of a PKCS #8 X25519 key before its 32 bytes of key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** Canonical base64 of 32 bytes: two bits of the last of its 43 digits are unused, and zero. */
const BASE64_KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Reads a public key as `wg` writes it: base64 of 32 bytes, in its canonical form. A key of zeros is refused, as WireGuard uses
 * it for "no key".
 *
 * @returns the text itself, or what is wrong with it
 */
export function parsePublicKey(raw: string): Parsed<string> {
  if (!BASE64_KEY.test(raw)) return bad('not a WireGuard key, which is base64 of 32 bytes');
  return /^A+=$/.test(raw) ? bad('a key of zeros is not a WireGuard key') : good(raw);
}

/** A private key that no log line or error can show by accident: only `reveal()` returns its text. */
export class PrivateKey {
  readonly #text: string;

  /** @param text valid base64 of a key */
  constructor(text: string) {
    this.#text = text;
  }

  /** The key in base64, for the file that `wg` reads. */
  reveal(): string {
    return this.#text;
  }
}

/** Reads a private key of a key file: base64, perhaps with white space around it. An error never quotes the text. */
export function parsePrivateKey(raw: string): Parsed<PrivateKey> {
  const parsed = parsePublicKey(raw.trim());
  return parsed.ok ? good(new PrivateKey(parsed.value)) : parsed;
}

/** Generates a private key as `wg genkey` does. */
export function generatePrivateKey(): PrivateKey {
  const bytes = randomBytes(KEY_BYTES);
  // Clamped (RFC 7748), as the kernel shows keys: so it shows what the file contains.
  bytes[0] = (bytes[0] ?? 0) & 248;
  bytes[31] = ((bytes[31] ?? 0) & 127) | 64;
  return new PrivateKey(bytes.toString('base64'));
}

/** The public key of a private key, in base64. */
export function publicKeyOf(privateKey: PrivateKey): string {
  // DER, as exporting a JWK in a loop deadlocks on Node.js 20.
  const der = Buffer.concat([PKCS8_PREFIX, Buffer.from(privateKey.reveal(), 'base64')]);
  const publicKey: KeyObject = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES).toString('base64');
}
