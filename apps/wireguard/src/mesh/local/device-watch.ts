import { setTimeout as delay } from 'node:timers/promises';
import { everyPeriod, type RemoteList } from '@kube-semaphore/multicluster';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import { type DeviceSettings, devicesOf } from '../desired/settings.ts';
import type { WatchLinks } from '@kube-semaphore/wireguard-tools';

export type DeviceWatchOptions = {
  readonly watchLinks: WatchLinks;
  readonly remotes: RemoteList<Pick<DeviceSettings, 'name' | 'device' | 'keyRotation'>>;
  /** Remotes whose device another program has to make, which may come before the watch begins; and those whose keys rotate. */
  readonly polled: () => Iterable<string>;
  readonly log: Logger;
  /** How long to wait before a watch that ended begins again. */
  readonly retryMs: number;
  /** Between two polls; default 1 s. */
  readonly pollPeriodMs?: number;
  /** The device of this remote has to be observed. */
  readonly onChange: (remote: string) => void;
};

/**
 * Reports at once when a device comes, changes or goes: the device of a wireguard-go goes with its process, and comes with a
 * sidecar. Peers, addresses and routes are observed periodically.
 */
export class DeviceWatch {
  readonly #options: DeviceWatchOptions;

  constructor(options: DeviceWatchOptions) {
    this.#options = options;
  }

  /** Watches until `signal` is aborted. */
  async run({ signal }: RunOptions): Promise<void> {
    const { polled, onChange, pollPeriodMs = 1_000 } = this.#options;
    const poll = (): void => {
      for (const remote of polled()) onChange(remote);
    };
    await Promise.all([this.#watch(signal), everyPeriod(pollPeriodMs, poll, { signal })]);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { watchLinks, remotes, log, retryMs, onChange } = this.#options;
    const onLink = (name: string): void => {
      const remote = remotes.all.find(({ settings }) => devicesOf(settings).includes(name));
      if (remote !== undefined) onChange(remote.settings.name);
    };
    while (!signal.aborted) {
      try {
        await watchLinks(onLink, { signal });
      } catch (error) {
        log.debug({ error }, 'watch of links failed');
      }
      await delay(retryMs, undefined, { signal }).catch(() => undefined); // an abort, which the loop sees next
    }
  }
}
