import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Health } from '@kube-semaphore/runtime';
import { liveness, type Loop, readiness } from './health.ts';

/** What the runner needs of the local cluster. */
export type LocalSide = {
  /** In errors: `the local sets`. */
  readonly what: string;
  /** Watches it until `signal` is aborted. */
  readonly run: (options: RunOptions) => Promise<void>;
  /** Resolves when it is known. */
  readonly listed: Promise<void>;
  readonly isSynced: () => boolean;
  readonly loops: () => readonly Loop[];
  /** Why it isn't known yet. */
  readonly failure: () => unknown;
};

/** What the runner needs of a remote cluster. */
type RemoteSide = {
  readonly cluster: string;
  readonly synced: boolean;
  /** It may not be seen, and is done without: nothing waits for it. */
  readonly isLeftOut?: boolean;
  /** Resolves when one of the two is known. */
  readonly firstSync: Promise<void>;
  /** Milliseconds since its most silent watch last stirred. */
  readonly silentMs: number;
};

export type RunnerOptions = {
  readonly local: LocalSide;
  /** With the local side known: opens and watches the remotes. */
  readonly watch: (options: RunOptions) => Promise<readonly Promise<void>[]>;
  /** Those that are watched. */
  readonly remotes: () => readonly RemoteSide[];
  /** What is watched of a remote, for health: `pods`. */
  readonly watched: string;
  readonly longestReconcileMs: () => number;
  readonly idleTimeoutMs: number;
};

/** How long a look may wait for the local side, and then for the first lists of all remotes. */
type Once = {
  readonly timeoutMs: number;
  /** If not, it goes on without the local side. */
  readonly needsLocal?: boolean;
};

/** Resolves after a time, and keeps no process running. */
const elapsed = async (timeoutMs: number, { signal }: RunOptions): Promise<void> =>
  delay(timeoutMs, undefined, { signal, ref: false });

/** How every app starts, tells its health and ends: first the local side, then the remotes, then its own work. */
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

  /** Whether the loops turn. */
  isLive(): Health {
    const { local, remotes, watched, longestReconcileMs, idleTimeoutMs } = this.#options;
    const ofRemotes = this.isWatching
      ? remotes().map(({ cluster, silentMs }) => ({ name: `the ${watched} of ${cluster}`, silentMs }))
      : [];
    return liveness({
      loops: [...local.loops(), ...ofRemotes],
      longestReconcileMs: longestReconcileMs(),
      idleTimeoutMs,
    });
  }

  /** Whether the local side is known, and each remote has synced or had its time. */
  isReady(): Health {
    const { local, remotes } = this.#options;
    return readiness({
      localSynced: local.isSynced(),
      remotes: remotes().map(({ cluster, synced, isLeftOut }) => ({
        name: cluster,
        synced: synced || isLeftOut === true,
      })),
      watchedMs: this.#watchingSince === undefined ? undefined : performance.now() - this.#watchingSince,
    });
  }

  /** Watches all clusters, and does its work beside, until `signal` is aborted or one of them fails. */
  async run({ signal }: RunOptions, work: (options: RunOptions) => readonly Promise<void>[]): Promise<void> {
    await this.#withClusters(signal, async (loops, running) => {
      await Promise.all([...loops, ...work(running)]);
    });
  }

  /**
   * Looks once at what is there.
   *
   * @throws Error when the local side isn't known in time
   */
  async once<T>(
    { signal, timeoutMs, needsLocal = true }: RunOptions & Once,
    look: (options: RunOptions) => Promise<T> | T,
  ): Promise<T> {
    const { local, remotes } = this.#options;
    const late = new AbortController();
    const tooLate = (): void =>
      late.abort(new Error(`${local.what} couldn't be read within ${timeoutMs} ms`, { cause: local.failure() }));
    const timer = needsLocal ? setTimeout(tooLate, timeoutMs) : undefined;
    const work = async (_: unknown, running: RunOptions): Promise<T> => {
      clearTimeout(timer);
      await Promise.race([Promise.all(remotes().map(({ firstSync }) => firstSync)), elapsed(timeoutMs, running)]);
      return look(running);
    };
    try {
      return await this.#withClusters(AbortSignal.any([signal, late.signal]), work, needsLocal ? undefined : timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Watches the local side, then the remotes, calls `work`, and in the end stops everything.
   *
   * @param localMs goes on without the local side after so long
   */
  async #withClusters<T>(
    stopped: AbortSignal,
    work: (loops: readonly Promise<void>[], running: RunOptions) => Promise<T>,
    localMs?: number,
  ): Promise<T> {
    const { local, watch } = this.#options;
    const ended = new AbortController();
    const signal = AbortSignal.any([stopped, ended.signal]);
    // Every request listens to it for as long as it runs.
    setMaxListeners(0, signal);
    const loops = [local.run({ signal })];
    try {
      await Promise.race([local.listed, ...loops, ...(localMs === undefined ? [] : [elapsed(localMs, { signal })])]);
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
