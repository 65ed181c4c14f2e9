import { once } from 'node:events';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { Place } from '@kube-semaphore/testnet';

/** Where calls were led to. */
export interface Destinations {
  /** The address that a call from this port was sent to, by the time that the name and the Service's address were settled. */
  of(port: number): string | undefined;
  stop(): Promise<void>;
}

/** Watches which connections begin on a link. @throws {Error} with tcpdump's words if it doesn't */
export async function watchDestinations(place: Place, link: string): Promise<Destinations> {
  const beginnings = 'tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn';
  const tcpdump = place.spawn('tcpdump', ['-i', link, '-n', '-l', '--immediate-mode', beginnings], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = tcpdump;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  let [lines, words] = ['', ''];
  stdout.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk));
  stderr.setEncoding('utf8').on('data', (chunk: string) => (words += chunk));
  const ended = once(tcpdump, 'close');
  await eventually(
    () => {
      if (tcpdump.exitCode !== null) throw new Error(`tcpdump: ${words.trim()}`);
      return words.includes('listening on') ? true : undefined;
    },
    isDefined,
    { what: `tcpdump on ${link}` },
  );
  return {
    of: (port) => destinationsIn(lines).get(port),
    stop: async () => {
      tcpdump.kill('SIGINT');
      await ended;
    },
  };
}

/** The addresses that connections were meant for, by the ports that they come from, as tcpdump writes them. */
export function destinationsIn(lines: string): ReadonlyMap<number, string> {
  const found = lines.matchAll(/ IP [\d.]+\.(\d+) > ([\d.]+)\.\d+: /g);
  return new Map(Array.from(found, ([, port, address = '']) => [Number(port), address] as const));
}
