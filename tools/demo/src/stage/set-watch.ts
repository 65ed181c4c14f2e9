import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, get } from 'node:https';
import { type TestCluster, globalNetworkSetCrd } from '@kube-semaphore/testkit';

/** What matters of a GlobalNetworkSet. */
export type NetworkSet = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nets: readonly string[];
};

/**
 * Learns of a set's new version, or that there is none any more.
 *
 * @param atMs when it was seen, by `performance.now()`
 */
export type SetListener = (set: NetworkSet | undefined, atMs: number) => void;

/** What a cluster needs before there can be sets, in the group in which Calico's users know them. */
export const networkSetCrd = globalNetworkSetCrd('projectcalico.org');

/** Where sets are in the API. */
export const networkSetsPath = '/apis/projectcalico.org/v3/globalnetworksets';

/** The rights that a watch needs. */
export const watchSetsRules = [
  { apiGroups: ['projectcalico.org'], resources: ['globalnetworksets'], verbs: ['list', 'watch'] },
];

type WatchEvent = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: {
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
    readonly spec?: { readonly nets?: readonly string[] };
  };
};

/** The GlobalNetworkSets of a cluster through a watch of the demo's own, so that it needn't believe the app. */
export class SetWatch {
  readonly #sets = new Map<string, NetworkSet>();
  readonly #listeners = new Map<string, Set<SetListener>>();

  private constructor() {}

  /** Resolves when the watch stands. It goes on until the cluster stops; `onEnd` is then called. */
  static async open(
    { name, url, caFile }: TestCluster,
    { token, onEnd }: { token: string; onEnd: (error: Error) => void },
  ): Promise<SetWatch> {
    const options: RequestOptions = {
      agent: false,
      ca: await readFile(caFile),
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    };
    const request = get(`${url}${networkSetsPath}?watch=true`, options);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // The response breaks off as well, and is being read.
    request.on('error', () => {});
    const watch = new SetWatch();
    void watch.#follow(response).catch((cause: unknown) => onEnd(new Error(`the demo's watch of ${name}`, { cause })));
    return watch;
  }

  /** A set as it was last seen. */
  get(name: string): NetworkSet | undefined {
    return this.#sets.get(name);
  }

  /** Calls `listener` for every later version of the set `name`, until the result is called. */
  subscribe(name: string, listener: SetListener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  async #follow(response: IncomingMessage): Promise<never> {
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#apply(JSON.parse(line) as WatchEvent);
    }
    throw new Error('ended');
  }

  #apply({ type, object }: WatchEvent): void {
    if (type === 'ERROR') throw new Error(JSON.stringify(object));
    if (type === 'BOOKMARK') return;
    const { name, labels = {} } = object.metadata;
    const set = type === 'DELETED' ? undefined : { name, labels, nets: object.spec?.nets ?? [] };
    if (set) this.#sets.set(name, set);
    else this.#sets.delete(name);
    const atMs = performance.now();
    for (const listener of this.#listeners.get(name) ?? []) listener(set, atMs);
  }
}
