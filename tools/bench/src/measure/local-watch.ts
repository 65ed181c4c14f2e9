import { createInterface } from 'node:readline';
import type { KubeObject, TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type Endpoint, endpointOf, open } from '@kube-semaphore/testkit';
import { Holdings, type Holding } from './holdings.ts';

/** After a write or a delete: the items of its key, and when the watch saw it, by `performance.now()`. */
export type LocalChange = Holding & { readonly atMs: number };

/** Watched collections by path, which may have a query, and how to read their objects. */
export type Watched = Readonly<Record<string, (object: KubeObject) => Holding>>;

/** The expected items of each key. */
export type Expected = ReadonlyMap<string, ReadonlySet<string>>;

type Listener = (change: LocalChange) => void;
type Line = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR'; readonly object: KubeObject };
type Until = { readonly signal: AbortSignal };

/** Longer than any bench. */
const TIMEOUT_SECONDS = 86_400;

/**
 * A watch of the local cluster, for all times: a write counts when this watch sees it, so the figures of all programs
 * measure the same.
 */
export class LocalWatch {
  readonly #endpoint: Endpoint;
  readonly #holdings = new Holdings();
  readonly #listeners = new Set<Listener>();
  #closed = false;

  private constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Resolves after the server accepted all watches. */
  static async open(cluster: TestCluster, { token }: TestAccount, watched: Watched): Promise<LocalWatch> {
    const watch = new LocalWatch(await endpointOf(cluster, token));
    for (const [path, read] of Object.entries(watched)) await watch.#follow(path, read);
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
  async until<T>(probe: (change: LocalChange) => T | undefined, { signal }: Until): Promise<T> {
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

  /** Resolves with the time when a key has an item. */
  async seen(key: string, item: string, until: Until): Promise<number> {
    return this.until((local) => (local.key === key && local.items.includes(item) ? local.atMs : undefined), until);
  }

  /** Resolves with the times when the first change of any key was seen, and when the last key was complete, from now on. */
  async complete(expected: Expected, until: Until): Promise<{ firstAtMs: number; allAtMs: number }> {
    const missing = new Map(expected);
    let firstAtMs: number | undefined;
    return this.until(({ key, items, atMs }) => {
      firstAtMs ??= atMs;
      const wanted = missing.get(key);
      if (wanted?.size === items.length && items.every((item) => wanted.has(item))) missing.delete(key);
      return missing.size === 0 ? { firstAtMs, allAtMs: atMs } : undefined;
    }, until);
  }

  close(): void {
    this.#closed = true;
    this.#endpoint.agent.destroy();
  }

  /** A busy API server ends a slow watch; the next one continues. */
  async #follow(path: string, read: (object: KubeObject) => Holding, from = ''): Promise<void> {
    const query = `watch=true&timeoutSeconds=${TIMEOUT_SECONDS}${from === '' ? '' : `&resourceVersion=${from}`}`;
    const response = await open(this.#endpoint, 'GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
    if (response.statusCode !== 200) throw new Error(`watch ${path}: ${response.statusCode}`);
    let resourceVersion = from;
    response.once('close', () => {
      if (!this.#closed) void this.#follow(path, read, resourceVersion);
    });
    createInterface({ input: response })
      .on('error', () => {}) // Its end follows.
      .on('line', (line) => {
        const { type, object } = JSON.parse(line) as Line;
        if (type === 'ERROR') throw new Error(`watch ${path}: ${line}`);
        resourceVersion = object.metadata.resourceVersion ?? '';
        const { namespace, name } = object.metadata;
        const isGone = type === 'DELETED';
        const holding = this.#holdings.apply(`${path} ${namespace}/${name}`, read(object), isGone);
        const change = { ...holding, atMs: performance.now() };
        for (const listener of this.#listeners) listener(change);
      });
  }
}
