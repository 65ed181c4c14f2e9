import type { QueueObserver } from '@kube-semaphore/controller';
import type { Remotes } from '@kube-semaphore/multicluster';
import type { RemoteSettings } from '../config/settings.ts';
import { GLOBAL, IMPORT } from '../names.ts';
import type { MirrorMetrics } from './metrics.ts';

export type QueueMetricsOptions = {
  readonly metrics: MirrorMetrics;
  /** The local cluster's name. */
  readonly local: string;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'byName'>;
  /** Monotonic, in ms. */
  readonly now?: () => number;
};

/** One queue of the Go program. */
type Queue = {
  readonly waiting: Map<string, number>;
  readonly working: Map<string, number>;
  readonly requeued: Set<string>;
};

/** Our queues, reported as those of the Go program. */
export class QueueMetrics implements QueueObserver {
  readonly #options: QueueMetricsOptions;
  readonly #now: () => number;
  readonly #queues = new Map<string, Queue>();

  constructor(options: QueueMetricsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  added(key: string): void {
    const { metrics } = this.#options;
    const found = this.#queueOf(key);
    if (found === undefined) return;
    const { name, queue } = found;
    queue.waiting.set(key, this.#now());
    metrics.queueAdds.inc({ name });
    metrics.queueDepth.set({ name }, queue.waiting.size);
  }

  started(key: string): void {
    const { metrics } = this.#options;
    const found = this.#queueOf(key);
    if (found === undefined) return;
    const { name, queue } = found;
    const now = this.#now();
    metrics.queueLatency.observe({ name }, (now - (queue.waiting.get(key) ?? now)) / 1000);
    queue.waiting.delete(key);
    queue.working.set(key, now);
    metrics.queueDepth.set({ name }, queue.waiting.size);
  }

  ended(key: string, { failed }: { readonly failed: boolean }): void {
    const { metrics } = this.#options;
    const found = this.#queueOf(key);
    if (found === undefined) return;
    const { name, queue } = found;
    const now = this.#now();
    metrics.queueWorkDuration.observe({ name }, (now - (queue.working.get(key) ?? now)) / 1000);
    queue.working.delete(key);
    if (failed) {
      queue.requeued.add(key);
      metrics.queueRetries.inc({ name });
    } else queue.requeued.delete(key);
    metrics.queueRequeued.set({ name }, queue.requeued.size);
  }

  /** Measures the keys that are being reconciled; to be called every few seconds. */
  sample(): void {
    const { metrics } = this.#options;
    const now = this.#now();
    for (const [name, { working }] of this.#queues) {
      const seconds = Array.from(working.values(), (since) => (now - since) / 1000);
      metrics.queueUnfinishedWork.set(
        { name },
        seconds.reduce((sum, each) => sum + each, 0),
      );
      metrics.queueLongestRunning.set({ name }, Math.max(0, ...seconds));
    }
  }

  /** A remote left the config, or has other settings, and so new series. */
  forget(remote: string): void {
    this.#queues.delete(queueOfRemote(remote));
  }

  /** Undefined for a key of a remote that isn't in the config any more. */
  #queueOf(key: string): { readonly name: string; readonly queue: Queue } | undefined {
    const name = this.#nameOf(key);
    if (name === undefined) return undefined;
    const queue = this.#queues.get(name) ?? {
      waiting: new Map<string, number>(),
      working: new Map<string, number>(),
      requeued: new Set<string>(),
    };
    this.#queues.set(name, queue);
    return { name, queue };
  }

  /** The name of the Go program's queue for a key, and a name like it for imports. */
  #nameOf(key: string): string | undefined {
    const { local, remotes } = this.#options;
    const cluster = key.slice(0, key.indexOf('/'));
    if (cluster === IMPORT) return `${local}-import`;
    if (cluster === GLOBAL) return `${local}-global-service`;
    return remotes.byName.has(cluster) ? queueOfRemote(cluster) : undefined;
  }
}

/** Of its mirrors. */
export const queueOfRemote = (remote: string): string => `${remote}-service`;
