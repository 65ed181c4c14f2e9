import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { KubeObject, TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';

/** An event of a watch, and when it arrived, by `performance.now()`. */
export type WatchEvent = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
  readonly atMs: number;
};

type Line = { readonly type: WatchEvent['type'] | 'ERROR'; readonly object: KubeObject };

/** Longer than any bench. */
const TIMEOUT_SECONDS = 86_400;

/** A watch of one collection, in JSON, until it is closed. */
export class WatchStream {
  readonly #path: string;
  readonly #onEvent: (event: WatchEvent) => void;
  readonly #connect: (path: string) => Promise<IncomingMessage>;
  #response: IncomingMessage | undefined;
  #resourceVersion = '';
  #closed = false;

  private constructor(
    path: string,
    onEvent: (event: WatchEvent) => void,
    connect: (path: string) => Promise<IncomingMessage>,
  ) {
    this.#path = path;
    this.#onEvent = onEvent;
    this.#connect = connect;
  }

  /** Resolves after the server accepted the watch. Existing objects come first. */
  static async open(
    path: string,
    { url, caFile }: TestCluster,
    { account, onEvent }: { account: TestAccount; onEvent: (event: WatchEvent) => void },
  ): Promise<WatchStream> {
    const ca = await readFile(caFile);
    const headers = { authorization: `Bearer ${account.token}`, accept: 'application/json', 'user-agent': 'bench' };
    const stream = new WatchStream(path, onEvent, async (target) => {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      request(`${url}${target}`, { ca, headers }, resolve).on('error', reject).end();
      const response = await promise;
      if (response.statusCode !== 200) throw new Error(`watch ${path}: ${response.statusCode}`);
      return response;
    });
    await stream.#begin();
    return stream;
  }

  close(): void {
    this.#closed = true;
    this.#response?.destroy();
  }

  /** A busy API server ends a slow watch; the next one continues. */
  async #begin(): Promise<void> {
    const from = this.#resourceVersion === '' ? '' : `&resourceVersion=${this.#resourceVersion}`;
    const response = await this.#connect(`${this.#path}?watch=true&timeoutSeconds=${TIMEOUT_SECONDS}${from}`);
    this.#response = response;
    response.on('error', () => {}); // The loop below reports it, too.
    const lines = createInterface({ input: response });
    lines.on('line', (line) => {
      const { type, object } = JSON.parse(line) as Line;
      if (type === 'ERROR') throw new Error(`watch ${this.#path}: ${line}`);
      this.#resourceVersion = object.metadata.resourceVersion ?? '';
      this.#onEvent({ type, object, atMs: performance.now() });
    });
    lines.once('close', () => {
      if (!this.#closed) void this.#begin();
    });
  }
}
