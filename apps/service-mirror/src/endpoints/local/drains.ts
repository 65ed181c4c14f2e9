import { isDeepStrictEqual } from 'node:util';
import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { Codec, configMapKind } from '@kube-semaphore/kube-objects';
import { asWhole, listUntilAnswered, Watched } from '@kube-semaphore/multicluster';
import type { Logger } from '@kube-semaphore/runtime';
import type { MirrorOptions } from '../../config/options.ts';
import type { Settings } from '../../config/settings.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import { drainsName } from '../../names.ts';
import { type Drain, readDrains } from '../desired/routing/drains.ts';

export type LocalDrainsOptions = {
  readonly settings: Pick<Settings, 'global' | 'mcs' | 'mirrorNamespace'>;
  readonly client: KubeClient;
  readonly options: Pick<MirrorOptions, 'watchIdleTimeoutMs'>;
  readonly log: Logger;
  readonly metrics: Pick<MirrorMetrics, 'drainedSince'>;
  /** Enqueues all Services that may have an order of clusters. */
  readonly enqueueAll: () => void;
};

type StoredDrains = { readonly uid: string; readonly drains: readonly Drain[] };

/** The clusters that operators drained here: a ConfigMap in the mirror namespace. */
export class LocalDrains {
  readonly #options: LocalDrainsOptions;
  readonly #configMaps: Watched<typeof configMapKind, StoredDrains>;
  #all: readonly Drain[] = [];
  #clusters: ReadonlySet<string> = new Set();
  #isForbidden = false;

  constructor(options: LocalDrainsOptions) {
    const { client, settings } = options;
    this.#options = options;
    this.#configMaps = new Watched<typeof configMapKind, StoredDrains>({
      client,
      kind: configMapKind,
      namespace: settings.mirrorNamespace,
      fieldSelector: SELECTOR,
      project: ({ metadata, data }) =>
        metadata.name === drainsName ? { uid: metadata.uid, drains: readDrains(data) } : undefined,
      equal: (a, b) => isDeepStrictEqual(a.drains, b.drains),
      idleTimeoutMs: options.options.watchIdleTimeoutMs,
      ...asWhole({ update: () => this.#update(), failed: (error) => this.#failed(error) }),
    });
  }

  /** Their names, which may be of no cluster of the config. */
  get clusters(): ReadonlySet<string> {
    return this.#clusters;
  }

  /** What `/status` says; null: the app may not read it, or has no use for it. */
  status(): readonly Drain[] | null {
    return this.#isForbidden || !this.#isUsed ? null : this.#all;
  }

  /**
   * Reads the ConfigMap once, before anything is decided: a cluster that is drained must not get traffic at each start. A
   * missing right is no reason to wait.
   *
   * @throws the signal's reason when that is aborted
   */
  async read(running: RunOptions): Promise<void> {
    if (!this.#isUsed) return;
    const { client, settings, log } = this.#options;
    // A list, as the watch needs that right, too.
    const { objects, forbidden } = await listUntilAnswered(client, new Codec(configMapKind), {
      ...running,
      namespace: settings.mirrorNamespace,
      fieldSelector: SELECTOR,
      log,
      failure: 'drained clusters not read, retrying',
    });
    if (forbidden !== undefined) this.#failed(forbidden);
    this.#set(objects.flatMap(({ metadata, data }) => (metadata.name === drainsName ? readDrains(data) : [])));
  }

  /** Watches the ConfigMap until `signal` is aborted. Returns at once if no Service has an order of clusters. */
  async run(running: RunOptions): Promise<void> {
    if (this.#isUsed) await this.#configMaps.run(running);
  }

  get #isUsed(): boolean {
    const { global, mcs } = this.#options.settings;
    return global !== undefined || mcs !== undefined;
  }

  #update(): void {
    if (!this.#configMaps.synced) return;
    this.#isForbidden = false;
    this.#set(this.#configMaps.values().flatMap(({ drains }) => drains));
  }

  #set(drains: readonly Drain[]): void {
    if (isDeepStrictEqual(drains, this.#all)) return;
    const { log, metrics, enqueueAll } = this.#options;
    for (const { cluster } of this.#all) metrics.drainedSince.remove({ cluster });
    for (const { cluster, since } of drains)
      metrics.drainedSince.set({ cluster }, since === null ? 0 : Date.parse(since) / 1_000);
    this.#all = drains;
    this.#clusters = new Set(drains.map(({ cluster }) => cluster));
    log.info({ drains }, 'drained clusters');
    enqueueAll();
  }

  /** What was known stays. */
  #failed(error: unknown): void {
    if (!isStatus(error, 403) || this.#isForbidden) return;
    this.#isForbidden = true;
    this.#options.log.info({ error }, FORBIDDEN);
  }
}

const SELECTOR = `metadata.name=${drainsName}`;

const FORBIDDEN = `the ConfigMap ${drainsName} can't be read: no cluster is drained until a Role allows it`;
