import { execa } from 'execa';
import { codeOf, speakable, WireGuardToolsError } from './errors.ts';
import type { CallOptions } from './run-tool.ts';

/** Of iproute2. */
const PROGRAM = 'ip';

/** What `ip` says of a link that came, changed or went: `7: wireguard.c2: <…`, `Deleted 7: wireguard.c2: <…`, `8: eth0@if2: <…`. */
const CHANGE = /^(?:Deleted )?\d+: ([^:]+?)(?:@[^:@]*)?: </;

/** The link that a line of `ip monitor link` is about; undefined if it is none. */
export const linkOf = (line: string): string | undefined => CHANGE.exec(line)?.[1];

/** How changes of links are watched. A parameter of what uses it, as {@link watchLinks} runs a program. */
export type WatchLinks = (onChange: (name: string) => void, options: CallOptions) => Promise<void>;

/**
 * Calls `onChange` with the name of each link that comes, changes or goes, whoever did it, until `signal` is aborted. What
 * happens before the program listens, which it does soon and doesn't say, or when more happens than the kernel can tell, is
 * missed: who relies on it looks now and then besides.
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
  throw new WireGuardToolsError(codeOf(words), `ip monitor link: ${speakable(words)}`);
};
