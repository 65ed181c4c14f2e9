import { type App, type AppOptions, startApp } from './apps.ts';

type Stoppable = { stop(): Promise<unknown> };

/** Everything that the demo starts. It must be gone when the demo ends, whatever happened. */
export class Started {
  /** In the order in which they were started. */
  readonly apps: App[] = [];
  readonly #servers: Promise<Stoppable>[] = [];
  readonly #onDeath: (error: Error) => void;
  #isOpen = true;

  /** @param onDeath called if an app ends without having been asked to */
  constructor(onDeath: (error: Error) => void) {
    this.#onDeath = onDeath;
  }

  /** The first app of a cluster that runs, and is this program. @throws {Error} if there is none */
  running(program: AppOptions['program'], { name }: { readonly name: string }): App {
    const isWanted = ({ options, isRunning }: App) =>
      options.program === program && options.cluster.name === name && isRunning();
    const app = this.apps.find(isWanted);
    if (app === undefined) throw new Error(`no ${program} runs in ${name}`);
    return app;
  }

  app(options: AppOptions): App {
    this.#assertOpen();
    const app = startApp(options, this.apps.length, this.#onDeath);
    this.apps.push(app);
    return app;
  }

  /** Starts something else that must be stopped. */
  server<T extends Stoppable>(start: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    const server = start();
    this.#servers.push(server);
    return server;
  }

  /** Stops everything, also what is still starting. Idempotent. @throws {Error} if a server does not stop */
  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.apps.map((app) => app.stop()));
    // A server that did not start has cleaned up after itself. The step that started it reports why.
    const servers = (await Promise.allSettled(this.#servers)).filter((server) => server.status === 'fulfilled');
    const ends = await Promise.allSettled(servers.map(({ value }) => value.stop()));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw new Error('a server did not stop', { cause: failed.reason });
  }

  /** A step may still run after an interruption. It must not start what nothing stops. */
  #assertOpen(): void {
    if (!this.#isOpen) throw new Error('the demo is over');
  }
}
