import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { Place } from '@kube-semaphore/testnet';

/**
 * Records where a node's calls lead, as long as the node exists.
 *
 * @returns the destination of the last call from a port, after NAT; undefined if the call found no address
 * @throws {Error} with tcpdump's message if it fails
 */
export async function watchDestinations(place: Place): Promise<(port: number) => string | undefined> {
  // The ports of caller.ts.
  const beginnings = 'tcp src portrange 61000-65499 and tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn';
  const tcpdump = place.spawn('tcpdump', ['-i', 'any', '-n', '-l', '--immediate-mode', beginnings], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = tcpdump;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  let [lines, words] = ['', ''];
  stdout.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk));
  stderr.setEncoding('utf8').on('data', (chunk: string) => (words += chunk));
  await eventually(
    () => {
      if (tcpdump.exitCode !== null) throw new Error(`tcpdump: ${words.trim()}`);
      return words.includes('listening on') ? true : undefined;
    },
    isDefined,
    { what: 'tcpdump' },
  );
  return (port) => destinationsIn(lines).get(port);
}

/** The destination addresses of connections by source port, from tcpdump's output. The last packet counts: NAT comes late. */
export function destinationsIn(lines: string): ReadonlyMap<number, string> {
  const found = lines.matchAll(/ IP [\d.]+\.(\d+) > ([\d.]+)\.\d+: /g);
  return new Map(Array.from(found, ([, port, address = '']) => [Number(port), address] as const));
}
