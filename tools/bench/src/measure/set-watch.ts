import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { type KubeObject, type TestAccount, type TestCluster, waitFor } from '@kube-semaphore/testkit';

/** An object of a set was written or deleted. */
export type SetChange = {
  /** `namespace/app`, from the object's labels. */
  readonly key: string;
  /** What the set holds now, in all of its objects together: programs may split large ones. */
  readonly nets: readonly string[];
  /** When it was seen here, as `performance.now()` has it. */
  readonly atMs: number;
};

type WatchEvent = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR'; readonly object: KubeObject };
type Listener = (change: SetChange) => void;

/** The resource that is watched, and its objects. */
export const setsPath = '/apis/crd.projectcalico.org/v1/globalnetworksets';

/** Longer than any bench. */
const TIMEOUT_SECONDS = 86_400;

/**
 * A watch of the local sets, by which all times are taken: a write counts when it has come here, so that the figures
 * are of the same thing whoever writes.
 */
export class SetWatch {
  readonly #open: (resourceVersion: string) => Promise<IncomingMessage>;
  #response: IncomingMessage | undefined;
  #resourceVersion = '';
  #closed = false;
  readonly #objects = new Map<string, { readonly key: string; readonly nets: readonly string[] }>();
  readonly #objectsOfKey = new Map<string, Set<string>>();
  readonly #listeners = new Set<Listener>();

  private constructor(open: (resourceVersion: string) => Promise<IncomingMessage>) {
    this.#open = open;
  }

  /** Resolves once the server has accepted the watch. */
  static async open({ url, caFile }: TestCluster, { token }: TestAccount): Promise<SetWatch> {
    const ca = await readFile(caFile);
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': 'bench' };
    const watch = new SetWatch(async (resourceVersion) => {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const from = resourceVersion === '' ? '' : `&resourceVersion=${resourceVersion}`;
      request(`${url}${setsPath}?watch=true&timeoutSeconds=${TIMEOUT_SECONDS}${from}`, { ca, headers }, resolve)
        .on('error', reject)
        .end();
      const response = await promise;
      if (response.statusCode !== 200) throw new Error(`watch ${setsPath}: ${response.statusCode}`);
      return response;
    });
    await watch.#begin();
    return watch;
  }

  /** An API server that is short of time ends a watch that can't keep up; the next one goes on where it was. */
  async #begin(): Promise<void> {
    const response = await this.#open(this.#resourceVersion);
    this.#response = response;
    response.on('error', () => {}); // Told by the end of the lines, too.
    const lines = createInterface({ input: response });
    lines.on('line', (line) => {
      const { type, object } = JSON.parse(line) as WatchEvent;
      this.#apply(type, object, performance.now());
    });
    lines.once('close', () => {
      if (!this.#closed) void this.#begin();
    });
  }

  /** Resolves once so many objects are known here. */
  async holding(count: number): Promise<void> {
    await waitFor(`${count} local sets`, () => this.#objects.size === count || undefined);
  }

  /** Calls `listener` for each change from now on, until the result is called. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with the first answer of `probe` that isn't undefined. Rejects with the signal's reason. */
  async until<T>(probe: (change: SetChange) => T | undefined, { signal }: { signal: AbortSignal }): Promise<T> {
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
    this.#closed = true;
    this.#response?.destroy();
  }

  #apply(type: WatchEvent['type'], object: KubeObject, atMs: number): void {
    if (type === 'ERROR') throw new Error(`watch ${setsPath}: ${JSON.stringify(object)}`);
    const { name, labels = {}, resourceVersion = '' } = object.metadata;
    this.#resourceVersion = resourceVersion;
    const key = `${label(labels, 'namespace')}/${label(labels, 'name')}`;
    const names = this.#objectsOfKey.get(key) ?? new Set();
    this.#objectsOfKey.set(key, names);
    if (type === 'DELETED') {
      this.#objects.delete(name);
      names.delete(name);
    } else {
      const { nets = [] } = (object['spec'] ?? {}) as { nets?: string[] };
      this.#objects.set(name, { key, nets });
      names.add(name);
    }
    const nets = [...names].flatMap((each) => this.#objects.get(each)?.nets ?? []);
    for (const listener of this.#listeners) listener({ key, nets, atMs });
  }
}

/** A label of whatever domain: releases differ in that. */
function label(labels: Readonly<Record<string, string>>, name: string): string {
  return Object.entries(labels).find(([key]) => key.endsWith(`/${name}`))?.[1] ?? '';
}
