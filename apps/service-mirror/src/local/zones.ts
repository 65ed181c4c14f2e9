import { Reflector, type ReflectorHooks, Store } from '@kube-semaphore/informers';
import { KubeApiError, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { nodeKind } from '@kube-semaphore/kube-objects';
import { zoneLabel } from '../names.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@kube-semaphore/runtime';

type Place = { readonly uid: string; readonly zone: string };

export type LocalZonesOptions = {
  /** What the config says; if that is empty, the Nodes say it. */
  readonly configured: readonly string[];
  readonly client: KubeClient;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly log: Logger;
  /** The zones are others than before. */
  readonly onChange: () => void;
};

/** The zones of the local cluster's nodes, for local-first routing. */
export class LocalZones {
  readonly #options: LocalZonesOptions;
  readonly #nodes: Store<Place>;
  #zones: readonly string[];
  #said = false;

  constructor(options: LocalZonesOptions) {
    this.#options = options;
    this.#zones = options.configured;
    this.#nodes = new Store<Place>({ equal: (a, b) => a.zone === b.zone, onChange: () => this.#look() });
  }

  /** Sorted, or as the config has them; empty: nobody knows. */
  get zones(): readonly string[] {
    return this.#zones;
  }

  /** Watches the Nodes until `signal` is aborted, unless the config knows better. */
  async run({ signal }: RunOptions): Promise<void> {
    const { configured, client, idleTimeoutMs, pollIntervalMs } = this.#options;
    if (configured.length > 0) return;
    const hooks: ReflectorHooks = { onSynced: () => this.#look(), onRestart: ({ error }) => this.#failed(error) };
    const reflector = new Reflector({
      client,
      kind: nodeKind,
      watchList: 'auto',
      project: ({ metadata }) => ({ uid: metadata.uid, zone: metadata.labels[zoneLabel] ?? '' }),
      store: this.#nodes,
      idleTimeoutMs,
      pollIntervalMs,
      hooks,
    });
    await reflector.run({ signal });
  }

  /** Before all of them are listed, some zones may be missing, and their nodes would use remote endpoints too. */
  #look(): void {
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
    if (this.#said || !(error instanceof KubeApiError) || error.status !== 403) return;
    this.#said = true;
    this.#options.log.warn(
      { error },
      'Nodes may not be listed: local endpoints of global services are hinted to the zone "local", where no node is, until a ClusterRole allows it',
    );
  }
}
