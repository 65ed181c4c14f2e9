import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { Place } from './namespace.ts';
import { PingReplies } from './ping-replies.ts';

/** A reply that takes longer is lost. */
const LAST_REPLY_TIMEOUT_MS = 30_000;

/** How to ping. */
export type PingOptions = {
  /** Time between two requests. Default 10. */
  readonly intervalMs?: number;
  /** Up to 16 bytes in hex that fill the requests, to find them in a capture. */
  readonly pattern?: string;
};

/** The result of a ping. */
export type PingResult = { readonly received: number; readonly lost: number };

/** A ping that runs until it is stopped. */
export interface Ping {
  /** Resolves after so many more replies. @throws {Error} if they don't come */
  replies(count: number): Promise<void>;
  /** Resolves when so many more requests are sent, whether they are answered or not. */
  requests(count: number): Promise<void>;
  /**
   * Waits up to 30 s for the reply to a request that is sent after this call, and ends the ping. Requests
   * before the first reply don't count.
   */
  stop(): Promise<PingResult>;
}

/**
 * Starts to ping an address from a place.
 *
 * @returns after the first reply
 * @throws {Error} if there isn't one
 */
export async function startPing(
  place: Place,
  address: string,
  { intervalMs = 10, pattern }: PingOptions = {},
): Promise<Ping> {
  const args = ['-n', '-i', String(intervalMs / 1_000), ...(pattern === undefined ? [] : ['-p', pattern]), address];
  const ping = place.spawn('ping', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = ping;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  const ended = once(ping, 'close');
  let output = '';
  const replies = new PingReplies();
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output = (output + chunk).slice(-1_000);
    replies.push(chunk);
  });
  const reached = (count: number) =>
    eventually(() => replies.received >= count, true, { what: `replies of ${address}`, intervalMs: 5 });
  try {
    await reached(1);
  } catch (error) {
    ping.kill('SIGKILL');
    throw error;
  }
  const before = replies.missing();
  return {
    replies: async (count) => {
      await reached(replies.received + count);
    },
    requests: async (count) => {
      const sentBefore = await sentSoFar(ping, stderr);
      const isLater = (sent: number): boolean => sent >= sentBefore + count;
      await eventually(() => sentSoFar(ping, stderr), isLater, { what: `requests to ${address}` });
    },
    stop: async () => {
      const sentBefore = await sentSoFar(ping, stderr);
      const isLater = (latest: number): boolean => latest > sentBefore;
      const answered = await eventually(() => replies.latest, isLater, {
        timeoutMs: LAST_REPLY_TIMEOUT_MS,
        intervalMs: 5,
      }).then(
        () => true,
        () => false,
      );
      ping.kill('SIGINT');
      await ended;
      // The last requests may be in flight; without a reply for seconds, they are lost.
      const sent = Number(/^(\d+) packets transmitted/m.exec(output)?.[1]);
      return { received: replies.received, lost: replies.missing(answered ? replies.latest : sent) - before };
    },
  };
}

/** The number of requests that a ping has sent, which it prints at SIGQUIT. */
async function sentSoFar(ping: ChildProcess, stderr: Readable): Promise<number> {
  let words = '';
  const read = (chunk: Buffer) => (words += chunk.toString());
  stderr.on('data', read);
  ping.kill('SIGQUIT');
  try {
    return await eventually(
      () => {
        const sent = /\d+\/(\d+) packets/.exec(words)?.[1];
        return sent === undefined ? undefined : Number(sent);
      },
      isDefined,
      { what: 'the count of a ping', intervalMs: 5 },
    );
  } finally {
    stderr.off('data', read);
  }
}
