import { createHash } from 'node:crypto';

const NAMES = 'authorization|token|passw(?:or)?d|secret|api[-_]?key|private[-_ ]?key|preshared[-_ ]?key|key[-_]data';

/** In quotes, which JSON in a text escapes, or up to a space, a comma or a semicolon. */
const VALUE = String.raw`\\?"[^"\\]*\\?"?|'[^']*'?|(?:(?:bearer|basic)\s+)?[^\s"'\\,;]+`;

/** The value of a field, a flag or a variable with such a name, whatever it looks like. */
const NAMED = new RegExp(String.raw`((?:${NAMES})[\w-]{0,64}\\?["']?\s*[:=]\s*)(?:${VALUE})`, 'gi');

const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi;

/** Begins as JSON in base64 does. */
const JWT = /eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g;

const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

const USERINFO = /:\/\/[^/\s@"]+@/g;

/** Of kubeadm: https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/ */
const BOOTSTRAP_TOKEN = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g;

/** Certificates, keys and kubeconfigs in base64. No name is so long without a hyphen or a dot. */
const LONG = /[A-Za-z0-9+/]{80,}={0,2}/g;

/** 32 bytes in base64. A private key looks like a public one. */
const WIREGUARD_KEY = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=])/g;

const GONE = '[redacted]';

/**
 * `text` without anything that looks like a credential. A key of WireGuard becomes a hash, so that equal keys can be
 * recognised.
 */
export function redact(text: string): string {
  return text
    .replaceAll(PEM, GONE)
    .replaceAll(JWT, GONE)
    .replaceAll(USERINFO, `://${GONE}@`)
    .replaceAll(WIREGUARD_KEY, (key) => `key-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`)
    .replaceAll(LONG, GONE)
    .replaceAll(BOOTSTRAP_TOKEN, GONE)
    .replaceAll(NAMED, (_, name: string) => `${name}${GONE}`)
    .replaceAll(BEARER, (_, scheme: string) => `${scheme} ${GONE}`);
}
