import type { KubeObject, TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type Holding, Holdings } from './holdings.ts';
import { WatchStream } from './watch-stream.ts';

/** An object was written or deleted: what its key holds now, and when that was seen here, as `performance.now()` has it. */
export type LocalChange = Holding & { readonly atMs: number };

/** Collections that are watched, by path, and how their objects are read. */
export type Watched = Readonly<Record<string, (object: KubeObject) => Holding>>;

type Listener = (change: LocalChange) => void;

/**
 * A watch of what programs write to the local cluster, by which all times are taken: a write counts when it has come
 * here, so that the figures are of the same thing whoever writes.
 */
export class LocalWatch {
  readonly #streams: WatchStream[] = [];
  readonly #holdings = new Holdings();
  readonly #listeners = new Set<Listener>();

  private constructor() {}

  /** Resolves once the server has accepted all watches. */
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

  /** Resolves once so many objects are known here. */
  async holding(count: number): Promise<void> {
    // As many as a bench has are gone after seconds, and told of a little later.
    await eventually(() => this.#holdings.size === count, true, { what: `${count} local objects`, timeoutMs: 60_000 });
  }

  /** Calls `listener` for each change from now on, until the result is called. */
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
