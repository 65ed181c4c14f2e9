import { setTimeout as delay } from 'node:timers/promises';
import { everyPeriod } from '@kube-semaphore/multicluster';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { WatchLinks } from '@kube-semaphore/wireguard-tools';

export type DeviceWatchOptions = {
  readonly watchLinks: WatchLinks;
  /** Remotes by their devices' names. */
  readonly remotes: ReadonlyMap<string, string>;
  readonly log: Logger;
  /** Until a watch that has ended is begun again. */
  readonly retryMs: number;
  /** Between two looks for a device that somebody else is to make; default 1 s. */
  readonly awaitedPeriodMs?: number;
  /** The device of this remote is to be looked at. */
  readonly onChange: (remote: string) => void;
};

/**
 * Tells at once when a device comes, changes or goes: a wireguard-go that ends takes its device along, and one that a
 * sidecar starts makes it. Peers, addresses and routes are for whoever looks now and then.
 */
export class DeviceWatch {
  readonly #options: DeviceWatchOptions;
  readonly #awaited = new Set<string>();

  constructor(options: DeviceWatchOptions) {
    this.#options = options;
  }

  /** From now on the device of a remote is looked for, or isn't: it may come before the watch begins. */
  awaits(remote: string, isAwaited: boolean): void {
    if (isAwaited) this.#awaited.add(remote);
    else this.#awaited.delete(remote);
  }

  /** Watches until `signal` is aborted. */
  async run({ signal }: RunOptions): Promise<void> {
    const { onChange, awaitedPeriodMs = 1_000 } = this.#options;
    const look = (): void => {
      for (const remote of this.#awaited) onChange(remote);
    };
    await Promise.all([this.#watch(signal), everyPeriod(awaitedPeriodMs, look, { signal })]);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { watchLinks, remotes, log, retryMs, onChange } = this.#options;
    const onLink = (name: string): void => {
      const remote = remotes.get(name);
      if (remote !== undefined) onChange(remote);
    };
    while (!signal.aborted) {
      try {
        await watchLinks(onLink, { signal });
      } catch (error) {
        log.debug({ error }, 'links not watched, only looked at');
      }
      await delay(retryMs, undefined, { signal }).catch(() => undefined); // an abort, which the loop sees next
    }
  }
}
