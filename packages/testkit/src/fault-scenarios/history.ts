import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';

type WatchEvent = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject };

export type ObjectHistoryOptions<T> = {
  readonly cluster: Pick<TestCluster, 'admin' | 'url' | 'caFile'>;
  /** Of a collection: `/api/v1/namespaces/default/services`. */
  readonly path: string;
  /** Its holder may watch that. */
  readonly token: string;
  /** What the history keeps of all objects, as they were after one write. */
  readonly momentOf: (objects: readonly KubeObject[]) => T;
};

/** How soon a watch that ended is opened again: what happens in between is seen as one change. */
const REOPEN_MS = 25;

/**
 * Every version of every object of a collection, from a watch: a test can say what must have held at each moment, and
 * not only what holds in the end. When the API server is restarted it goes on from a list, and misses what was written
 * and taken back between the two.
 */
export class ObjectHistory<T> {
  readonly #options: ObjectHistoryOptions<T>;
  readonly #stopped = new AbortController();
  readonly #current = new Map<string, KubeObject>();
  readonly #events: WatchEvent[] = [];
  readonly #moments: T[] = [];
  #watching = false;

  private constructor(options: ObjectHistoryOptions<T>) {
    this.#options = options;
  }

  /** Begins with what there is. */
  static async start<T>(options: ObjectHistoryOptions<T>): Promise<ObjectHistory<T>> {
    const history = new ObjectHistory(options);
    void history.#follow();
    await history.caughtUp();
    return history;
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Waits until everything that has happened so far is in the history. */
  async caughtUp(): Promise<void> {
    const { cluster, path } = this.#options;
    await eventually(
      async () => {
        const listed = versionsOf(await cluster.admin.list(path));
        return this.#watching && listed === versionsOf([...this.#current.values()]);
      },
      true,
      { what: `the watch of ${path} to tell what a list shows` },
    );
  }

  /** Oldest first. What was there at the beginning was added then. */
  get events(): readonly WatchEvent[] {
    return this.#events;
  }

  /** Oldest first. */
  get moments(): readonly T[] {
    return this.#moments;
  }

  /** Names of deleted objects, in order. */
  get deletions(): readonly string[] {
    return this.#events.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name);
  }

  /** Watches until `stop`. A watch ends when its API server is restarted, and may be refused for a while after that. */
  async #follow(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#watchOnce().catch(() => {});
      this.#watching = false;
      await delay(REOPEN_MS);
    }
  }

  async #watchOnce(): Promise<void> {
    const { cluster, path } = this.#options;
    const { status, body } = await cluster.admin.request('GET', path);
    if (status !== 200) return;
    const response = await this.#openWatch(String(body.metadata.resourceVersion));
    this.#record(differences(this.#current, body.items ?? []));
    this.#watching = true;
    let rest = '';
    for await (const text of response.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#record([JSON.parse(line) as WatchEvent]);
    }
  }

  async #openWatch(resourceVersion: string): Promise<IncomingMessage> {
    const { cluster, path, token } = this.#options;
    const ca = await readFile(cluster.caFile);
    const headers = { authorization: `Bearer ${token}` };
    const url = `${cluster.url}${path}?watch=true&resourceVersion=${resourceVersion}`;
    const request = get(url, { ca, headers, agent: false, signal: this.#stopped.signal });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // Once there is an answer, the answer tells what ends it.
    request.on('error', () => {});
    if (response.statusCode !== 200) throw new Error(`watching ${path} was answered ${response.statusCode}`);
    return response;
  }

  /** Events of one moment. */
  #record(events: readonly WatchEvent[]): void {
    for (const { type, object } of events) {
      if (type === 'DELETED') this.#current.delete(object.metadata.name);
      else this.#current.set(object.metadata.name, object);
    }
    this.#events.push(...events);
    this.#moments.push(this.#options.momentOf([...this.#current.values()]));
  }
}

/**
 * What was missing at some moment after it first was there.
 *
 * @param moments what was there, oldest first
 * @param among what to search. Default: all that ever was there
 */
export function gapsIn(
  moments: readonly ReadonlySet<string>[],
  among: readonly string[] = [...new Set(moments.flatMap((moment) => [...moment]))],
): readonly string[] {
  return among.filter((each) => {
    const first = moments.findIndex((moment) => moment.has(each));
    return first >= 0 && moments.slice(first).some((moment) => !moment.has(each));
  });
}

/** What must have happened since `known`; an object that was deleted and made again is told by its UID. */
function differences(known: ReadonlyMap<string, KubeObject>, listed: readonly KubeObject[]): readonly WatchEvent[] {
  const uids = new Set(listed.map(({ metadata }) => metadata.uid));
  const gone = [...known.values()].filter(({ metadata }) => !uids.has(metadata.uid));
  const events = listed.flatMap((object): WatchEvent[] => {
    const { name, uid, resourceVersion } = object.metadata;
    const before = known.get(name)?.metadata;
    if (before?.uid !== uid) return [{ type: 'ADDED', object }];
    return before?.resourceVersion === resourceVersion ? [] : [{ type: 'MODIFIED', object }];
  });
  return [...gone.map((object) => ({ type: 'DELETED', object }) as const), ...events];
}

/** One text for the versions of some objects, in any order. */
function versionsOf(objects: readonly KubeObject[]): string {
  const versions = objects.map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`);
  return versions.toSorted().join(' ');
}
