import { Reflector, type ReflectorHooks, Store } from '@kube-semaphore/informers';
import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { nodeKind } from '@kube-semaphore/kube-objects';
import { POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import type { MirrorOptions } from '../config/options.ts';
import type { Settings } from '../config/settings.ts';
import { zoneLabel } from '../names.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@kube-semaphore/runtime';

type Place = { readonly uid: string; readonly zone: string };

export type LocalZonesOptions = {
  readonly settings: Pick<Settings, 'global' | 'local'>;
  readonly client: KubeClient;
  readonly options: Pick<MirrorOptions, 'watchIdleTimeoutMs'>;
  readonly log: Logger;
  /** The zones changed. */
  readonly onChange: () => void;
};

/** The zones of the local cluster's Nodes, for local-first routing of global Services. */
export class LocalZones {
  readonly #options: LocalZonesOptions;
  readonly #nodes: Store<Place>;
  #zones: readonly string[];
  #isForbiddenLogged = false;

  constructor(options: LocalZonesOptions) {
    this.#options = options;
    this.#zones = options.settings.local.zones;
    this.#nodes = new Store<Place>({ equal: (a, b) => a.zone === b.zone, onChange: () => this.#update() });
  }

  /** Sorted, or in the order of the config; empty if unknown. */
  get zones(): readonly string[] {
    return this.#zones;
  }

  /** Watches the Nodes until `signal` is aborted. Returns at once if the config names the zones or no Service is global. */
  async run({ signal }: RunOptions): Promise<void> {
    const { settings, client, options } = this.#options;
    if (settings.global === undefined || settings.local.zones.length > 0) return;
    const hooks: ReflectorHooks = { onSynced: () => this.#update(), onRestart: ({ error }) => this.#failed(error) };
    const reflector = new Reflector({
      client,
      kind: nodeKind,
      watchList: 'auto',
      project: ({ metadata }) => ({ uid: metadata.uid, zone: metadata.labels[zoneLabel] ?? '' }),
      store: this.#nodes,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks,
    });
    await reflector.run({ signal });
  }

  /** Waits for the first list: nodes in a zone that isn't known yet would use remote endpoints, too. */
  #update(): void {
    const { view } = this.#nodes;
    if (!view.synced) return;
    const zones = [...new Set(Array.from(view.objects.values(), ({ zone }) => zone))]
      .filter((zone) => zone !== '')
      .toSorted();
    if (isDeepStrictEqual(zones, this.#zones)) return;
    this.#zones = zones;
    this.#options.log.info({ zones }, 'zones of the local cluster');
    this.#options.onChange();
  }

  #failed(error: unknown): void {
    if (this.#isForbiddenLogged || !isStatus(error, 403)) return;
    this.#isForbiddenLogged = true;
    this.#options.log.warn({ error }, FORBIDDEN);
  }
}

const FORBIDDEN =
  'listing Nodes is forbidden: hints of local endpoints name the zone "local", which has no Nodes, until a ClusterRole allows it';
