import { isDeepStrictEqual } from 'node:util';
import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { Codec, clusterPropertyKind } from '@kube-semaphore/kube-objects';
import { everyPeriod, type Remotes, untilAnswered } from '@kube-semaphore/multicluster';
import { compareText } from '@kube-semaphore/naming';
import type { Logger } from '@kube-semaphore/runtime';
import type { RemoteSettings, Settings } from '../../config/settings.ts';
import type { ClusterProperties } from '../desired/routing/levels.ts';
import { propertyProblem } from '../desired/routing/order.ts';

export type ClusterPropertyObjectsOptions = {
  readonly settings: Pick<Settings, 'global' | 'mcs' | 'local'>;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'byName'>;
  readonly log: Logger;
  /** Enqueues all Services that may have an order of clusters. */
  readonly enqueueAll: () => void;
};

type Cluster = { readonly name: string; readonly client: Pick<KubeClient, 'list'> };

/** Hardly any cluster has some, and these hardly ever change: not worth a watch of each remote. */
const PERIOD_MS = 60_000;

/** How long a remote may delay its own start. */
const FIRST_MS = 5_000;

/** A remote may have any number. */
const MOST = 100;

/** The first page is all that is read: what follows has no budget, and no end if the remote likes. */
const PAGE = 500;

const codec = new Codec(clusterPropertyKind);

/** What clusters say of themselves: their ClusterProperty objects (About API, KEP-2149). */
export class ClusterPropertyObjects {
  readonly #options: ClusterPropertyObjectsOptions;
  #found: ReadonlyMap<string, ClusterProperties> = new Map();

  constructor(options: ClusterPropertyObjectsOptions) {
    this.#options = options;
  }

  /** By cluster, as last read. One that wasn't read yet is missing. Another map after a change. */
  get found(): ReadonlyMap<string, ClusterProperties> {
    return this.#found;
  }

  /**
   * Reads those of the local cluster before anything is decided: which exports are for us is read from them once, and unknown is not
   * none.
   *
   * @throws the signal's reason
   */
  async readLocal(cluster: Cluster, running: RunOptions): Promise<void> {
    if (!this.#isUsed) return;
    const { log } = this.#options;
    const onFailure = (error: unknown): void => log.warn({ error }, 'can not read ClusterProperties, trying again');
    await untilAnswered(() => this.#ask(cluster, running), { ...running, onFailure });
  }

  /** Reads those of a remote once, before anything of it is decided. One that doesn't answer in time is no reason to wait. */
  async read(cluster: Cluster, { signal }: RunOptions): Promise<void> {
    if (this.#isUsed) await this.#read(cluster, { signal: AbortSignal.any([signal, AbortSignal.timeout(FIRST_MS)]) });
  }

  /** Reads those of a cluster again and again, until `signal` is aborted. */
  async run(cluster: Cluster, running: RunOptions): Promise<void> {
    if (this.#isUsed) await everyPeriod(PERIOD_MS, () => void this.#read(cluster, running), running);
  }

  get #isUsed(): boolean {
    const { global, mcs } = this.#options.settings;
    return global !== undefined || mcs !== undefined;
  }

  /** A failure changes nothing. */
  async #read(cluster: Cluster, running: RunOptions): Promise<void> {
    try {
      await this.#ask(cluster, running);
    } catch (error) {
      this.#options.log.debug({ cluster: cluster.name, error }, 'ClusterProperties not read');
    }
  }

  /** Without the About API, or the right to list its objects, a cluster has none. */
  async #ask({ name, client }: Cluster, running: RunOptions): Promise<void> {
    try {
      const { items } = await client.list(codec, { ...running, limit: PAGE });
      this.#set(
        name,
        items.map(({ metadata, spec }) => [metadata.name, spec.value] as const),
      );
    } catch (error) {
      if (!isStatus(error, 403) && !isStatus(error, 404)) throw error;
      this.#options.log.debug({ cluster: name, error }, 'no ClusterProperties');
      this.#set(name, []);
    }
  }

  #set(cluster: string, all: readonly (readonly [string, string])[]): void {
    const { settings, remotes, log, enqueueAll } = this.#options;
    const usable = all.filter(([property, value]) => propertyProblem(property, value) === undefined);
    const properties = new Map(usable.toSorted(([a], [b]) => compareText(a, b)).slice(0, MOST));
    const known = this.#found.get(cluster);
    if (isDeepStrictEqual(properties, known)) return;
    const others = [...this.#found].filter(([name]) => name === settings.local.name || remotes.byName.has(name));
    this.#found = new Map([...others, [cluster, properties]]);
    if (properties.size > 0 || known !== undefined)
      log.info({ cluster, properties: Object.fromEntries(properties) }, 'ClusterProperties');
    enqueueAll();
  }
}
