import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type AppStatus, localServiceRanges, remoteBudget, RemoteState } from '@kube-semaphore/multicluster';
import type { Cidr } from '@kube-semaphore/net';
import type { Settings } from '../../config/settings.ts';
import type { SetDiagnostic } from '../desired/diagnostic.ts';
import type { WantedPair } from '../desired/sets.ts';
import { Remote, type RemoteOptions } from './remote.ts';
import type { PeersInput } from '../../companions/remote/peers.ts';

export type RemotesOptions = Omit<RemoteOptions, 'settings' | 'client' | 'addresses' | 'state' | 'budget'> & {
  readonly settings: Settings;
  /** A client of the local cluster. */
  readonly local: KubeClient;
  /** In the order of `settings.remotes`. */
  readonly remotes: readonly KubeClient[];
};

/** The remote clusters: none until `run` opens them, since the local sets decide what to watch of each. */
export class Remotes {
  readonly #options: RemotesOptions;
  readonly #parts: readonly Pick<RemoteOptions, 'settings' | 'client' | 'state' | 'budget'>[];
  #serviceRanges: readonly Cidr[] = [];
  #all: readonly Remote[] = [];

  constructor(options: RemotesOptions) {
    this.#options = options;
    const { settings, remotes: clients, metrics, log } = options;
    this.#parts = settings.remotes.map((remote, i) => ({
      settings: remote,
      client: clients[i]!,
      state: new RemoteState({
        cluster: remote.name,
        client: clients[i]!,
        metrics,
        log,
        holdMs: options.options.deletionGuardHoldMs,
        onFirstSync: () => undefined,
      }),
      budget: remoteBudget(options.options),
    }));
  }

  get all(): readonly Remote[] {
    return this.#all;
  }

  /** The pairs of a key by remote, of those whose Pods are known well enough to change or delete their sets. */
  pairs(key: string): ReadonlyMap<string, readonly WantedPair[]> {
    return new Map(this.#all.filter((remote) => remote.isKnown()).map((remote) => [remote.cluster, remote.pairs(key)]));
  }

  /** What `/status` says of each, also before they are watched. */
  status(): AppStatus['remotes'] {
    return this.#parts.map(({ settings, state }) => {
      const { name, clusterSetId: clusterSetID, labels, allowedPodCidrs } = settings;
      const remote = this.#all.find(({ cluster }) => cluster === name);
      const config = { clusterSetID, labels, allowedPodCIDRs: allowedPodCidrs?.map(({ text }) => text) ?? null };
      return { ...state.status(remote?.synced === true ? remote.objects() : null), config };
    });
  }

  /** The keys that they have Pods for. */
  keys(): readonly string[] {
    return this.#all.flatMap((remote) => remote.keys());
  }

  /** Reads the Service ranges of the local cluster. @throws the signal's reason when that is aborted */
  async prepare({ signal }: RunOptions): Promise<void> {
    const { local, log } = this.#options;
    this.#serviceRanges = await localServiceRanges(local, { signal, log });
  }

  /** What every watch of a remote needs. The Service ranges are read. */
  inputs(): readonly Omit<PeersInput, 'options'>[] {
    const local = { local: this.#options.settings.localCidrs, services: this.#serviceRanges };
    return this.#parts.map((part) => ({ ...part, addresses: { allowed: part.settings.allowedPodCidrs, ...local } }));
  }

  /**
   * Opens and watches them until `signal` is aborted. The local sets are listed.
   *
   * @throws {ConfigError} when the local sets of a remote have more than one identity, and no flag chooses one
   */
  run(running: RunOptions): readonly Promise<void>[] {
    this.#all = this.inputs().map((input) => new Remote({ ...this.#options, ...input }));
    return this.#all.map((remote) => remote.run(running));
  }

  /** Chooses the labels of their sets, where that is still open. */
  settle(): void {
    for (const remote of this.#all) remote.settle();
  }

  /** Replaces what is known about the sets of a key. */
  report(key: string, diagnostics: readonly SetDiagnostic[]): void {
    for (const remote of this.#all) remote.report(key, diagnostics);
  }

  /** Replaces what is known about sets of v0.1.0. */
  reportFirstRelease(): void {
    for (const remote of this.#all) remote.reportFirstRelease();
  }
}
