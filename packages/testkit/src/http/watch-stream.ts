import type { IncomingMessage } from 'node:http';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { TIMEOUT_MS } from '@kube-semaphore/eventually';
import { open, type Asked, type Endpoint } from './http.ts';

export type WatchEvent = { readonly type: string; readonly object: KubeObject };

/** An open watch, read one line of JSON or one frame of protobuf at a time. */
export class WatchStream {
  readonly status: number;
  readonly contentType: string;
  readonly #response: IncomingMessage;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = Buffer.alloc(0);

  private constructor(response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.contentType = response.headers['content-type'] ?? '';
    this.#response = response;
    this.#chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  static async open(endpoint: Endpoint, path: string, asked?: Asked): Promise<WatchStream> {
    return new WatchStream(await open(endpoint, 'GET', path, asked));
  }

  /** The next event of a JSON stream; undefined at the end. */
  async next(): Promise<WatchEvent | undefined> {
    const line = await this.#cut((bytes) => bytes.indexOf(0x0a) + 1);
    return line && (JSON.parse(line.toString()) as WatchEvent);
  }

  /** The next frame of a protobuf stream without its length; undefined at the end. */
  async frame(): Promise<Buffer | undefined> {
    const frame = await this.#cut((bytes) => {
      const size = bytes.length < 4 ? Infinity : 4 + bytes.readUInt32BE();
      return bytes.length < size ? 0 : size;
    });
    return frame?.subarray(4);
  }

  /** The events up to and including the first for which `last` holds, or to the end. */
  async until(last: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) {
      events.push(event);
      if (last(event)) break;
    }
    return events;
  }

  async take(count: number): Promise<WatchEvent[]> {
    let left = count;
    return this.until(() => --left === 0);
  }

  close(): void {
    this.#response.destroy();
  }

  /** Takes the next `size(bytes)` bytes, which is 0 while there are too few; undefined at the end. */
  async #cut(size: (bytes: Buffer) => number): Promise<Buffer | undefined> {
    for (;;) {
      const wanted = size(this.#rest);
      if (wanted > 0) {
        const piece = this.#rest.subarray(0, wanted);
        this.#rest = this.#rest.subarray(wanted);
        return piece;
      }
      const chunk = await this.#read();
      if (!chunk) return undefined;
      this.#rest = Buffer.concat([this.#rest, chunk]);
    }
  }

  async #read(): Promise<Buffer | undefined> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`nothing for ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    try {
      const { done, value } = await Promise.race([this.#chunks.next(), promise]);
      return done ? undefined : value;
    } finally {
      clearTimeout(timer);
    }
  }
}
