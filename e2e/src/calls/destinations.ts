import { type Place, startTcpdump } from '@kube-semaphore/testnet';

/**
 * Records where a node's calls lead, as long as the node exists.
 *
 * @returns the destinations of the last calls so far, after NAT, by source port; a call that found no address has none
 * @throws {Error} with tcpdump's message if it fails
 */
export async function watchDestinations(place: Place): Promise<() => ReadonlyMap<number, string>> {
  const beginnings = 'tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn';
  // Headers only, so that the buffer holds thousands of them.
  const { output } = await startTcpdump(place, ['-i', 'any', '-l', '-s', '128', beginnings]);
  let lines = '';
  output.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk));
  return () => destinationsIn(lines);
}

/** The destination addresses of connections by source port, from tcpdump's output. The last packet counts: NAT comes late. */
export function destinationsIn(lines: string): ReadonlyMap<number, string> {
  const found = lines.matchAll(/ IP [\d.]+\.(\d+) > ([\d.]+)\.\d+: /g);
  return new Map(Array.from(found, ([, port, address = '']) => [Number(port), address] as const));
}
