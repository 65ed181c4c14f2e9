import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { calicoMetadataAnnotation, labelDomains } from '@kube-semaphore/naming';
import { type CalicoGroup, type KubeObject, type TestAccount, type TestCluster, waitFor } from '@kube-semaphore/testkit';
import { setsPath, type SetView, viewOf } from './sets.ts';

type WatchEvent = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject };

/** All sets, as they were after one write. */
type Moment = readonly SetView[];

/** How soon a watch that ended is opened again: what happens in between is seen as one change. */
const REOPEN_MS = 25;

/**
 * Every version of every GlobalNetworkSet, from a watch: a test can say what must have held at each moment, and not
 * only what holds in the end. When its API server is restarted it goes on from a list, and misses what was written
 * and taken back between the two.
 */
export class SetHistory {
  readonly #local: TestCluster;
  readonly #path: string;
  readonly #token: string;
  readonly #stopped = new AbortController();
  readonly #moments: Moment[] = [];
  readonly #current = new Map<string, KubeObject>();
  readonly #events: WatchEvent[] = [];
  #watching = false;

  private constructor(local: TestCluster, path: string, token: string) {
    this.#local = local;
    this.#path = path;
    this.#token = token;
  }

  /** Begins with what there is. The token's holder may watch GlobalNetworkSets. */
  static async start(
    local: TestCluster,
    { token }: Pick<TestAccount, 'token'>,
    group?: CalicoGroup,
  ): Promise<SetHistory> {
    const history = new SetHistory(local, setsPath(group), token);
    void history.#follow();
    await history.caughtUp();
    return history;
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Waits until everything that has happened so far is in the history. */
  async caughtUp(): Promise<void> {
    await waitFor('the watch to tell what a list shows', async () => {
      const listed = versionsOf(await this.#local.admin.list(this.#path));
      return (this.#watching && listed === versionsOf([...this.#current.values()])) || undefined;
    });
  }

  /** Names of deleted sets, in order. */
  deletions(): readonly string[] {
    return this.#events.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name);
  }

  /** How many versions of a set there were, or of all. */
  versions(name?: string): number {
    const written = this.#events.filter(({ type }) => type !== 'DELETED');
    return written.filter(({ object: { metadata } }) => metadata.name === (name ?? metadata.name)).length;
  }

  /** The most nets that any set ever had. */
  largest(): number {
    return Math.max(0, ...this.#moments.flat().map(({ nets }) => nets.length));
  }

  /**
   * The nets that were in no set of their workload at some moment after they first were in one: each is a moment in
   * which somebody was locked out.
   */
  lapses(app: string, nets: readonly string[], namespace = 'default'): readonly string[] {
    const allowed = this.#moments.map(
      (moment) => new Set(moment.filter((set) => isOf(set, app, namespace)).flatMap((set) => set.nets)),
    );
    return absent(allowed, nets);
  }

  /** The nets that were in no set at all at some moment after they first were in one. */
  absences(nets: readonly string[]): readonly string[] {
    return absent(
      this.#moments.map((moment) => new Set(moment.flatMap((set) => set.nets))),
      nets,
    );
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
    const { status, body } = await this.#local.admin.request('GET', this.#path);
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
    const ca = await readFile(this.#local.caFile);
    const headers = { authorization: `Bearer ${this.#token}` };
    const url = `${this.#local.url}${this.#path}?watch=true&resourceVersion=${resourceVersion}`;
    const request = get(url, { ca, headers, agent: false, signal: this.#stopped.signal });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // Once there is an answer, whatever ends it is told by the answer.
    request.on('error', () => {});
    if (response.statusCode !== 200) throw new Error(`watching the sets was answered ${response.statusCode}`);
    return response;
  }

  /** Events of one moment. */
  #record(events: readonly WatchEvent[]): void {
    for (const { type, object } of events) {
      if (type === 'DELETED') this.#current.delete(object.metadata.name);
      else this.#current.set(object.metadata.name, object);
    }
    this.#events.push(...events);
    this.#moments.push(Array.from(this.#current.values(), seenByCalico));
  }
}

/** What must have happened since `known`; a set that was deleted and made again is told by its UID. */
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

/** A set under the labels that policies see, wherever they are stored. */
function seenByCalico(set: KubeObject): SetView {
  const view = viewOf(set);
  const stored = JSON.parse(set.metadata.annotations?.[calicoMetadataAnnotation] ?? '{}') as Partial<SetView>;
  return { ...view, labels: { ...view.labels, ...stored.labels } };
}

function isOf({ labels }: SetView, app: string, namespace: string): boolean {
  return labelDomains.some((domain) => labels[`${domain}/name`] === app && labels[`${domain}/namespace`] === namespace);
}

function absent(moments: readonly ReadonlySet<string>[], nets: readonly string[]): readonly string[] {
  return nets.filter((net) => {
    const first = moments.findIndex((moment) => moment.has(net));
    return first >= 0 && moments.slice(first).some((moment) => !moment.has(net));
  });
}

/** One text for the versions of some sets, in whatever order they come. */
function versionsOf(sets: readonly KubeObject[]): string {
  const versions = sets.map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`);
  return versions.toSorted().join(' ');
}
