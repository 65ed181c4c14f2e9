import { System } from '@kube-semaphore/e2e';
import { startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { startRealCluster } from '@kube-semaphore/testkit';
import { type Network, startNetwork } from '@kube-semaphore/testnet';
import { App, type AppOptions } from './app.ts';

/** A server that was started, or still is being. */
type Starting = Promise<{ stop(): Promise<void> }>;

/** Everything that the demo starts, and that must be gone when it ends, whatever happened. */
export class Backstage {
  readonly #start: (options: { name: string }) => Promise<TestCluster>;
  readonly #servers: Starting[] = [];
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

  /** Those of one cluster that nobody has stopped since. */
  running(cluster: string): readonly App[] {
    return this.#apps.filter((app) => app.options.cluster === cluster && app.isRunning);
  }

  /**
   * The first of them that is this program.
   *
   * @throws {Error} if there is none
   */
  runningProgram(program: AppOptions['program'], cluster: string): App {
    const app = this.running(cluster).find(({ options }) => options.program === program);
    if (app === undefined) throw new Error(`no ${program} runs in ${cluster}`);
    return app;
  }

  /** False from the beginning of `close()` on. */
  get isOpen(): boolean {
    return !this.#closed;
  }

  startCluster(name: string): Promise<TestCluster> {
    this.#assertOpen();
    return this.#keep(this.#start({ name }));
  }

  /** Puts something in front of a cluster with which the line to it can be cut. */
  startFaultProxy(cluster: TestCluster): Promise<FaultProxy> {
    this.#assertOpen();
    return this.#keep(startFaultProxy(cluster));
  }

  /** A network for nodes; it takes root. */
  startNetwork(): Promise<Network> {
    this.#assertOpen();
    return this.#keep(startNetwork());
  }

  /** Two more clusters, in which nothing is played; it takes root. */
  startSystem(): Promise<System> {
    this.#assertOpen();
    return this.#keep(System.start());
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
   * @throws {AggregateError} if a server could not be stopped; the others are, nevertheless
   */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#apps.map((app) => app.stop()));
    // A server that didn't start has cleaned up behind itself, and was reported where it was started.
    const started = (await Promise.allSettled(this.#servers)).filter((server) => server.status === 'fulfilled');
    const ends = await Promise.allSettled(started.map(({ value }) => value.stop()));
    const errors = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as unknown);
    if (errors.length > 0) throw new AggregateError(errors, 'not every server could be stopped');
  }

  #keep<T extends Starting>(server: T): T {
    this.#servers.push(server);
    return server;
  }

  /** A scene that was interrupted may still be going on, and must not start what nobody would stop. */
  #assertOpen(): void {
    if (this.#closed) throw new Error('the demo is over');
  }
}
