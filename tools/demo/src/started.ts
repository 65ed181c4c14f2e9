import { type App, type AppOptions, startApp } from './apps.ts';

type Stoppable = { stop(): Promise<unknown> };

/** Everything that the demo starts, and must stop before it ends. */
export class Started {
  /** In the order of their start. */
  readonly apps: App[] = [];
  readonly #servers: Promise<Stoppable>[] = [];
  readonly #onDeath: (error: Error) => void;
  #isOpen = true;

  /** @param onDeath called if an app exits unexpectedly */
  constructor(onDeath: (error: Error) => void) {
    this.#onDeath = onDeath;
  }

  /** The first running app of this program and cluster. @throws {Error} if there isn't one */
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

  /** Stops everything, also servers that are still starting. Idempotent. @throws {Error} if a server doesn't stop */
  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.apps.map((app) => app.stop()));
    // A server that failed to start cleaned up after itself. The step that started it reports the error.
    const servers = (await Promise.allSettled(this.#servers)).filter((server) => server.status === 'fulfilled');
    const ends = await Promise.allSettled(servers.map(({ value }) => value.stop()));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw new Error('a server did not stop', { cause: failed.reason });
  }

  /** A step may still run after an interruption. It must not start a process that would never be stopped. */
  #assertOpen(): void {
    if (!this.#isOpen) throw new Error('the demo has ended');
  }
}
