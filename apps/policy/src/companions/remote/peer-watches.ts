import { once } from 'node:events';
import type { RunOptions } from '@kube-semaphore/kube-client';
import {
  type CrossClusterRule,
  namesCluster,
  type RemotePeer,
  type RemoteView,
  requirementsOn,
  uniqueLabels,
} from '@kube-semaphore/network-policies';
import { type PeersInput, RemotePeers, unknownView } from './peers.ts';

export type PeerWatchesOptions = {
  readonly remotes: readonly PeersInput[];
  /** What companions grant to a remote now. */
  readonly grantedTo: (remote: string) => Iterable<string>;
  /** The companions of these sources may have to change. */
  readonly onChange: (sources: Iterable<string>) => void;
  /** So many sources name a remote now. */
  readonly onCount: (remote: string, sources: number) => void;
};

/** A remote that no policy names is still watched for so long, as policies come and go with deployments. */
const LINGER_MS = 3_600_000;

type Watched = {
  readonly input: PeersInput;
  /** The sources that name it, each with the rules that do. */
  readonly sources: Map<string, readonly CrossClusterRule[]>;
  peers: RemotePeers | undefined;
  lingering: NodeJS.Timeout | undefined;
};

/** Watches the Pods and Namespaces of the remotes that NetworkPolicies name, and of no other. */
export class PeerWatches {
  readonly #options: PeerWatchesOptions;
  readonly #remotes: readonly Watched[];
  readonly #loops = new Set<Promise<void>>();
  readonly #failed = Promise.withResolvers<never>();
  #running: RunOptions | undefined;

  constructor(options: PeerWatchesOptions) {
    this.#options = options;
    this.#remotes = options.remotes.map((input) => ({
      input,
      sources: new Map(),
      peers: undefined,
      lingering: undefined,
    }));
  }

  /** Those that are watched. */
  get all(): readonly RemotePeers[] {
    return this.#remotes.flatMap(({ peers }) => peers ?? []);
  }

  /** The remotes that a source names, with what is known of each. */
  viewsOf(source: string): readonly { readonly view: RemoteView; readonly rules: readonly CrossClusterRule[] }[] {
    return this.#remotes.flatMap(({ input, sources, peers }) => {
      const rules = sources.get(source);
      return rules === undefined ? [] : [{ view: peers?.view() ?? unknownView(input), rules }];
    });
  }

  /** A source has these rules; none: it is gone, or names no other cluster any more. */
  setSource(source: string, rules: readonly CrossClusterRule[]): void {
    for (const watched of this.#remotes) {
      const { clusterSetId, labels } = watched.input.settings;
      const { clusterSetKey } = watched.input.options;
      const isNaming = (peer: RemotePeer): boolean => namesCluster(peer, clusterSetKey, clusterSetId, labels);
      const naming = rules.filter(({ peers }) => peers.some(isNaming));
      if (naming.length > 0) watched.sources.set(source, naming);
      else if (!watched.sources.delete(source)) continue;
      this.#options.onCount(watched.input.settings.name, watched.sources.size);
      watched.peers?.setSource(source, naming);
      this.#adjust(watched, naming);
    }
  }

  /** Watches until `signal` is aborted. */
  async run(running: RunOptions): Promise<void> {
    const { signal } = running;
    this.#running = running;
    for (const watched of this.#remotes) this.#adjust(watched, []);
    if (!signal.aborted) await Promise.race([once(signal, 'abort'), this.#failed.promise]);
    for (const { lingering } of this.#remotes) clearTimeout(lingering);
    await Promise.all(this.#loops);
  }

  /** Opens or closes a remote. @param rules new ones */
  #adjust(watched: Watched, rules: readonly CrossClusterRule[]): void {
    if (this.#running === undefined || this.#running.signal.aborted) return;
    if (watched.sources.size === 0) {
      if (watched.peers !== undefined) watched.lingering ??= setTimeout(() => this.#close(watched), LINGER_MS).unref();
      return;
    }
    clearTimeout(watched.lingering);
    watched.lingering = undefined;
    // Without a label that a selector names, an expression such as DoesNotExist would select too many Pods.
    const kept = watched.peers?.selectorKeys;
    if (kept !== undefined && uniqueLabelsIn([rules]).some((key) => !kept.has(key))) this.#close(watched);
    if (watched.peers === undefined) this.#open(watched);
  }

  #open(watched: Watched): void {
    const { grantedTo, onChange } = this.#options;
    const peers = new RemotePeers({
      ...watched.input,
      selectorKeys: new Set(uniqueLabelsIn(watched.sources.values())),
      granted: grantedTo(watched.input.settings.name),
      onChange: (sources) => {
        if (watched.peers === peers) onChange(sources);
      },
      onKnown: () => {
        if (watched.peers === peers) onChange(watched.sources.keys());
      },
    });
    watched.peers = peers;
    for (const [source, rules] of watched.sources) peers.setSource(source, rules);
    const loop = peers.run(this.#running!);
    this.#loops.add(loop);
    loop.then(() => this.#loops.delete(loop), this.#failed.reject);
  }

  #close(watched: Watched): void {
    watched.peers?.end();
    watched.peers = undefined;
    watched.lingering = undefined;
  }
}

/** Labels that one Pod alone has, and that a podSelector of these rules names. */
function uniqueLabelsIn(rules: Iterable<readonly CrossClusterRule[]>): readonly string[] {
  const selectors = [...rules].flat().flatMap(({ peers }) => peers.map(({ podSelector }) => podSelector));
  return uniqueLabels.filter((key) => selectors.some((selector) => requirementsOn(key, selector).length > 0));
}
