import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Inventory, RemoteList } from '@kube-semaphore/multicluster';
import type { Logger } from '@kube-semaphore/runtime';
import type { WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from '../config/settings.ts';
import { annotationPatch } from '../own-node/desired/own-node.ts';
import { devicesOf, portsOf } from '../mesh/desired/settings.ts';
import { FailureLog } from '../mesh/health/failure-log.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import { calicoDevices, clusterOfAnnotation, deviceName, remoteOfAlias } from '../names.ts';
import type { LocalNode } from '../own-node/local-node.ts';
import { type ObservedNode, observeNode } from '../mesh/local/observe.ts';

/** A device with our mark that no remote of the config has, with the remote that it led to. */
export type Orphan = { readonly device: string; readonly remote: string };

/** Devices that no remote of the config has, by name: ours, which are removed, and those that look like the Go program's. */
export function orphansOf(
  { links, devices }: ObservedNode,
  remotes: readonly Pick<RemoteSettings, 'name' | 'device' | 'keyRotation'>[],
): { readonly ours: readonly Orphan[]; readonly unmarked: readonly string[] } {
  const others = links
    .map(({ name, alias }) => ({ device: name, remote: remoteOfAlias(alias) }))
    .filter(
      ({ device, remote }) =>
        !remotes.some(
          (configured) => devicesOf(configured).includes(device) && (remote ?? configured.name) === configured.name,
        ),
    )
    .toSorted((a, b) => (a.device < b.device ? -1 : 1));
  return {
    ours: others.flatMap(({ device, remote }) => (remote === undefined ? [] : [{ device, remote }])),
    unmarked: others
      .filter(({ device, remote }) => remote === undefined && devices.some(({ name }) => name === device))
      .map(({ device }) => device)
      .filter((device) => device.startsWith(deviceName('')) && !calicoDevices.includes(device)),
  };
}

/** Devices of ours that hold a port which the config gives to another remote. They have to free it before that remote binds it. */
export function displacedDevices(
  { links, devices }: ObservedNode,
  remotes: readonly Pick<RemoteSettings, 'name' | 'device' | 'listenPort' | 'keyRotation'>[],
): readonly Pick<RemoteSettings, 'name' | 'device'>[] {
  const ours = new Set(links.filter(({ alias }) => remoteOfAlias(alias) !== undefined).map(({ name }) => name));
  return remotes.filter(({ device: name, listenPort }) => {
    const port = devices.find((device) => device.name === name)?.listenPort;
    return (
      ours.has(name) &&
      port !== listenPort &&
      remotes.some((other) => other.device !== name && portsOf(other).some((wanted) => wanted === port))
    );
  });
}

/** Whether a remote of the config needs the name of an orphan, or its port. */
const isInTheWay = (
  { device }: Orphan,
  { devices }: Pick<ObservedNode, 'devices'>,
  remotes: readonly Pick<RemoteSettings, 'device' | 'listenPort' | 'keyRotation'>[],
): boolean => {
  const port = devices.find(({ name }) => name === device)?.listenPort;
  return remotes.some((remote) => devicesOf(remote).includes(device) || portsOf(remote).some((each) => each === port));
};

export type OrphansOptions = {
  readonly tools: WireGuardTools;
  readonly local: Pick<LocalNode, 'node' | 'annotate'>;
  readonly remotes: RemoteList<RemoteSettings>;
  /** Has remotes besides; undefined: the config names none. */
  readonly inventory?: Pick<Inventory, 'mayHaveLost'> | undefined;
  readonly log: Logger;
  readonly metrics: Pick<WireGuardMetrics, 'orphans'>;
};

/** Removes what is left of remotes that aren't in the config any more. */
export class Orphans {
  readonly #options: OrphansOptions;
  readonly #failures: FailureLog;
  /** Unmarked devices that were logged. */
  readonly #logged = new Set<string>();
  /** Remotes that the config had while we ran, so what our Node announces to them is ours. */
  readonly #had = new Set<string>();

  constructor(options: OrphansOptions) {
    this.#options = options;
    this.#failures = new FailureLog(options.log);
  }

  /** Observes the node, and removes its orphans. Never rejects. */
  async check({ signal }: RunOptions): Promise<void> {
    const { tools, log } = this.#options;
    try {
      await this.remove(await observeNode(tools, { signal }), { signal });
    } catch (error) {
      if (!signal.aborted) log.debug({ error }, 'node not observed');
    }
  }

  /**
   * Removes our devices among them, and what our Node announces for them, or announced while we ran: a device can be missing, as
   * one whose wireguard-go ended. Reports the others. Frees ports that the config gives to other remotes than before. A failure
   * doesn't stop the rest. What may be of a remote whose profile vanished while we were away stays for a while, unless another
   * remote needs its name or port.
   *
   * @returns whether a device was removed or changed
   */
  async remove(observed: ObservedNode, { signal }: RunOptions): Promise<boolean> {
    const remotes = this.#remotes;
    const { ours, unmarked } = orphansOf(observed, remotes);
    for (const { name } of remotes) this.#had.add(name);
    const present = new Set([...remotes.map(({ name }) => name), ...ours.map(({ remote }) => remote)]);
    let removed = await this.#freePorts(observed, { signal });
    const isHeld = this.#options.inventory?.mayHaveLost === true;
    for (const orphan of isHeld ? ours.filter((each) => isInTheWay(each, observed, remotes)) : ours) {
      const isRemoved = await this.#try(orphan.remote, () => this.#remove(orphan, { signal }), { signal });
      removed ||= isRemoved;
    }
    for (const remote of isHeld ? [] : [...this.#had].filter((name) => !present.has(name)))
      await this.#try(remote, () => this.#forget(remote, { signal }), { signal });
    this.#report(unmarked);
    return removed;
  }

  get #remotes(): readonly RemoteSettings[] {
    return this.#options.remotes.all.map(({ settings }) => settings);
  }

  async #freePorts(observed: ObservedNode, { signal }: RunOptions): Promise<boolean> {
    const { tools } = this.#options;
    const displaced = displacedDevices(observed, this.#remotes);
    for (const { name, device } of displaced)
      try {
        // Port 0 is any free one.
        await tools.changeDevice(device, { listenPort: 0 }, { signal });
      } catch (error) {
        if (!signal.aborted) this.#failures.failed({ key: name, error });
      }
    return displaced.length > 0;
  }

  /** The device goes last: after a restart, only its mark says that annotations have to be removed. */
  async #remove({ device, remote }: Orphan, { signal }: RunOptions): Promise<void> {
    const { tools, log } = this.#options;
    await this.#withdraw(remote, { signal });
    await tools.deleteLink(device, { signal });
    log.info({ cluster: remote, device }, 'orphan device removed');
  }

  async #forget(remote: string, { signal }: RunOptions): Promise<void> {
    if (await this.#withdraw(remote, { signal })) this.#had.delete(remote);
  }

  /**
   * Removes what our Node announces to a remote that the config doesn't have.
   *
   * @returns whether there was nothing
   */
  async #withdraw(remote: string, { signal }: RunOptions): Promise<boolean> {
    const { local, log } = this.#options;
    if (local.node === undefined || this.#remotes.some(({ name }) => name === remote)) return false;
    const patch = annotationPatch(local.node.annotations, { announced: [], withdrawn: [remote] });
    if (patch === undefined) return true;
    await local.annotate(patch, { signal });
    log.info({ cluster: remote, annotations: Object.keys(patch) }, 'annotations of a former remote removed');
    return false;
  }

  /** @returns whether it succeeded */
  async #try(remote: string, remove: () => Promise<void>, { signal }: RunOptions): Promise<boolean> {
    try {
      await remove();
      this.#failures.succeeded(remote);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#failures.failed({ key: remote, error });
      return false;
    }
  }

  #report(unmarked: readonly string[]): void {
    const { local, log, metrics } = this.#options;
    const remotes = this.#remotes;
    for (const device of unmarked.filter((name) => !this.#logged.has(name))) {
      this.#logged.add(device);
      log.warn({ device }, 'device without our mark has no remote in the config; it is not removed');
    }
    const announced = Object.keys(local.node?.annotations ?? {}).map(clusterOfAnnotation);
    const clusters = [...unmarked.map((name) => name.slice(deviceName('').length)), ...announced].filter(
      (cluster) => cluster !== undefined,
    );
    metrics.orphans.reset();
    for (const [cluster, each] of Map.groupBy(clusters, (name) => name)) {
      if (!remotes.some(({ name }) => name === cluster)) metrics.orphans.set({ cluster }, each.length);
    }
  }
}
