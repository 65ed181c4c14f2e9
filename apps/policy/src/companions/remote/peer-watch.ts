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
import type { PolicyMetrics } from '../../metrics.ts';
import { type PeersInput, RemotePeers, unknownView } from './peers.ts';

export type PeerWatchOptions = PeersInput & {
  /** What companions grant to the remote now. */
  readonly granted: () => Iterable<string>;
  /** The companions of these sources may have to change. */
  readonly enqueue: (sources: Iterable<string>) => void;
  readonly metrics: { readonly extendedPolicies: Pick<PolicyMetrics['extendedPolicies'], 'set'> };
};

/** A remote that no policy names is still watched for so long, as policies come and go with deployments. */
const LINGER_MS = 3_600_000;

/** Watches the Pods and Namespaces of a remote while NetworkPolicies name it. */
export class PeerWatch {
  readonly #options: PeerWatchOptions;
  /** The sources that name the remote, each with the rules that do. */
  readonly #sources = new Map<string, readonly CrossClusterRule[]>();
  #peers: RemotePeers | undefined;
  #lingering: NodeJS.Timeout | undefined;
  readonly #loops = new Set<Promise<void>>();
  readonly #failed = Promise.withResolvers<never>();
  #running: RunOptions | undefined;

  constructor(options: PeerWatchOptions) {
    this.#options = options;
  }

  /** What is known of the remote; undefined while it isn't watched. */
  get peers(): RemotePeers | undefined {
    return this.#peers;
  }

  /** What is known of the remote for a source; undefined if that doesn't name it. */
  viewOf(source: string): { readonly view: RemoteView; readonly rules: readonly CrossClusterRule[] } | undefined {
    const rules = this.#sources.get(source);
    return rules && { view: this.#peers?.view(source) ?? unknownView(this.#options), rules };
  }

  /** Has everything computed again. */
  forget(): void {
    this.#peers?.forget();
  }

  /** A source has these rules; none: it is gone, or names no other cluster any more. */
  setSource(source: string, rules: readonly CrossClusterRule[]): void {
    const { settings, options, metrics } = this.#options;
    const { name, clusterSetId, labels } = settings;
    const isNaming = (peer: RemotePeer): boolean => namesCluster(peer, options.clusterSetKey, clusterSetId, labels);
    const naming = rules.filter(({ peers }) => peers.some(isNaming));
    if (naming.length > 0) this.#sources.set(source, naming);
    else if (!this.#sources.delete(source)) return;
    metrics.extendedPolicies.set({ remote: name }, this.#sources.size);
    this.#peers?.setSource(source, naming);
    this.#adjust(naming);
  }

  /** Watches until `signal` is aborted. */
  async run(running: RunOptions): Promise<void> {
    const { signal } = running;
    this.#running = running;
    this.#adjust([]);
    if (!signal.aborted) await Promise.race([once(signal, 'abort'), this.#failed.promise]);
    clearTimeout(this.#lingering);
    await Promise.all(this.#loops);
  }

  /** Opens or closes the watch. @param rules new ones */
  #adjust(rules: readonly CrossClusterRule[]): void {
    if (this.#running === undefined || this.#running.signal.aborted) return;
    if (this.#sources.size === 0) {
      if (this.#peers !== undefined) this.#lingering ??= setTimeout(() => this.#close(), LINGER_MS).unref();
      return;
    }
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    // Without a label that a selector names, an expression such as DoesNotExist would select too many Pods.
    const kept = this.#peers?.selectorKeys;
    if (kept !== undefined && uniqueLabelsIn([rules]).some((key) => !kept.has(key))) this.#close();
    if (this.#peers === undefined) this.#open(this.#running);
  }

  #open(running: RunOptions): void {
    const { granted, enqueue } = this.#options;
    const peers = new RemotePeers({
      ...this.#options,
      selectorKeys: new Set(uniqueLabelsIn(this.#sources.values())),
      granted: granted(),
      enqueue: (sources = this.#sources.keys()) => {
        if (this.#peers === peers) enqueue(sources);
      },
    });
    this.#peers = peers;
    for (const [source, rules] of this.#sources) peers.setSource(source, rules);
    const loop = peers.run(running);
    this.#loops.add(loop);
    loop.then(() => this.#loops.delete(loop), this.#failed.reject);
  }

  #close(): void {
    this.#peers?.end();
    this.#peers = undefined;
    this.#lingering = undefined;
  }
}

/** Labels that one Pod alone has, and that a podSelector of these rules names. */
function uniqueLabelsIn(rules: Iterable<readonly CrossClusterRule[]>): readonly string[] {
  const selectors = [...rules].flat().flatMap(({ peers }) => peers.map(({ podSelector }) => podSelector));
  return uniqueLabels.filter((key) => selectors.some((selector) => requirementsOn(key, selector).length > 0));
}
