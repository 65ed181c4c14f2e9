import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { type KubeObject, type TestAccount, type TestCluster, waitFor } from '@kube-semaphore/testkit';
import { MIRRORS } from './mirror-process.ts';
import { readyAddresses, type Slice } from './slices.ts';

type WatchEvent = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject };

/** The ready addresses of each Service, whoever wrote the slices, as they were after one write. */
type Moment = Readonly<Record<string, readonly string[]>>;

const PATHS = {
  services: `/api/v1/namespaces/${MIRRORS}/services`,
  slices: `/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices`,
} as const;

type Watched = keyof typeof PATHS;

/**
 * Every version of every Service and EndpointSlice of the mirror namespace, by a client of its own: a test can say what
 * must have held at each moment, as it did for kube-proxy, and not only what holds in the end.
 */
export class EndpointHistory {
  readonly #local: TestCluster;
  readonly #token: string;
  readonly #stopped = new AbortController();
  readonly #current: Readonly<Record<Watched, Map<string, KubeObject>>> = { services: new Map(), slices: new Map() };
  readonly #moments: Moment[] = [];
  readonly #deleted: string[] = [];

  private constructor(local: TestCluster, token: string) {
    this.#local = local;
    this.#token = token;
  }

  /** Begins with what there is. The token's holder may watch both kinds. */
  static async start(local: TestCluster, { token }: Pick<TestAccount, 'token'>): Promise<EndpointHistory> {
    const history = new EndpointHistory(local, token);
    await Promise.all([history.#follow('services'), history.#follow('slices')]);
    return history;
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Waits until everything that has happened so far is in the history. */
  async caughtUp(): Promise<void> {
    for (const watched of ['services', 'slices'] as const) {
      await waitFor(`the watch of ${watched} to tell what a list shows`, async () => {
        const listed = versionsOf(await this.#local.admin.list(PATHS[watched]));
        return listed === versionsOf([...this.#current[watched].values()]) || undefined;
      });
    }
  }

  /** Names of Services that were deleted, in order. */
  get deletions(): readonly string[] {
    return this.#deleted;
  }

  /** The Services that had a ready endpoint at one moment, and at a later one none: their clients were let down. */
  get lapses(): readonly string[] {
    const names = new Set(this.#moments.flatMap((moment) => Object.keys(moment)));
    return [...names].filter((name) => {
      const first = this.#moments.findIndex((moment) => (moment[name] ?? []).length > 0);
      return first >= 0 && this.#moments.slice(first).some((moment) => (moment[name] ?? []).length === 0);
    });
  }

  async #follow(watched: Watched): Promise<void> {
    const { body } = await this.#local.admin.request('GET', PATHS[watched]);
    this.#record(watched, (body.items ?? []).map((object) => ({ type: 'ADDED', object })));
    const response = await this.#open(`${PATHS[watched]}?watch=true&resourceVersion=${String(body.metadata.resourceVersion)}`);
    // Ends with `stop`, or with the server; the history then ends, which `caughtUp` tells.
    void this.#read(watched, response).catch(() => {});
  }

  async #open(target: string): Promise<IncomingMessage> {
    const ca = await readFile(this.#local.caFile);
    const headers = { authorization: `Bearer ${this.#token}` };
    const request = get(`${this.#local.url}${target}`, { ca, headers, agent: false, signal: this.#stopped.signal });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // Once there is an answer, whatever ends it is told by the answer.
    request.on('error', () => {});
    if (response.statusCode !== 200) throw new Error(`${target} was answered ${response.statusCode}`);
    return response;
  }

  async #read(watched: Watched, response: IncomingMessage): Promise<void> {
    let rest = '';
    for await (const text of response.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#record(watched, [JSON.parse(line) as WatchEvent]);
    }
  }

  #record(watched: Watched, events: readonly WatchEvent[]): void {
    for (const { type, object } of events) {
      if (type === 'DELETED') this.#current[watched].delete(object.metadata.name);
      else this.#current[watched].set(object.metadata.name, object);
      if (type === 'DELETED' && watched === 'services') this.#deleted.push(object.metadata.name);
    }
    this.#moments.push(readyAddresses([...this.#current.slices.values()] as unknown as readonly Slice[]));
  }
}

/** One text for the versions of some objects, in whatever order they come. */
function versionsOf(objects: readonly KubeObject[]): string {
  const versions = objects.map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`);
  return versions.toSorted().join(' ');
}
