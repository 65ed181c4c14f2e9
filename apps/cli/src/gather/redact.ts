import { createHash } from 'node:crypto';

/** A form of credentials, and what a text has in their place: `[redacted]` by default. */
type Form = { readonly pattern: RegExp; readonly instead?: (found: string, ...groups: string[]) => string };

const GONE = '[redacted]';

/** After a first part, such as the name of a field. */
const afterStart = (_: string, start: string): string => `${start}${GONE}`;

/** The same, in the quotes of the value, so that a log in JSON stays JSON. */
const inQuotes = (_: string, start: string, open = ''): string => `${start}${open}${GONE}${open}`;

/** No letter of base64 comes before. The `n` of a line break in a JSON text isn't one. */
const START = String.raw`(?:(?<![A-Za-z0-9+/])(?<!\\(?=[nrt]))|(?<=\\[nrt]))`;

const PRIVATE_KEY = '[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----';

/** Of base64, the last of which may be short. */
const LINES = String.raw`(?:\s|\\[nr])*(?:[A-Za-z0-9+/]{40,}={0,2}(?:\s|\\[nr])+)*[A-Za-z0-9+/]*={0,2}`;

const NAMES = [
  'token',
  'passw(?:or)?d',
  'passphrase',
  'pwd',
  'secret',
  '(?:api|access|account|private|preshared)[-_ ]?key',
  'key[-_]data',
].join('|');

/** A value in quotes, which JSON in a text escapes, or in brackets. */
const QUOTED = String.raw`(\\*["'])[^\r\n]*?(?:(?<!\\)\2|(?=[\r\n])|$)|\[[^\]\r\n]*\]?`;

/** Without quotes, it goes on to a space, a comma or a semicolon. */
const WORD = String.raw`(?:(?:bearer|basic)[ \t]+)?(?!\{)(?:[^\s"'\\,;]|\\(?![nrtu"'\\]))+`;

/** A header has those, so it goes on to the end of the line, or of the text in quotes around it. */
const HEADER = String.raw`(?:[^"'\\\r\n]|(?<==)\\*"[^"\\\r\n]*\\*")+`;

/** After a name: a quote that JSON may escape, and a colon or an equals sign. */
const IS = String.raw`\\*["']?[ \t]*[:=][ \t]*`;

/**
 * What credentials look like, in the order in which they are looked for: the later ones would take a part of an earlier one.
 * Each pattern takes linear time.
 */
export const forms = {
  /** Up to its end; or if that was cut off, as long as it looks like base64. */
  'a private key in PEM': {
    pattern: new RegExp(
      String.raw`-----BEGIN ${PRIVATE_KEY}(?:(?:(?!-----)[^]){0,20000}?-----END ${PRIVATE_KEY}|${LINES})`,
      'g',
    ),
  },
  /** It begins as JSON in base64 does. */
  'a JWT': { pattern: /eyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g },
  'the user in a URL': { pattern: /:\/\/[^/\s"\\]+@/g, instead: () => `://${GONE}@` },
  /** Many tools print the secret key beside its id. */
  'an access key of AWS': {
    pattern: new RegExp(
      String.raw`${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])(?:[^A-Za-z0-9+/\r\n]{1,8}[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=]))?`,
      'g',
    ),
  },
  'a key or token of Google': { pattern: /AIza[\w-]{35}|ya29\.[\w.-]{20,}|GOCSPX-[\w-]{20,}/g },
  'a token of GitHub': { pattern: /gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_\w{22,}/g },
  'a token of GitLab': { pattern: /gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-[\w-]{20,}/g },
  'a token of Slack': { pattern: /xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|(?<=hooks\.slack\.com\/\w{1,20}\/)[\w/]{20,}/g },
  /** Azure's SAS, and signed URLs of AWS and Google. */
  'the signature of a URL': { pattern: /(sig(?:nature)?=)[^\s&"'\\,;]+/gi, instead: afterStart },
  /** 32 bytes in base64. A private key looks like a public one, so equal keys can only be recognised by their hash. */
  'a key of WireGuard': {
    pattern: new RegExp(String.raw`${START}[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=])`, 'g'),
    instead: (key) => `key-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`,
  },
  /** Certificates, keys and kubeconfigs. No part of a name is so long; hashes are, in hex. */
  'a long text in base64': {
    pattern: new RegExp(String.raw`${START}(?![\da-fA-F]+(?![A-Za-z0-9+/]))[A-Za-z0-9+/]{64,}={0,2}`, 'g'),
  },
  /** https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/ */
  'a bootstrap token': { pattern: new RegExp(String.raw`${START}[a-z0-9]{6}\.[a-z0-9]{16}\b`, 'g') },
  'a header with credentials': {
    pattern: new RegExp(String.raw`((?:authorization|cookie)${IS})(?:${QUOTED}|${HEADER})`, 'gi'),
    instead: inQuotes,
  },
  /** The value of a field, a flag or a variable with such a name, whatever it looks like. */
  'a value by its name': {
    pattern: new RegExp(String.raw`((?:${NAMES})[\w-]{0,64}${IS})(?:${QUOTED}|${WORD})`, 'gi'),
    instead: inQuotes,
  },
  'credentials of HTTP': { pattern: /\b((?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi, instead: afterStart },
} satisfies Readonly<Record<string, Form>>;

/** `text` without anything that looks like a credential. */
export const redact = (text: string): string =>
  Object.values<Form>(forms).reduce(
    (left, { pattern, instead = () => GONE }) => left.replaceAll(pattern, instead),
    text,
  );
