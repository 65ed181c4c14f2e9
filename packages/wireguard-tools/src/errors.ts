/** What went wrong, for callers. */
export type WireGuardToolsCode =
  /** The program (`wg`, `ip`, `wireguard-go`) isn't installed. */
  | 'WG_NOT_INSTALLED'
  /** Not permitted: CAP_NET_ADMIN is missing. */
  | 'WG_DENIED'
  /** The device doesn't exist, or isn't a WireGuard device. */
  | 'WG_NO_DEVICE'
  /** The kernel has no WireGuard. */
  | 'WG_UNSUPPORTED'
  /** What should be added exists already; it may be somebody else's. */
  | 'WG_EXISTS'
  /** What should be deleted doesn't exist. */
  | 'WG_ABSENT'
  /** No route leads to an address. */
  | 'WG_NO_ROUTE'
  /** The UDP port is in use. */
  | 'WG_PORT_TAKEN'
  /** No answer in time. It is unknown whether the change was made. */
  | 'WG_DEADLINE'
  /** The output can't be read. */
  | 'WG_OUTPUT'
  /** Anything else; the message contains the tool's words. */
  | 'WG_FAILED';

/** A call of `wg` or `ip` failed. The message contains the tool's words, cut and without keys; there is no `cause`. */
export class WireGuardToolsError extends Error {
  override readonly name = 'WireGuardToolsError';
  readonly code: WireGuardToolsCode;

  constructor(code: WireGuardToolsCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The longest excerpt of a tool's words. */
const MAX_WORDS = 300;

/** What the words of the tools mean. The first match counts. */
const meanings: readonly (readonly [RegExp, WireGuardToolsCode])[] = [
  [/Operation not permitted|Permission denied/, 'WG_DENIED'],
  [/Unknown device type/, 'WG_UNSUPPORTED'],
  // From wg; the second and third if the kernel has no WireGuard.
  [
    /Unable to (?:access|modify) interface: (?:No such device|Protocol not supported|Operation not supported)/,
    'WG_NO_DEVICE',
  ],
  [/Cannot find device|Device "[^"]*" does not exist|No such device/, 'WG_NO_DEVICE'],
  // From ip link add, in versions that don't print the kernel's explanation.
  [/RTNETLINK answers: Operation not supported/, 'WG_UNSUPPORTED'],
  [/Network is unreachable|No route to host/, 'WG_NO_ROUTE'],
  [/Address already in use/, 'WG_PORT_TAKEN'],
  [/File exists|[Aa]ddress already assigned/, 'WG_EXISTS'],
  [/No such process|[Aa]ddress not found|Cannot assign requested address|FIB table does not exist/, 'WG_ABSENT'],
];

/** The code for the words of a failed tool. */
export function codeOf(words: string): WireGuardToolsCode {
  return meanings.find(([pattern]) => pattern.test(words))?.[1] ?? 'WG_FAILED';
}

/**
 * A tool's words, safe for a log: one line, cut after 300 characters, without anything that looks like a key, and without what
 * `wg` quotes from a file or an argument.
 */
export function loggable(words: string, max = MAX_WORDS): string {
  const text = words
    .trim()
    .replaceAll(/`[^']*(?:'|$)/g, '(…)')
    .replaceAll(/[A-Za-z0-9+/]{40,}={0,2}/g, '(key)')
    .replaceAll(/\s*\n\s*/g, '; ');
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
