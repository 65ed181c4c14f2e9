import { execa } from 'execa';
import { codeOf, loggable, WireGuardToolsError } from './errors.ts';
import type { CallOptions } from './run-tool.ts';

/** Of iproute2. */
const PROGRAM = 'ip';

/** A line of `ip` about a link: `7: wireguard.c2: <…`, `Deleted 7: wireguard.c2: <…`, `8: eth0@if2: <…`. */
const CHANGE = /^(?:Deleted )?\d+: ([^:]+?)(?:@[^:@]*)?: </;

/** The link that a line of `ip monitor link` is about; undefined for other lines. */
export const linkOf = (line: string): string | undefined => CHANGE.exec(line)?.[1];

/** As {@link watchLinks}, which runs a program; so tests can replace it. */
export type WatchLinks = (onChange: (name: string) => void, options: CallOptions) => Promise<void>;

/**
 * Calls `onChange` with the name of each link that is added, changed or removed, until `signal` is aborted. It misses changes
 * before the program listens, and when there are too many for the kernel's buffer: a caller must also observe periodically.
 *
 * @throws {WireGuardToolsError} if the program ends by itself
 */
export const watchLinks: WatchLinks = async (onChange, { signal }) => {
  if (signal.aborted) return;
  const monitor = execa(PROGRAM, ['-oneline', 'monitor', 'link'], {
    cancelSignal: signal,
    killSignal: 'SIGKILL',
    stdin: 'ignore',
    buffer: { stdout: false },
    env: { LC_ALL: 'C' },
    reject: false,
  });
  for await (const line of monitor.iterable()) {
    const name = linkOf(line);
    if (name !== undefined) onChange(name);
  }
  const { code, stderr, exitCode } = await monitor;
  if (signal.aborted) return;
  if (code === 'ENOENT') throw new WireGuardToolsError('WG_NOT_INSTALLED', `${PROGRAM} is not installed`);
  const words = stderr.trim() === '' ? `exit code ${exitCode}` : stderr;
  throw new WireGuardToolsError(codeOf(words), `ip monitor link: ${loggable(words)}`);
};
