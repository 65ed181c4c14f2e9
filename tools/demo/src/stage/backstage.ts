import { startEmbeddedCluster, startRealCluster, type TestCluster } from '@kube-semaphore/testkit';
import { App, type AppOptions } from './app.ts';

/** Everything that the demo starts, and that must be gone when it ends, whatever happened. */
export class Backstage {
  readonly #start: (options: { name: string }) => Promise<TestCluster>;
  readonly #clusters: Promise<TestCluster>[] = [];
  readonly #apps: App[] = [];
  #closed = false;

  /** @param real whether clusters are real ones, rather than in this process */
  constructor({ real }: { real: boolean }) {
    this.#start = real ? startRealCluster : startEmbeddedCluster;
  }

  /** The apps that were started, in that order. */
  get apps(): readonly App[] {
    return this.#apps;
  }

  /** False from the beginning of `close()` on. */
  get isOpen(): boolean {
    return !this.#closed;
  }

  startCluster(name: string): Promise<TestCluster> {
    this.#assertOpen();
    const cluster = this.#start({ name });
    this.#clusters.push(cluster);
    return cluster;
  }

  startApp(options: AppOptions): App {
    this.#assertOpen();
    const app = App.start(options);
    this.#apps.push(app);
    return app;
  }

  /**
   * Stops everything, also what is still starting. Idempotent.
   *
   * @throws {AggregateError} if a cluster could not be stopped; the others are, nevertheless
   */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#apps.map((app) => app.stop()));
    // A cluster that didn't start has cleaned up behind itself, and was reported where it was started.
    const started = (await Promise.allSettled(this.#clusters)).filter((cluster) => cluster.status === 'fulfilled');
    const ends = await Promise.allSettled(started.map(({ value }) => value.stop()));
    const errors = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as unknown);
    if (errors.length > 0) throw new AggregateError(errors, 'not every cluster could be stopped');
  }

  /** A scene that was interrupted may still be going on, and must not start what nobody would stop. */
  #assertOpen(): void {
    if (this.#closed) throw new Error('the demo is over');
  }
}
