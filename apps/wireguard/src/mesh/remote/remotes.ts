import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { Device } from '@kube-semaphore/wireguard-tools';
import type { LocalNode } from '../../own-node/local-node.ts';
import type { WireGuardMetrics } from '../../metrics/metrics.ts';
import type { WireGuardOptions } from '../../config/options.ts';
import { Remote } from './remote.ts';
import type { NodeRules } from './node.ts';
import { restartDelayMs } from './restart-delay.ts';
import type { RemoteSettings } from '../../config/settings.ts';

export type RemotesOptions = {
  readonly remotes: readonly RemoteSettings[];
  /** In the order of `remotes`. */
  readonly remoteClients: readonly KubeClient[];
  /** The local cluster's name, which annotations are for. */
  readonly localName: string;
  readonly options: WireGuardOptions;
  readonly local: Pick<LocalNode, 'node'>;
  readonly log: Logger;
  readonly metrics: WireGuardMetrics;
  /** The device of this remote may have to change. */
  readonly onChange: (remote: string) => void;
};

/** All remote clusters, in the order of the config. */
export class Remotes {
  readonly #options: RemotesOptions;
  readonly all: readonly Remote[];
  /** Our own addresses when the remotes' Nodes were last read; undefined before they are watched. */
  #readWith: string | undefined;

  constructor(input: RemotesOptions) {
    const { options, log, metrics, remoteClients, onChange } = input;
    this.#options = input;
    this.all = input.remotes.map(
      (settings, i) =>
        new Remote({
          settings,
          client: remoteClients[i]!,
          options,
          rules: () => this.#rules(settings),
          log,
          metrics,
          onChange: () => onChange(settings.name),
        }),
    );
  }

  /** @throws {Error} if the config has no such remote */
  get(name: string): Remote {
    const remote = this.all.find(({ cluster }) => cluster === name);
    if (remote === undefined) throw new Error(`there is no remote ${name}`);
    return remote;
  }

  /**
   * Watches all of them until `signal` is aborted; once.
   *
   * @param devices of the node; the first lists are measured against their peers
   * @param isRestart the agents of other nodes probably start at this time, too
   */
  run(
    devices: readonly Device[],
    { signal, isRestart }: RunOptions & { readonly isRestart: boolean },
  ): readonly Promise<void>[] {
    this.#readWith = this.#ownIps();
    return this.all.map((remote) => {
      const device = devices.find(({ name }) => name === remote.settings.device);
      if (device !== undefined) remote.seed(device);
      return remote.run({ signal, delayMs: restartDelayMs(device, { isRestart }) });
    });
  }

  /** Our own Node changed. A remote's Node that announces one of our addresses is refused, so all are read again. */
  localChanged(): void {
    if (this.#readWith === undefined || this.#readWith === this.#ownIps()) return;
    this.#readWith = this.#ownIps();
    for (const remote of this.all) remote.reread();
  }

  #ownIps(): string {
    return this.#options.local.node?.internalIps.join(' ') ?? '';
  }

  #rules({ podSubnets, allowedIpsFrom, allowedEndpoints }: RemoteSettings): NodeRules {
    const { remotes, localName, local } = this.#options;
    const ownIps = new Set(local.node?.internalIps);
    const endpoints = { podSubnets: remotes.flatMap((remote) => remote.podSubnets), allowedEndpoints, ownIps };
    return { local: localName, podSubnets, allowedIpsFrom, endpoints };
  }
}
