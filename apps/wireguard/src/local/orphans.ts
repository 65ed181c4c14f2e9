import type { RunOptions } from '@kube-semaphore/kube-client';
import { clusterOfAnnotation, deviceName } from '../names.ts';
import type { Logger } from '@kube-semaphore/runtime';
import type { WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { FailureLog } from '../health/failure-log.ts';
import type { LocalNode } from './node.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import { ourOrphans, type Orphan } from './node-check.ts';
import { type NodeDevices, orphanDevices } from './ownership.ts';
import { annotationPatch } from '../desired/own-node.ts';
import type { RemoteSettings } from '../config/settings.ts';

export type OrphansOptions = {
  readonly tools: Pick<WireGuardTools, 'deleteLink'>;
  readonly local: Pick<LocalNode, 'node' | 'announce'>;
  readonly remotes: readonly RemoteSettings[];
  readonly log: Logger;
  readonly metrics: Pick<WireGuardMetrics, 'orphans'>;
};

/** What remotes left behind that are in the config no more. */
export class Orphans {
  readonly #options: OrphansOptions;
  readonly #failures: FailureLog;
  readonly #told = new Set<string>();

  constructor(options: OrphansOptions) {
    this.#options = options;
    this.#failures = new FailureLog(options.log);
  }

  /**
   * Removes the devices of ours among them, with what our Node says of them, and reports the others. One that can't be
   * removed keeps nobody from the next.
   *
   * @returns whether a device was removed
   */
  async remove(around: NodeDevices, { signal }: RunOptions): Promise<boolean> {
    let removed = false;
    for (const stray of ourOrphans(around, this.#options.remotes)) {
      try {
        await this.#remove(stray, { signal });
        this.#failures.succeeded(stray.remote);
        removed = true;
      } catch (error) {
        if (!signal.aborted) this.#failures.failed({ key: stray.remote, error });
      }
    }
    this.#report(around);
    return removed;
  }

  /** The device goes last: it is all that remembers that there is something to take back. */
  async #remove({ device, remote }: Orphan, { signal }: RunOptions): Promise<void> {
    const { tools, local, remotes, log } = this.#options;
    const isServed = remotes.some(({ name }) => name === remote);
    const patch = isServed
      ? undefined
      : annotationPatch(local.node?.annotations ?? {}, { announced: [], withdrawn: [remote] });
    if (patch !== undefined) await local.announce(patch, { signal });
    await tools.deleteLink(device, { signal });
    log.info({ cluster: remote, device }, 'device removed, its remote is not in the config any more');
  }

  #report(around: NodeDevices): void {
    const { local, remotes, log, metrics } = this.#options;
    const { unmarked } = orphanDevices(around, remotes);
    for (const device of unmarked.filter((name) => !this.#told.has(name))) {
      this.#told.add(device);
      log.warn({ device }, 'a device looks like ours, has no mark of ours and no remote in the config: it stays');
    }
    const announced = Object.keys(local.node?.annotations ?? {}).map(clusterOfAnnotation);
    const clusters = [
      ...unmarked.map((name) => name.slice(deviceName('').length)),
      ...announced.filter((cluster) => cluster !== undefined),
    ];
    metrics.orphans.reset();
    for (const [cluster, each] of Map.groupBy(clusters, (name) => name)) {
      if (!remotes.some(({ name }) => name === cluster)) metrics.orphans.set({ cluster }, each.length);
    }
  }
}
