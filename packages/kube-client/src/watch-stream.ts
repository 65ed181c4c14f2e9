import type { IncomingMessage } from 'node:http';
import { scheduler } from 'node:timers/promises';
import {
  type Codec,
  DecodeError,
  FrameSplitter,
  type Kind,
  type KubeObject,
  parseJson,
  type WatchEvent,
} from '@kube-semaphore/kube-objects';
import { isProtobuf } from './body.ts';
import { IdleTimeoutError } from './errors.ts';
import { connectionErrorOf } from './transport.ts';

/**
 * etcd refuses objects over 1.5 MiB, so a correct server stays far below. JSON writes a control character in six bytes,
 * and one object that is full of them must not end the watch of all.
 */
const MAX_FRAME_BYTES = { protobuf: 4 * 1024 * 1024, json: 10 * 1024 * 1024 };

/** So many events are handled before the clock is read again. */
const BATCH = 4;
/** How long events may hold up the event loop. A socket may have some megabytes of them, which Node.js reads in one turn. */
const LONGEST_TURN_MS = 2;

/**
 * An open watch. Iterate it once: it yields the events that each chunk of the stream completes, a few at a time. It ends
 * when the server ends it (`timeoutSeconds`), and throws DecodeError, IdleTimeoutError or ConnectionError. Leaving the loop
 * closes the connection.
 */
export class WatchStream<K extends Kind> {
  readonly #response: IncomingMessage;
  readonly #codec: Codec<K>;
  readonly #server: URL;
  /** Since the last event ended. */
  #silence: NodeJS.Timeout | undefined;

  constructor(response: IncomingMessage, codec: Codec<K>, server: URL) {
    this.#response = response;
    this.#codec = codec;
    this.#server = server;
  }

  /**
   * From now on, the stream throws IdleTimeoutError if no event ends for `ms`. The socket's own timer isn't enough: a
   * server that sends an event byte by byte, or the length of a chunk, would keep it from firing, and the reflector would hang.
   */
  setIdleTimeout(ms: number): void {
    const response = this.#response;
    response.socket.removeAllListeners('timeout');
    response.socket.setTimeout(0);
    clearTimeout(this.#silence);
    const timer = setTimeout(() => response.destroy(silent(ms)), ms).unref();
    this.#silence = timer;
    response.once('close', () => clearTimeout(timer));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly WatchEvent<KubeObject<K>>[]> {
    const codec = this.#codec;
    const protobuf = isProtobuf(this.#response);
    const splitter = protobuf
      ? new FrameSplitter('length-prefix', { maxFrameBytes: MAX_FRAME_BYTES.protobuf })
      : new FrameSplitter('newline', { maxFrameBytes: MAX_FRAME_BYTES.json });
    let batch: WatchEvent<KubeObject<K>>[] = [];
    const onFrame = (bytes: Buffer, start: number, end: number): void => {
      batch.push(
        protobuf ? codec.eventFromProtobuf(bytes, start, end) : codec.eventFromJson(parseJson(bytes, start, end)),
      );
    };
    let turnBeganAt = performance.now();
    try {
      for await (const chunks of arrivals(this.#response)) {
        batch = [];
        for (const chunk of chunks) splitter.push(chunk, onFrame);
        for (let from = 0; from < batch.length; from += BATCH) {
          yield batch.slice(from, from + BATCH);
          this.#silence?.refresh();
          if (performance.now() - turnBeganAt < LONGEST_TURN_MS) continue;
          await scheduler.yield();
          turnBeganAt = performance.now();
        }
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw connectionErrorOf(this.#server, error);
      // The events before the garbage are good.
      if (batch.length > 0) yield batch;
      throw error;
    }
    if (splitter.pendingBytes > 0) throw new DecodeError('the watch ended in the middle of an event');
  }
}

/** So many chunks wait before the server has to. */
const MOST_WAITING = 16;

/**
 * The chunks of a body as they arrive. The iterator of a response would join those that wait, and so copy nearly all.
 *
 * @throws the error that ended the response; one that ended before this call is no event any more
 */
async function* arrivals(response: IncomingMessage): AsyncGenerator<readonly Buffer[]> {
  let waiting: Buffer[] = [];
  let over: { readonly error?: unknown } | undefined;
  let news = Promise.withResolvers<void>();
  const end = (error?: unknown): void => {
    over ??= { error };
    news.resolve();
  };
  const lost = (): void => end(response.errored ?? new Error('the connection was lost'));
  response.on('data', (chunk: Buffer) => {
    if (waiting.push(chunk) >= MOST_WAITING) response.pause();
    news.resolve();
  });
  response.once('end', () => end());
  response.once('error', end);
  response.once('close', lost);
  if (response.closed) lost();
  try {
    for (;;) {
      if (waiting.length > 0) {
        const chunks = waiting;
        waiting = [];
        if (response.isPaused()) response.resume();
        yield chunks;
      } else if (over === undefined) {
        await news.promise;
        news = Promise.withResolvers();
      } else if (over.error === undefined) return;
      else throw over.error;
    }
  } finally {
    response.destroy();
  }
}

const silent = (ms: number) => new IdleTimeoutError(`the watch sent no event for ${ms} ms`);
