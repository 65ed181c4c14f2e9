import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { nodeKind } from '@kube-semaphore/kube-objects';
import { asWhole, Watched } from '@kube-semaphore/multicluster';
import type { MirrorOptions } from '../../config/options.ts';
import type { Settings } from '../../config/settings.ts';
import { MAX_ZONES } from '../../endpoints/desired/routing/routing-hints.ts';
import { zoneLabel } from '../../names.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@kube-semaphore/runtime';

type Place = { readonly uid: string; readonly zone: string };

export type LocalZonesOptions = {
  readonly settings: Pick<Settings, 'global' | 'local'>;
  readonly client: KubeClient;
  readonly options: Pick<MirrorOptions, 'watchIdleTimeoutMs'>;
  readonly log: Logger;
  /** Enqueues all Services that may have hints. */
  readonly enqueueAll: () => void;
};

/** The zones of the local cluster's Nodes, for local-first routing of global Services. */
export class LocalZones {
  readonly #options: LocalZonesOptions;
  readonly #nodes: Watched<typeof nodeKind, Place>;
  #zones: readonly string[];
  /** Whether each Node has one of them, as far as we know: a config that names zones is believed. */
  #areComplete = true;
  #isForbiddenLogged = false;

  constructor(options: LocalZonesOptions) {
    this.#options = options;
    this.#zones = options.settings.local.zones;
    this.#nodes = new Watched<typeof nodeKind, Place>({
      client: options.client,
      kind: nodeKind,
      project: ({ metadata }) => ({ uid: metadata.uid, zone: metadata.labels[zoneLabel] ?? '' }),
      equal: (a, b) => a.zone === b.zone,
      idleTimeoutMs: options.options.watchIdleTimeoutMs,
      ...asWhole({ update: () => this.#update(), failed: (error) => this.#failed(error) }),
    });
  }

  /** Sorted, or in the order of the config; empty if unknown. */
  get zones(): readonly string[] {
    return this.#zones;
  }

  /** Whether hints that name the zones are for each Node. */
  get haveAllNodes(): boolean {
    return this.#areComplete && this.#zones.length > 0 && this.#zones.length <= MAX_ZONES;
  }

  /** Watches the Nodes until `signal` is aborted. Returns at once if the config names the zones or no Service is global. */
  async run({ signal }: RunOptions): Promise<void> {
    const { settings } = this.#options;
    if (settings.global === undefined || settings.local.zones.length > 0) return;
    await this.#nodes.run({ signal });
  }

  /** Waits for the first list: nodes in a zone that isn't known yet would use remote endpoints, too. */
  #update(): void {
    if (!this.#nodes.synced) return;
    const all = [...new Set(this.#nodes.values().map(({ zone }) => zone))].toSorted();
    const zones = all.filter((zone) => zone !== '');
    const areComplete = zones.length === all.length;
    if (areComplete === this.#areComplete && isDeepStrictEqual(zones, this.#zones)) return;
    this.#zones = zones;
    this.#areComplete = areComplete;
    const { log, enqueueAll } = this.#options;
    log.info({ zones }, 'zones of the local cluster');
    enqueueAll();
  }

  #failed(error: unknown): void {
    if (this.#isForbiddenLogged || !isStatus(error, 403)) return;
    this.#isForbiddenLogged = true;
    this.#options.log.warn({ error }, FORBIDDEN);
  }
}

const FORBIDDEN =
  'listing Nodes is forbidden: hints of local endpoints name the zone "local", which has no Nodes, until a ClusterRole allows it';
