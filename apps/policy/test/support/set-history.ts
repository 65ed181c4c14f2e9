import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { createInterface } from 'node:readline';
import { type KubeObject, type TestAccount, type TestCluster, waitFor } from '@kube-semaphore/testkit';
import { setsPath, type SetView, viewOf } from './sets.ts';

type WatchEvent = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject };

/** All sets, as they were after one write. */
type Moment = readonly SetView[];

/**
 * Every version of every GlobalNetworkSet, from a watch: a test can say what must have held at each moment, and not
 * only what holds in the end.
 */
export class SetHistory {
  readonly #local: TestCluster;
  readonly #response: IncomingMessage;
  readonly #moments: Moment[] = [];
  readonly #current = new Map<string, KubeObject>();
  readonly #events: WatchEvent[] = [];

  private constructor(local: TestCluster, response: IncomingMessage) {
    this.#local = local;
    this.#response = response;
    createInterface(response)
      .on('line', (line) => this.#record(JSON.parse(line) as WatchEvent))
      .on('error', ignore);
  }

  /** Begins with what there is. The token's holder may watch GlobalNetworkSets. */
  static async start(local: TestCluster, { token }: Pick<TestAccount, 'token'>): Promise<SetHistory> {
    const ca = await readFile(local.caFile);
    const headers = { authorization: `Bearer ${token}` };
    const url = `${local.url}${setsPath()}?watch=true&resourceVersion=0`;
    const request = get(url, { ca, headers, agent: false }).on('error', ignore);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`watching the sets was answered ${response.statusCode}`);
    const history = new SetHistory(local, response);
    await history.caughtUp();
    return history;
  }

  stop(): void {
    this.#response.destroy();
  }

  /** Waits until everything that has happened so far is in the history. */
  async caughtUp(): Promise<void> {
    await waitFor('the watch to tell what a list shows', async () => {
      const listed = versionsOf(await this.#local.admin.list(setsPath()));
      return listed === versionsOf([...this.#current.values()]) || undefined;
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
    return nets.filter((net) => {
      const first = allowed.findIndex((moment) => moment.has(net));
      return first >= 0 && allowed.slice(first).some((moment) => !moment.has(net));
    });
  }

  #record(event: WatchEvent): void {
    const { type, object } = event;
    if (type === 'DELETED') this.#current.delete(object.metadata.name);
    else this.#current.set(object.metadata.name, object);
    this.#events.push(event);
    this.#moments.push(Array.from(this.#current.values(), viewOf));
  }
}

/** A watch ends when its test is over, or its API server is restarted. One that never began fails `start`. */
function ignore(): void {}

function isOf({ labels }: SetView, app: string, namespace: string): boolean {
  return labels['semaphore.uw.systems/name'] === app && labels['semaphore.uw.systems/namespace'] === namespace;
}

/** One text for the versions of some sets, in whatever order they come. */
function versionsOf(sets: readonly KubeObject[]): string {
  const versions = sets.map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`);
  return versions.toSorted().join(' ');
}
