import type { KubeObject, TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type Holding, Holdings } from './holdings.ts';
import { WatchStream } from './watch-stream.ts';

/** After a write or a delete: the items of its key, and when the watch saw it, by `performance.now()`. */
export type LocalChange = Holding & { readonly atMs: number };

/** Watched collections by path, and how to read their objects. */
export type Watched = Readonly<Record<string, (object: KubeObject) => Holding>>;

type Listener = (change: LocalChange) => void;

/**
 * A watch of the local cluster, for all times: a write counts when this watch sees it, so the figures of all programs
 * measure the same.
 */
export class LocalWatch {
  readonly #streams: WatchStream[] = [];
  readonly #holdings = new Holdings();
  readonly #listeners = new Set<Listener>();

  private constructor() {}

  /** Resolves after the server accepted all watches. */
  static async open(cluster: TestCluster, account: TestAccount, watched: Watched): Promise<LocalWatch> {
    const watch = new LocalWatch();
    for (const [path, read] of Object.entries(watched)) {
      const stream = await WatchStream.open(path, cluster, {
        account,
        onEvent: (event) => watch.#tell({ ...watch.#holdings.apply(path, event, read), atMs: event.atMs }),
      });
      watch.#streams.push(stream);
    }
    return watch;
  }

  /** Resolves when the watch knows this number of objects. */
  async holding(count: number): Promise<void> {
    // A delete of all objects takes some seconds.
    await eventually(() => this.#holdings.size === count, true, { what: `${count} local objects`, timeoutMs: 60_000 });
  }

  /** Calls `listener` for each change, until the returned function is called. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with the first answer of `probe` that isn't undefined. Rejects with the signal's reason. */
  async until<T>(probe: (change: LocalChange) => T | undefined, { signal }: { signal: AbortSignal }): Promise<T> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const unsubscribe = this.onChange((change) => {
      const answer = probe(change);
      if (answer !== undefined) resolve(answer);
    });
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    try {
      return await promise;
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', abort);
    }
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }

  #tell(change: LocalChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
