import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { bad, good, type Parsed } from '@kube-semaphore/net';

const KEY_BYTES = 32;

/** DER of a PKCS #8 X25519 key, up to the 32 bytes of the key itself (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** Base64 of 32 bytes: the last of its 43 digits has two bits to spare, which are zero. */
const BASE64_KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Reads a public key as `wg` writes it: base64 of 32 bytes, in its one canonical form. The key of zeros, with which
 * WireGuard says that there is none, is refused.
 *
 * @returns the text itself, or what is wrong with it
 */
export function parsePublicKey(raw: string): Parsed<string> {
  if (!BASE64_KEY.test(raw)) return bad('not a WireGuard key, which is base64 of 32 bytes');
  return isZero(raw) ? bad('the key of zeros, which is no key') : good(raw);
}

/** A private key that no log line or error shows by accident: only `reveal()` gives its text. */
export class PrivateKey {
  readonly #text: string;

  /** @param text as `parsePrivateKey` accepts it */
  constructor(text: string) {
    this.#text = text;
  }

  /** The key in base64, for the file that `wg` reads it from. */
  reveal(): string {
    return this.#text;
  }
}

/**
 * Reads a private key in base64, with or without white space around it, as key files have it.
 *
 * @returns the key, or what is wrong, without any of the text
 */
export function parsePrivateKey(raw: string): Parsed<PrivateKey> {
  const text = raw.trim();
  if (!BASE64_KEY.test(text)) return bad('not a WireGuard key, which is base64 of 32 bytes');
  return isZero(text) ? bad('the key of zeros, which is no key') : good(new PrivateKey(text));
}

/** A new private key, as `wg genkey` makes them. */
export function generatePrivateKey(): PrivateKey {
  const bytes = randomBytes(KEY_BYTES);
  // The curve does this itself (RFC 7748); so that the kernel, which shows keys so, shows what the file has.
  bytes[0] = (bytes[0] ?? 0) & 248;
  bytes[31] = ((bytes[31] ?? 0) & 127) | 64;
  return new PrivateKey(bytes.toString('base64'));
}

/** The public key that belongs to a private one, in base64. */
export function publicKeyOf(privateKey: PrivateKey): string {
  // DER, because exporting a JWK in a loop deadlocks on Node.js 20.
  const der = Buffer.concat([PKCS8_PREFIX, Buffer.from(privateKey.reveal(), 'base64')]);
  const publicKey: KeyObject = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES).toString('base64');
}

function isZero(key: string): boolean {
  return /^A+=$/.test(key);
}
