import type { KubeClient } from '@kube-semaphore/kube-client';
import { type Instruments, limitedLog, type Logger, type sharedMetrics } from '@kube-semaphore/runtime';
import { ClusterWatches, type ClusterWatchesOptions, type ConnectionStatus } from './cluster-watches.ts';
import { type DiagnosticCount, type DiagnosticRegister, skippedIn } from './diagnostic-register.ts';

export type RemoteStateOptions = Omit<ClusterWatchesOptions, 'metrics'> & {
  readonly metrics: ClusterWatchesOptions['metrics'] &
    Pick<Instruments<ReturnType<typeof sharedMetrics>>, 'skippedObjects'> & {
      readonly heldDeletions: { set(labels: { readonly remote: string }, value: number): void };
    };
  readonly client: Pick<KubeClient, 'validity'>;
  /** `-deletion-guard-hold`. */
  readonly holdMs: number;
};

/** What `/status` says of a remote, in every app. */
export type RemoteStatus = ConnectionStatus & {
  readonly name: string;
  /** When the credentials that were used last are valid, in ISO 8601. Null: they don't end, or they are renewed by the app. */
  readonly credentials: { readonly from: string; readonly until: string } | null;
  /** Whether its first lists are complete. */
  readonly synced: boolean;
  /** How many there are of each kind; null before it is synced, as unknown is not empty. */
  readonly objects: Readonly<Record<string, number>> | null;
  readonly heldDeletions: number;
  /** The objects themselves are in the log and in `plan`. */
  readonly skipped: readonly DiagnosticCount[];
};

/** What each app knows of a remote cluster besides its objects, with the log lines and metrics of it. */
export class RemoteState {
  readonly cluster: string;
  /** For what the remote causes: limited. */
  readonly log: Logger;
  readonly skipped: DiagnosticRegister;
  readonly watches: ClusterWatches;
  readonly #options: RemoteStateOptions;
  readonly #held = new Map<string, number>();

  constructor(options: RemoteStateOptions) {
    const { cluster, metrics } = options;
    this.#options = options;
    this.cluster = cluster;
    this.log = limitedLog(options.log, { cluster });
    this.watches = new ClusterWatches({ ...options, log: this.log });
    this.skipped = skippedIn(cluster, this.log, metrics.skippedObjects);
  }

  /** A list is complete. @param counts of its objects: `{ pods: 12 }` */
  listed(message: string, counts: Readonly<Record<string, number>>, held: number): void {
    const { cluster, log } = this;
    log.info({ cluster, ...counts }, message);
    if (held > 0)
      log.warn({ cluster, held, holdMs: this.#options.holdMs }, 'list is missing too many objects; deletions held');
  }

  /**
   * @param held how many deletions are held now; undefined before the first list
   * @param purpose for which its objects are watched, where several purposes are counted together
   */
  setHeld(held: number | undefined, purpose = ''): void {
    if (held === undefined) return;
    this.#held.set(purpose, held);
    this.#options.metrics.heldDeletions.set({ remote: this.cluster }, this.#allHeld);
  }

  /** @param objects null before it is synced */
  status(objects: RemoteStatus['objects']): RemoteStatus {
    const { validity } = this.#options.client;
    return {
      name: this.cluster,
      credentials: validity ? { from: iso(validity.fromMs), until: iso(validity.untilMs) } : null,
      synced: objects !== null,
      ...this.watches.status(),
      objects,
      heldDeletions: this.#allHeld,
      skipped: this.skipped.counts(),
    };
  }

  get #allHeld(): number {
    return [...this.#held.values()].reduce((sum, count) => sum + count, 0);
  }
}

const iso = (ms: number): string => new Date(ms).toISOString();
