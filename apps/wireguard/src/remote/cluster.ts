import { setTimeout as delay } from 'node:timers/promises';
import {
  type Diagnostic,
  POLL_INTERVAL_MS,
  remoteBudget,
  RemoteState,
  DiagnosticRegister,
} from '@kube-semaphore/multicluster';
import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { Device } from '@kube-semaphore/wireguard-tools';
import { desiredPeers } from '../desired/peers.ts';
import { seedOf } from './seed.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import type { NodeDiagnostic } from '../desired/diagnostic.ts';
import type { WireGuardOptions } from '../config/options.ts';
import { RemoteBlocks } from './blocks.ts';
import type { NodeRules } from './node.ts';
import { RemoteNodes } from './nodes.ts';
import type { RemoteSettings } from '../config/settings.ts';

export type RemoteOptions = {
  readonly settings: RemoteSettings;
  readonly client: KubeClient;
  readonly options: WireGuardOptions;
  /** By which its Nodes are read now. */
  readonly rules: () => NodeRules;
  readonly log: Logger;
  readonly metrics: WireGuardMetrics;
  /** Its device may have to change. */
  readonly onChange: () => void;
};

/** One remote cluster: its Nodes, what is left out of them, and whether they are known. */
export class Remote {
  readonly settings: RemoteSettings;
  readonly #options: RemoteOptions;
  readonly #state: RemoteState;
  readonly #deviceDiagnostics: DiagnosticRegister;
  readonly #nodes: RemoteNodes;
  readonly #blocks: RemoteBlocks | undefined;
  readonly #firstSync = Promise.withResolvers<void>();
  #peerSubjects: ReadonlySet<string> = new Set();

  constructor(remote: RemoteOptions) {
    const { settings, client, options, metrics } = remote;
    const cluster = settings.name;
    this.#options = remote;
    this.settings = settings;
    this.#state = new RemoteState({
      cluster,
      metrics,
      log: remote.log,
      holdMs: options.deletionGuardHoldMs,
      onFirstSync: this.#firstSync.resolve,
    });
    this.#deviceDiagnostics = new DiagnosticRegister({
      onCount: (labels, count) => metrics.skippedObjects.set({ remote: cluster, ...labels }, count),
      onNew: (device, { reason, detail }) =>
        this.#state.log.warn({ cluster, device, reason, detail }, 'the device is not all that it should be'),
    });
    const watching = {
      client,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      budget: remoteBudget(options),
      guard: { percent: options.deletionGuardPercent, min: options.deletionGuardMin },
      holdMs: options.deletionGuardHoldMs,
      hooks: () => this.#hooks(this.#state.watches.hooks()),
      onChange: () => this.#changed(),
    };
    this.#nodes = new RemoteNodes({
      ...watching,
      rules: remote.rules,
      onSkipped: (node, skipped) => this.#state.skips.replace(`node ${node}`, skipped),
    });
    this.#blocks = settings.allowedIpsFrom === 'calico-blocks' ? new RemoteBlocks(watching) : undefined;
  }

  get cluster(): string {
    return this.settings.name;
  }

  /** Whether everything that its peers are made of was listed. */
  get synced(): boolean {
    return this.#nodes.synced && this.#blocks?.synced !== false;
  }

  /** Resolves when that is so. */
  get firstSync(): Promise<void> {
    return this.#firstSync.promise;
  }

  /** Why it isn't reached, in words; as of `ClusterWatches`. */
  get failure(): string | undefined {
    return this.#state.watches.failure;
  }

  /** How many objects a list lacked that isn't believed yet. */
  get held(): number {
    return this.#nodes.held + (this.#blocks?.held ?? 0);
  }

  /** Milliseconds since its most silent watch last stirred. */
  get silentMs(): number {
    return Math.max(this.#nodes.silentMs, this.#blocks?.silentMs ?? 0);
  }

  /** What is left out now, by Node. */
  get skipped(): readonly NodeDiagnostic[] {
    return this.#state.skips
      .all()
      .map(({ subject, ...skipped }) => ({ node: subject.slice(subject.indexOf(' ') + 1), ...skipped }));
  }

  /**
   * The peers that its device should have; undefined as long as its Nodes aren't known.
   *
   * @param ownKeys our own public keys
   */
  peers(ownKeys: ReadonlySet<string>): ReturnType<typeof desiredPeers> | undefined {
    const nodes = this.#nodes.candidates();
    const calicoClaims = this.#blocks?.claims(this.settings.podSubnets);
    if (nodes === undefined || (this.#blocks !== undefined && calicoClaims === undefined)) return undefined;
    return desiredPeers(nodes, { ownKeys, calicoClaims });
  }

  /** Replaces what is known of its peers, and of its device. */
  setDiagnostics(peers: readonly NodeDiagnostic[], device: readonly Diagnostic[]): void {
    const byNode = Map.groupBy(peers, ({ node }) => `peer ${node}`);
    for (const subject of this.#peerSubjects) if (!byNode.has(subject)) this.#state.skips.replace(subject, []);
    for (const [subject, skipped] of byNode) this.#state.skips.replace(subject, skipped);
    this.#peerSubjects = new Set(byNode.keys());
    this.#deviceDiagnostics.replace(this.settings.device, device);
  }

  /** Measures the first list against the peers that its device has at the start. */
  seed(device: Pick<Device, 'peers'>): void {
    if (this.#options.options.deletionGuardPercent < 100) this.#nodes.seed(seedOf(device, this.settings.podSubnets));
  }

  /** Reads all of its Nodes anew: the rules have changed. */
  reread(): void {
    this.#nodes.reread();
  }

  /** Watches until `signal` is aborted; once. @param delayMs how long to wait before */
  async run({ signal, delayMs = 0 }: RunOptions & { readonly delayMs?: number }): Promise<void> {
    if (delayMs > 0) await delay(delayMs, undefined, { signal }).catch(() => undefined); // an abort, which the watches see next
    await Promise.all([this.#nodes.run({ signal }), this.#blocks?.run({ signal })]);
  }

  #hooks(hooks: ReflectorHooks): ReflectorHooks {
    const { metrics, settings } = this.#options;
    return {
      ...hooks,
      onSynced: () => {
        hooks.onSynced?.();
        this.#listed();
      },
      onRestart: (restart) => {
        if (restart.error !== undefined)
          metrics.nodeWatcherFailures.inc({ cluster: settings.name, verb: restart.verb });
        hooks.onRestart?.(restart);
      },
    };
  }

  #listed(): void {
    if (!this.synced) return;
    this.#state.listed('remote nodes listed', { nodes: this.#nodes.size - this.#nodes.held }, this.held);
    this.#changed();
  }

  #changed(): void {
    this.#state.setHeld(this.synced ? this.held : undefined);
    this.#options.onChange();
  }
}
