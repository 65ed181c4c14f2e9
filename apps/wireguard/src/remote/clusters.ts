import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { Device } from '@kube-semaphore/wireguard-tools';
import type { LocalNode } from '../local/node.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import type { WireGuardOptions } from '../config/options.ts';
import { Remote } from './cluster.ts';
import type { NodeRules } from './node.ts';
import { restartDelayMs } from './restart-delay.ts';
import type { RemoteSettings, Settings } from '../config/settings.ts';

export type RemotesOptions = {
  readonly settings: Settings;
  /** In the order of `settings.remotes`. */
  readonly clients: readonly KubeClient[];
  readonly options: WireGuardOptions;
  readonly local: Pick<LocalNode, 'node'>;
  readonly log: Logger;
  readonly metrics: WireGuardMetrics;
  /** The device of this remote may have to change. */
  readonly onChange: (remote: string) => void;
};

/** All remote clusters, by name, in the order of the config. */
export class Remotes {
  readonly #options: RemotesOptions;
  readonly #byName: ReadonlyMap<string, Remote>;
  /** Our own addresses, as the remotes' Nodes were read by them. */
  #readWith = '';

  constructor(remotes: RemotesOptions) {
    const { settings, clients, options, log, metrics, onChange } = remotes;
    this.#options = remotes;
    this.#byName = new Map(
      settings.remotes.map((remote, i) => [
        remote.name,
        new Remote({
          settings: remote,
          client: clients[i]!,
          options,
          rules: () => this.#rules(remote),
          log,
          metrics,
          onChange: () => onChange(remote.name),
        }),
      ]),
    );
  }

  get(name: string): Remote | undefined {
    return this.#byName.get(name);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get all(): readonly Remote[] {
    return [...this.#byName.values()];
  }

  /** Resolves when the first lists of all of them are complete. */
  async firstSync(): Promise<void> {
    await Promise.all(this.all.map(({ firstSync }) => firstSync));
  }

  /**
   * Watches all of them until `signal` is aborted; once.
   *
   * @param devices of the node, whose peers the first lists are measured by
   * @param isRestart others start at this time, too
   */
  run(
    devices: readonly Device[],
    { signal, isRestart }: RunOptions & { readonly isRestart: boolean },
  ): readonly Promise<void>[] {
    this.#readWith = this.#ownIps();
    return this.all.map((remote) => {
      const device = devices.find(({ name }) => name === remote.settings.device);
      if (device !== undefined) remote.remember(device);
      return remote.run({ signal, delayMs: restartDelayMs(device, { isRestart }) });
    });
  }

  /** Our own Node is another now: endpoints that are our own are refused when a remote's Node is read. */
  localChanged(): void {
    if (this.#readWith === this.#ownIps()) return;
    this.#readWith = this.#ownIps();
    for (const remote of this.all) remote.reread();
  }

  #ownIps(): string {
    return this.#options.local.node?.internalIps.join(' ') ?? '';
  }

  #rules({ podSubnets, allowedIpsFrom, allowedEndpoints }: RemoteSettings): NodeRules {
    const { settings, local } = this.#options;
    const ownIps = new Set(local.node?.internalIps);
    const endpoints = { podSubnets: settings.remotes.flatMap((remote) => remote.podSubnets), allowedEndpoints, ownIps };
    return { local: settings.local.name, podSubnets, allowedIpsFrom, endpoints };
  }
}
