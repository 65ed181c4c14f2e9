import {
  bad,
  good,
  isLoopbackHost,
  parseCidr,
  parseHostPort,
  type Cidr,
  type HostPort,
  type Parsed,
} from '@kube-semaphore/net';
import { formatDuration, parseDuration } from './duration.ts';
import type { OptionType } from './table.ts';

/** The spellings of Go's strconv.ParseBool. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((raw) => [raw, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((raw) => [raw, false] as const),
]);

/** A switch: `-flag`, `-flag=false`, in the spellings of Go's strconv.ParseBool. */
export const boolean: OptionType<boolean> = {
  label: 'true|false',
  isSwitch: true,
  format: String,
  parse(raw) {
    const value = BOOLEANS.get(raw);
    return value === undefined ? bad(`${JSON.stringify(raw)} is neither true nor false`) : good(value);
  },
};

/** Any text, kept verbatim. `label` says what it is: `name`, `file`. */
export function text(label: string): OptionType<string> {
  return { label, format: String, parse: good };
}

/** One of a few words. `label` is for words too long to stand beside the flag in help. */
export function oneOf<const Word extends string>(words: readonly Word[], label = words.join('|')): OptionType<Word> {
  return {
    label,
    format: String,
    parse(raw) {
      const word = words.find((candidate) => candidate === raw);
      return word === undefined ? bad(`${JSON.stringify(raw)} is none of ${words.join(', ')}`) : good(word);
    },
  };
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const;

/** From which level on lines are logged; `off` logs none. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const logLevelOf = (raw: string): LogLevel | undefined =>
  LOG_LEVELS.find((level) => level === raw.trim().toLowerCase());

/** As the Go programs read it (hclog): in any case, and `info` for whatever is no level. */
export const logLevel: OptionType<LogLevel> = {
  label: LOG_LEVELS.join('|'),
  format: String,
  parse: (raw) => good(logLevelOf(raw) ?? 'info'),
  doubt: (raw) =>
    logLevelOf(raw) === undefined
      ? `${JSON.stringify(raw)} is none of ${LOG_LEVELS.join(', ')}, so info is used`
      : undefined,
};

/** A whole number in decimal from `min` to `max`, both allowed. */
export function integer({ min, max }: { min: number; max: number }): OptionType<number> {
  return {
    label: 'number',
    format: String,
    parse(raw) {
      const value = Number(raw);
      if (/^-?(0|[1-9]\d{0,14})$/.test(raw) && value >= min && value <= max) return good(value);
      return bad(`${JSON.stringify(raw)} is not a whole number from ${min} to ${max}`);
    },
  };
}

/** Timers of Node.js go off at once when they are given more: 2^31 - 1 ms, 24.8 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Go's durations, as milliseconds; `parseDuration` has the rules. Anything below `minMs`, by default 0, is refused, and
 * more than 24.8 days counts as so many.
 */
export function duration({ minMs = 0 }: { minMs?: number } = {}): OptionType<number> {
  return {
    label: 'duration',
    format: formatDuration,
    parse(raw) {
      const parsed = parseDuration(raw);
      if (!parsed.ok) return parsed;
      if (parsed.value >= minMs) return good(Math.min(parsed.value, LONGEST_TIMER_MS));
      return bad(`${JSON.stringify(raw)} is less than ${formatDuration(minMs)}`);
    },
  };
}

/** Where a server listens: `:8080` is every address of the machine, port 0 one that the kernel picks. */
export const listenAddress: OptionType<HostPort> = {
  label: 'host:port',
  parse: parseHostPort,
  format: ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`,
};

/** CIDRs with commas between them, in the order given. Every bad one is named. */
export const cidrList: OptionType<readonly Cidr[]> = {
  label: 'CIDR,…',
  format: (cidrs) => cidrs.map((cidr) => cidr.text).join(','),
  parse(raw) {
    const parsed = raw.split(',').map((part) => parseCidr(part.trim()));
    const reasons = parsed.flatMap((part) => (part.ok ? [] : [part.reason]));
    return reasons.length > 0 ? bad(reasons.join('; ')) : good(parsed.flatMap((part) => (part.ok ? [part.value] : [])));
  },
};

/**
 * Hashes of public keys with commas between them, each as `kubeadm join --discovery-token-ca-cert-hash` takes it: `sha256:` and
 * that of the key's DER (SubjectPublicKeyInfo) in hex digits, which are made small. Every bad one is named.
 */
export const keyHashList: OptionType<readonly string[]> = {
  label: 'sha256:hash,…',
  format: (hashes) => hashes.join(','),
  parse(raw) {
    const hashes = raw.split(',').map((part) => part.trim().toLowerCase());
    const wrong = hashes.filter((hash) => !/^sha256:[0-9a-f]{64}$/.test(hash));
    return wrong.length === 0
      ? good(hashes)
      : bad(wrong.map((hash) => `${JSON.stringify(hash)} is not sha256: and 64 hex digits`).join('; '));
  },
};

/**
 * An absolute URL of one of `schemes` (`https`, `http`, `file`), kept as written. A user name or password in it is
 * refused, and then the reason doesn't repeat the URL.
 */
export function absoluteUrl(...schemes: readonly ('https' | 'http' | 'file')[]): OptionType<string> {
  const examples = schemes.map((scheme) => `${scheme}://`).join(' or ');
  return { label: 'url', format: String, parse: (raw) => parseUrl(raw, { schemes, examples }) };
}

/** The URL of an API server: https:, or http: on this machine, as behind `kubectl proxy`. Kept as written. */
export const apiServerUrl: OptionType<string> = {
  label: 'url',
  format: String,
  parse(raw) {
    const parsed = absoluteUrl('https', 'http').parse(raw);
    const url = URL.parse(raw);
    if (!parsed.ok || url?.protocol !== 'http:' || isLoopbackHost(url.hostname.replace(/^\[|\]$/g, ''))) return parsed;
    return bad(
      `${JSON.stringify(raw)} would send credentials without TLS: use https://, or http:// to this machine (localhost, 127.0.0.1)`,
    );
  },
};

function parseUrl(raw: string, rule: { schemes: readonly string[]; examples: string }): Parsed<string> {
  const url = URL.parse(raw);
  if (url !== null && (url.username !== '' || url.password !== '')) {
    return bad('the URL holds a user name or a password, which belong into a kubeconfig');
  }
  // The parser mends `https:host` and `https:/host`; whoever wrote that meant something else.
  const isAbsolute = url !== null && raw.toLowerCase().startsWith(`${url.protocol}//`);
  if (isAbsolute && rule.schemes.includes(url.protocol.slice(0, -1))) return good(raw);
  return bad(`${JSON.stringify(raw)} is not a URL that begins with ${rule.examples}`);
}
