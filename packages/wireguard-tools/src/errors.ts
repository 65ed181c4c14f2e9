/** What went wrong, for callers to act upon. */
export type WireGuardToolsCode =
  /** The program (`wg`, `ip`, `wireguard-go`) isn't there. */
  | 'WG_NOT_INSTALLED'
  /** We may not do it: CAP_NET_ADMIN is missing. */
  | 'WG_DENIED'
  /** No device of that name, or none that speaks WireGuard. */
  | 'WG_NO_DEVICE'
  /** The kernel has no WireGuard. */
  | 'WG_UNSUPPORTED'
  /** What was to be added is there already, perhaps as somebody else's. */
  | 'WG_EXISTS'
  /** What was to be deleted isn't there. */
  | 'WG_ABSENT'
  /** The UDP port is somebody else's. */
  | 'WG_PORT_TAKEN'
  /** No answer within the deadline; whether the change was made is not known. */
  | 'WG_DEADLINE'
  /** An answer that we can't read. */
  | 'WG_OUTPUT'
  /** Anything else; the message has the tool's words. */
  | 'WG_FAILED';

/** A call of `wg` or `ip` failed. The message has the tool's words, cut and without keys; there is no `cause`. */
export class WireGuardToolsError extends Error {
  override readonly name = 'WireGuardToolsError';
  readonly code: WireGuardToolsCode;

  constructor(code: WireGuardToolsCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Longest excerpt of what a tool said. */
const MAX_WORDS = 300;

/** What the tools say, and what it means. The first that fits counts. */
const meanings: readonly (readonly [RegExp, WireGuardToolsCode])[] = [
  [/Operation not permitted|Permission denied/, 'WG_DENIED'],
  [/Unknown device type/, 'WG_UNSUPPORTED'],
  // wg, of a device that isn't there or isn't WireGuard; the second and third where the kernel has no WireGuard.
  [
    /Unable to (?:access|modify) interface: (?:No such device|Protocol not supported|Operation not supported)/,
    'WG_NO_DEVICE',
  ],
  [/Cannot find device|Device "[^"]*" does not exist|No such device/, 'WG_NO_DEVICE'],
  // ip link add, from versions before the kernel explained itself.
  [/RTNETLINK answers: Operation not supported/, 'WG_UNSUPPORTED'],
  [/Address already in use/, 'WG_PORT_TAKEN'],
  [/File exists|[Aa]ddress already assigned/, 'WG_EXISTS'],
  [/No such process|[Aa]ddress not found|Cannot assign requested address|FIB table does not exist/, 'WG_ABSENT'],
];

/** What a tool meant by the words that it failed with. */
export function codeOf(words: string): WireGuardToolsCode {
  return meanings.find(([pattern]) => pattern.test(words))?.[1] ?? 'WG_FAILED';
}

/**
 * A tool's words as they may stand in a log: one line, cut after 300 characters, without anything that looks like a
 * key, and without what `wg` quotes of a file or an argument.
 */
export function speakable(words: string, max = MAX_WORDS): string {
  const text = words
    .trim()
    .replaceAll(/`[^']*(?:'|$)/g, '(…)')
    .replaceAll(/[A-Za-z0-9+/]{40,}={0,2}/g, '(key)')
    .replaceAll(/\s*\n\s*/g, '; ');
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
