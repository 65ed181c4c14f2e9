import type { QueueObserver } from '@kube-semaphore/controller';
import { GLOBAL, IMPORT } from '../names.ts';
import type { MirrorMetrics } from './metrics.ts';

export type QueueMetricsOptions = {
  readonly metrics: MirrorMetrics;
  /** The local cluster's name. */
  readonly local: string;
  /** Monotonic, in ms. */
  readonly now?: () => number;
};

/** One queue of the Go program. */
type Queue = {
  readonly waiting: Map<string, number>;
  readonly working: Map<string, number>;
  readonly requeued: Set<string>;
};

/** Our one queue, reported as the several queues of the Go program. */
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
    const { name, queue } = this.#queueOf(key);
    queue.waiting.set(key, this.#now());
    metrics.queueAdds.inc({ name });
    metrics.queueDepth.set({ name }, queue.waiting.size);
  }

  started(key: string): void {
    const { metrics } = this.#options;
    const { name, queue } = this.#queueOf(key);
    const now = this.#now();
    metrics.queueLatency.observe({ name }, (now - (queue.waiting.get(key) ?? now)) / 1000);
    queue.waiting.delete(key);
    queue.working.set(key, now);
    metrics.queueDepth.set({ name }, queue.waiting.size);
  }

  ended(key: string, { failed }: { readonly failed: boolean }): void {
    const { metrics } = this.#options;
    const { name, queue } = this.#queueOf(key);
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

  #queueOf(key: string): { readonly name: string; readonly queue: Queue } {
    const name = queueName(key, this.#options.local);
    const queue = this.#queues.get(name) ?? {
      waiting: new Map<string, number>(),
      working: new Map<string, number>(),
      requeued: new Set<string>(),
    };
    this.#queues.set(name, queue);
    return { name, queue };
  }
}

/** The name of the Go program's queue for a key, and a name like it for imports. */
function queueName(key: string, local: string): string {
  const cluster = key.slice(0, key.indexOf('/'));
  if (cluster === IMPORT) return `${local}-import`;
  return cluster === GLOBAL ? `${local}-global-service` : `${cluster}-service`;
}
