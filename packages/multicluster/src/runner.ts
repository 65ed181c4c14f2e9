import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Health } from '@kube-semaphore/runtime';
import { liveness, type Loop, readiness } from './health.ts';
import type { ConnectionStatus } from './remote/cluster-watches.ts';
import type { AppStatus } from './status-page.ts';

/** What the runner needs of the local cluster. */
export type LocalSide = {
  /** In errors: `the local sets`. */
  readonly what: string;
  /** Watches it until `signal` is aborted. */
  readonly run: (options: RunOptions) => Promise<void>;
  /** Resolves when it is listed. */
  readonly listed: Promise<void>;
  readonly isSynced: () => boolean;
  readonly loops: () => readonly Loop[];
  /** Why it isn't listed yet. */
  readonly failure: () => unknown;
  /** How its API server is reached. */
  readonly connection: () => ConnectionStatus;
};

/** What the runner needs of a remote cluster. */
type RemoteSide = {
  readonly cluster: string;
  readonly synced: boolean;
  /** The app works without it, as it is forbidden to watch it: nothing waits for it. */
  readonly isForbidden?: boolean;
  /** Resolves when the first lists are complete, or the remote is forbidden. */
  readonly firstSync: Promise<void>;
  /** Milliseconds since the last activity of its most silent watch. */
  readonly silentMs: number;
};

export type RunnerOptions = {
  readonly local: LocalSide;
  /** Begins with the watch of the local side: requests that `watch` needs the answers of. */
  readonly prepare?: (options: RunOptions) => Promise<void>;
  /** Opens and watches the remotes, once the local side is listed and `prepare` has ended. */
  readonly watch: (options: RunOptions) => Promise<readonly Promise<void>[]>;
  /** Those that are watched. */
  readonly remotes: () => readonly RemoteSide[];
  /** What is watched of a remote, for health: `pods`. */
  readonly watched: string;
  readonly longestReconcileMs: () => number;
  readonly idleTimeoutMs: number;
};

type OnceOptions = RunOptions & {
  /** How long to wait for the local side, and then for the first lists of all remotes. */
  readonly timeoutMs: number;
  /** If false, it continues without the local side. */
  readonly needsLocal?: boolean;
};

/** Resolves after a time, without keeping the process alive. */
const elapsed = async (timeoutMs: number, { signal }: RunOptions): Promise<void> =>
  delay(timeoutMs, undefined, { signal, ref: false });

/** How every app starts, reports its health and ends: first the local side, then the remotes, then its own work. */
export class Runner {
  readonly #options: RunnerOptions;
  #watchingSince: number | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Whether the remotes are watched. */
  get isWatching(): boolean {
    return this.#watchingSince !== undefined;
  }

  /** Whether all loops make progress. */
  isLive(): Health {
    const { local, remotes, watched, longestReconcileMs, idleTimeoutMs } = this.#options;
    const watches = this.isWatching ? remotes() : [];
    const loops = watches.map(({ cluster, silentMs }) => ({ name: `the ${watched} of ${cluster}`, silentMs }));
    return liveness({
      loops: [...local.loops(), ...loops],
      longestReconcileMs: longestReconcileMs(),
      idleTimeoutMs,
    });
  }

  /** Whether the local side is listed, and each remote is synced or late. */
  isReady(): Health {
    const { local, remotes } = this.#options;
    const since = this.#watchingSince;
    return readiness({
      localSynced: local.isSynced(),
      remotes: remotes().map(({ cluster, synced, isForbidden }) => ({
        name: cluster,
        synced: synced || !!isForbidden,
      })),
      watchedMs: since === undefined ? undefined : performance.now() - since,
    });
  }

  /** What `/status` says of the local cluster. */
  localStatus(): AppStatus['local'] {
    const { local } = this.#options;
    return { synced: local.isSynced(), ...local.connection() };
  }

  /** Watches all clusters, with `work` beside, until `signal` is aborted or one of them fails. */
  async run({ signal }: RunOptions, work: (options: RunOptions) => readonly Promise<void>[]): Promise<void> {
    await this.#withClusters(signal, async (loops, running) => {
      await Promise.all([...loops, ...work(running)]);
    });
  }

  /**
   * Watches all clusters until they are listed, calls `observe` once, and stops.
   *
   * @throws Error if the local side isn't listed in time
   */
  async once<T>(
    { signal, timeoutMs, needsLocal = true }: OnceOptions,
    observe: (options: RunOptions) => Promise<T> | T,
  ): Promise<T> {
    const { local, remotes } = this.#options;
    const timeout = new AbortController();
    const onTimeout = (): void =>
      timeout.abort(new Error(`${local.what} couldn't be read within ${timeoutMs} ms`, { cause: local.failure() }));
    const timer = needsLocal ? setTimeout(onTimeout, timeoutMs) : undefined;
    const work = async (_: unknown, running: RunOptions): Promise<T> => {
      clearTimeout(timer);
      await Promise.race([Promise.all(remotes().map(({ firstSync }) => firstSync)), elapsed(timeoutMs, running)]);
      return observe(running);
    };
    const stopped = AbortSignal.any([signal, timeout.signal]);
    try {
      return await this.#withClusters(stopped, work, needsLocal ? undefined : timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Watches the local side, then the remotes, calls `work`, and in the end stops everything.
   *
   * @param localTimeoutMs continues without the local side after this time
   */
  async #withClusters<T>(
    stopped: AbortSignal,
    work: (loops: readonly Promise<void>[], running: RunOptions) => Promise<T>,
    localTimeoutMs?: number,
  ): Promise<T> {
    const { local, prepare, watch } = this.#options;
    const ended = new AbortController();
    const signal = AbortSignal.any([stopped, ended.signal]);
    // Each running request listens to it.
    setMaxListeners(0, signal);
    const loops = [local.run({ signal })];
    const known = Promise.all([local.listed, prepare?.({ signal })]);
    const late = localTimeoutMs === undefined ? [] : [elapsed(localTimeoutMs, { signal })];
    try {
      await Promise.race([known, ...loops, ...late]);
      signal.throwIfAborted();
      loops.push(...(await watch({ signal })));
      this.#watchingSince = performance.now();
      return await work(loops, { signal });
    } finally {
      ended.abort();
      await Promise.all(loops);
    }
  }
}
