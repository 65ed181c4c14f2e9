import { once } from 'node:events';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { Place } from '@kube-semaphore/testnet';

/** The destinations of calls. */
export interface Destinations {
  /** The destination address of a call from this port, after DNS and the Service's NAT. */
  of(port: number): string | undefined;
  stop(): Promise<void>;
}

/** Records new connections on a link. @throws {Error} with tcpdump's message if it fails */
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

/** The destination addresses of connections by source port, from tcpdump's output. */
export function destinationsIn(lines: string): ReadonlyMap<number, string> {
  const found = lines.matchAll(/ IP [\d.]+\.(\d+) > ([\d.]+)\.\d+: /g);
  return new Map(Array.from(found, ([, port, address = '']) => [Number(port), address] as const));
}
