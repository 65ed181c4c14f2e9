import {
  bad,
  good,
  isLoopbackHost,
  parseCidr,
  parseHostPort,
  parseRange,
  widthProblem,
  type Cidr,
  type HostPort,
  type Parsed,
} from '@kube-semaphore/net';
import { formatDuration, LONGEST_TIMER_MS, parseDuration } from './duration.ts';
import type { OptionType } from './table.ts';

/** A text as reasons repeat it: enough to recognise it. */
const quoted = (raw: string): string => JSON.stringify(raw.length > 80 ? `${raw.slice(0, 80)}…` : raw);

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
    return value === undefined ? bad(`${quoted(raw)} is neither true nor false`) : good(value);
  },
};

/** Any text, verbatim. `label` says what it is: `name`, `file`. */
export const text = (label: string): OptionType<string> => checkedText(label, () => undefined);

/**
 * A text with a rule, verbatim.
 *
 * @param problemOf what is wrong with a text, to follow it in a sentence: `is not a valid namespace`; undefined: nothing
 */
export function checkedText(label: string, problemOf: (raw: string) => string | undefined): OptionType<string> {
  const parse = (raw: string): Parsed<string> => {
    const problem = problemOf(raw);
    return problem === undefined ? good(raw) : bad(`${quoted(raw)} ${problem}`);
  };
  return { label, format: String, parse };
}

/** One of a few words. `label` is for words that are too long for help to show beside the flag. */
export function oneOf<const Word extends string>(words: readonly Word[], label = words.join('|')): OptionType<Word> {
  return {
    label,
    format: String,
    parse(raw) {
      const word = words.find((candidate) => candidate === raw);
      return word === undefined ? bad(`${quoted(raw)} is not one of ${words.join(', ')}`) : good(word);
    },
  };
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const;

/** Lines of this level and above are logged; `off` logs none. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const logLevelOf = (raw: string): LogLevel | undefined =>
  LOG_LEVELS.find((level) => level === raw.trim().toLowerCase());

/** As the Go programs read it (hclog): in any case, and `info` for any other word. */
export const logLevel: OptionType<LogLevel> = {
  label: LOG_LEVELS.join('|'),
  format: String,
  parse: (raw) => good(logLevelOf(raw) ?? 'info'),
  warning: (raw) =>
    logLevelOf(raw) === undefined
      ? `${quoted(raw)} is not one of ${LOG_LEVELS.join(', ')}, so info is used`
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
      return bad(`${quoted(raw)} is not a whole number from ${min} to ${max}`);
    },
  };
}

/**
 * Go's durations, as milliseconds; `parseDuration` has the rules. Less than `minMs`, by default 0, is refused. More
 * than a timer can take becomes the longest timer.
 */
export function duration({ minMs = 0 }: { minMs?: number } = {}): OptionType<number> {
  return {
    label: 'duration',
    format: formatDuration,
    parse(raw) {
      const parsed = parseDuration(raw);
      if (!parsed.ok) return parsed;
      if (parsed.value >= minMs) return good(Math.min(parsed.value, LONGEST_TIMER_MS));
      return bad(`${quoted(raw)} is less than ${formatDuration(minMs)}`);
    },
  };
}

/** Where a server listens: `:8080` is every address of the machine, port 0 one that the kernel picks. */
export const listenAddress: OptionType<HostPort> = {
  label: 'host:port',
  parse: parseHostPort,
  format: ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`,
};

/** Values with commas between them, in the order given. Every bad one is named. */
function listOf<T>(label: string, parse: (raw: string) => Parsed<T>, format: (value: T) => string) {
  const list: OptionType<readonly T[]> = {
    label,
    format: (values) => values.map(format).join(','),
    parse(raw) {
      const parts = raw.split(',').map((part) => parse(part.trim()));
      const reasons = parts.flatMap((part) => (part.ok ? [] : [part.reason]));
      return reasons.length > 0
        ? bad(reasons.join('; '))
        : good(parts.flatMap((part) => (part.ok ? [part.value] : [])));
    },
  };
  return list;
}

export const cidrList: OptionType<readonly Cidr[]> = listOf('CIDR,…', parseCidr, ({ text }) => text);

const ranges = listOf('CIDR,…', parseRange, ({ text }) => text);

/** Ranges of a remote's Pods: those that no remote may have are refused. */
export const rangeList: OptionType<readonly Cidr[]> = {
  ...ranges,
  parse(raw) {
    const parsed = ranges.parse(raw);
    const problem = parsed.ok ? widthProblem(parsed.value) : undefined;
    return problem === undefined ? parsed : bad(problem);
  },
};

/**
 * Hashes of public keys, each as `kubeadm join --discovery-token-ca-cert-hash` takes it: `sha256:` and the hash of the
 * key's DER (SubjectPublicKeyInfo) in hex digits, which become lower case.
 */
export const keyHashList: OptionType<readonly string[]> = listOf('sha256:hash,…', parseKeyHash, String);

function parseKeyHash(raw: string): Parsed<string> {
  const hash = raw.toLowerCase();
  return /^sha256:[0-9a-f]{64}$/.test(hash) ? good(hash) : bad(`${quoted(hash)} is not sha256: and 64 hex digits`);
}

/**
 * An absolute URL of one of `schemes` (`https`, `http`, `file`), verbatim. A user name or password in it is refused, and
 * then the reason doesn't repeat the URL.
 */
export function absoluteUrl(...schemes: readonly ('https' | 'http' | 'file')[]): OptionType<string> {
  const examples = schemes.map((scheme) => `${scheme}://`).join(' or ');
  const parse = (raw: string): Parsed<string> => {
    const url = URL.parse(raw);
    if (url !== null && (url.username !== '' || url.password !== ''))
      return bad('the URL has a user name or a password: put them into a kubeconfig');
    // The parser mends `https:host` and `https:/host`, which are mistakes.
    const isAbsolute = url !== null && raw.toLowerCase().startsWith(`${url.protocol}//`);
    if (isAbsolute && schemes.some((scheme) => `${scheme}:` === url.protocol)) return good(raw);
    return bad(`${quoted(raw)} is not a URL that begins with ${examples}`);
  };
  return { label: 'url', format: String, parse };
}

/** The URL of an API server: https:, or http: on this machine, as behind `kubectl proxy`. Verbatim. */
export const apiServerUrl: OptionType<string> = {
  label: 'url',
  format: String,
  parse(raw) {
    const parsed = absoluteUrl('https', 'http').parse(raw);
    const url = URL.parse(raw);
    if (!parsed.ok || url?.protocol !== 'http:' || isLoopbackHost(url.hostname.replace(/^\[|\]$/g, ''))) return parsed;
    return bad(
      `${quoted(raw)} would send credentials without TLS: use https://, or http:// to this machine (localhost, 127.0.0.1)`,
    );
  },
};
