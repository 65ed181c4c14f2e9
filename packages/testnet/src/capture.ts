import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Place } from './namespace.ts';
import { readPcap } from './pcap.ts';

/** A recording of a link's frames, in both directions. */
export interface Capture {
  /** Ends it. @returns the Ethernet frames, oldest first */
  stop(): Promise<readonly Buffer[]>;
}

/** Resolves when tcpdump records. @throws {Error} with its message if it fails */
export async function startCapture(place: Place, link: string): Promise<Capture> {
  // Keeps root, which it needs to capture. Writes each packet at once, so that the last ones aren't lost.
  const { output, stop } = await startTcpdump(place, ['-i', link, '-Z', 'root', '-U', '-w', '-']);
  const file = buffer(output);
  return {
    stop: async () => {
      await stop();
      return readPcap(await file);
    },
  };
}

/**
 * Resolves when tcpdump records. It ends with the place.
 *
 * @throws {Error} with its message if it fails
 */
export async function startTcpdump(
  place: Place,
  args: readonly string[],
): Promise<{ readonly output: Readable; readonly stop: () => Promise<void> }> {
  // A frame takes as much of the buffer as the longest one could. The usual 2 MiB hold 8 frames of any link, and the next
  // ones are lost while a busy machine has no time for tcpdump.
  const usual = ['-n', '--immediate-mode', '-B', '16384'];
  const tcpdump = place.spawn('tcpdump', [...usual, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = tcpdump;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  const ended = once(tcpdump, 'close');
  let words = '';
  const listening = new Promise<void>((resolve) => {
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      words += chunk;
      if (words.includes('listening on')) resolve();
    });
  });
  const failed = ended.then(() => {
    throw new Error(`tcpdump: ${words.trim()}`);
  });
  await Promise.race([listening, failed]);
  // From here on, its exit is expected.
  failed.catch(() => {});
  return {
    output: stdout,
    stop: async () => {
      tcpdump.kill('SIGINT');
      await ended;
    },
  };
}
