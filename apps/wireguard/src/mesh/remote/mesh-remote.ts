import { setTimeout as delay } from 'node:timers/promises';
import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import {
  type Diagnostic,
  DiagnosticRegister,
  type Remote,
  remoteBudget,
  type RemoteState,
  type RemoteStatus,
} from '@kube-semaphore/multicluster';
import { type Cidr, contains } from '@kube-semaphore/net';
import type { Device } from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../../config/options.ts';
import type { RemoteSettings } from '../../config/settings.ts';
import type { NodeDiagnostic } from '../desired/diagnostic.ts';
import { parseEndpoint } from '../desired/endpoint.ts';
import { type DesiredPeer, DesiredPeers, type PeersAndSkipped } from '../desired/peers.ts';
import type { WireGuardMetrics } from '../../metrics/metrics.ts';
import { RemoteBlocks } from './blocks.ts';
import type { NodeRules } from './node.ts';
import { type RemoteNodes, watchNodes } from './nodes.ts';
import { seedOf } from './seed.ts';
import type { Watch } from './watch.ts';

export type MeshRemoteOptions = {
  readonly remote: Remote<RemoteSettings>;
  readonly options: WireGuardOptions;
  /** By which its Nodes are read now. */
  readonly rules: () => NodeRules;
  readonly metrics: WireGuardMetrics;
  /** Its device may have to change. */
  readonly onChange: () => void;
};

/** Nodes whose peers may have changed, and all peers that these should have now. */
export type PeerUpdate = { readonly nodes: readonly string[]; readonly peers: readonly DesiredPeer[] };

/** What a remote has that peers are made of, and what is skipped. */
export class MeshRemote {
  #settings: RemoteSettings;
  readonly #options: MeshRemoteOptions;
  readonly #state: RemoteState;
  readonly #deviceDiagnostics: DiagnosticRegister;
  readonly #nodes: RemoteNodes;
  readonly #desired: DesiredPeers;
  /** Nodes that changed since `#desired` took over changes. */
  readonly #changedNodes = new Set<string>();
  /** Nodes whose peers may have changed since `takeUpdate`. */
  readonly #updated = new Set<string>();
  readonly #watches: readonly Watch[];

  constructor(mesh: MeshRemoteOptions) {
    const { remote, options, metrics, rules } = mesh;
    const { settings, client, state } = remote;
    const { name: cluster } = settings;
    const { watchIdleTimeoutMs: idleTimeoutMs, deletionGuardHoldMs: holdMs } = options;
    this.#options = mesh;
    this.#settings = settings;
    this.#state = state;
    this.#deviceDiagnostics = new DiagnosticRegister({
      onCount: (labels, count) => metrics.skippedObjects.set({ remote: cluster, ...labels }, count),
      onNew: (device, { reason, detail }) =>
        this.#state.log.warn({ cluster, device, reason, detail }, 'device does not work as it should'),
    });
    const watching = {
      client,
      idleTimeoutMs,
      budget: remoteBudget(options),
      guard: { percent: options.deletionGuardPercent, min: options.deletionGuardMin },
      holdMs,
      hooks: () => this.#hooks(this.#state.watches.hooks()),
      onChange: (node: string) => {
        this.#changedNodes.add(node);
        this.#changed();
      },
    };
    const onSkipped = (node: string, skipped: readonly Diagnostic[]) =>
      this.#state.skipped.replace(`node ${node}`, skipped);
    this.#nodes = watchNodes(watching, { rules, onSkipped });
    const isCalicos = settings.allowedIpsFrom === 'calico-blocks';
    const blocks = isCalicos ? new RemoteBlocks(watching, settings.podSubnets) : undefined;
    this.#desired = new DesiredPeers(blocks?.claims);
    this.#watches = [this.#nodes, ...(blocks?.watches ?? [])];
  }

  get cluster(): string {
    return this.settings.name;
  }

  /** As in the file, but for an MTU that was measured. */
  get settings(): RemoteSettings {
    return this.#settings;
  }

  /** Its device gets this MTU. @returns whether it is another one */
  setMtu(mtuBytes: number): boolean {
    if (this.#settings.mtuBytes === mtuBytes) return false;
    this.#settings = { ...this.#settings, mtuBytes };
    return true;
  }

  /** Whether everything that its peers are made of was listed. */
  get synced(): boolean {
    return this.#watches.every(({ synced }) => synced);
  }

  /** Resolves when it is synced. */
  get firstSync(): Promise<void> {
    return this.#state.watches.firstSync;
  }

  /** Why it is not reached, in words; as of `ClusterWatches`. */
  get failure(): string | undefined {
    return this.#state.watches.failure;
  }

  /** How many objects are held. */
  get held(): number {
    return this.#watches.reduce((sum, { held }) => sum + held, 0);
  }

  /** What `/status` says of it, except for its device. */
  status(): RemoteStatus {
    const status = this.#state.status(this.synced ? { nodes: this.#nodes.size - this.#nodes.held } : null);
    return { ...status, skipped: [...status.skipped, ...this.#deviceDiagnostics.counts()] };
  }

  /** Milliseconds since the last activity of its most silent watch. */
  get silentMs(): number {
    return Math.max(...this.#watches.map(({ silentMs }) => silentMs));
  }

  /** What is skipped now, by Node. */
  get skipped(): readonly NodeDiagnostic[] {
    return this.#state.skipped
      .all()
      .map(({ subject, ...skipped }) => ({ node: subject.slice(subject.indexOf(' ') + 1), ...skipped }));
  }

  /**
   * The peers that its device should have; undefined before it is synced.
   *
   * @param ownKeys our own public keys
   */
  peers(ownKeys: ReadonlySet<string>): PeersAndSkipped | undefined {
    return this.#settle(ownKeys) ? this.#desired.all() : undefined;
  }

  /**
   * What may have changed since the last call; undefined before it is synced. Shows in log and metrics what of these Nodes is
   * skipped.
   *
   * @param ownKeys our own public keys
   */
  takeUpdate(ownKeys: ReadonlySet<string>): PeerUpdate | undefined {
    if (!this.#settle(ownKeys)) return undefined;
    const nodes = [...this.#updated];
    this.#updated.clear();
    for (const node of nodes) this.#state.skipped.replace(`peer ${node}`, this.#desired.skipped(node));
    return { nodes, peers: nodes.flatMap((node) => this.#desired.peer(node) ?? []) };
  }

  /** Replaces the diagnostics of its device. */
  setDeviceDiagnostics(diagnostics: readonly Diagnostic[]): void {
    this.#deviceDiagnostics.replace(this.settings.device, diagnostics);
  }

  /** Has the first list measured against the peers of its device. */
  seed(device: Pick<Device, 'peers'>): void {
    if (this.#options.options.deletionGuardPercent === 100) return;
    for (const node of seedOf(device, this.settings.podSubnets))
      this.#nodes.seed(node.name, { uid: node.uid, node, skipped: [] });
  }

  /** Whether a Node may be read otherwise when these pod subnets of any remote come or go. */
  dependsOn(podSubnets: readonly Cidr[]): boolean {
    if (podSubnets.length === 0) return false;
    const isIn = (endpoint: string): boolean => {
      const parsed = parseEndpoint(endpoint);
      return parsed.ok && podSubnets.some((cidr) => contains(cidr, parsed.value.ip));
    };
    return (
      !this.#nodes.synced ||
      this.#nodes
        .values()
        .some(
          ({ node, skipped }) =>
            (node?.endpoint !== undefined && isIn(node.endpoint)) ||
            skipped.some(({ reason }) => reason === 'refused-endpoint'),
        )
    );
  }

  /** Reads all of its Nodes again, as the rules have changed. */
  reread(): void {
    this.#nodes.relist();
  }

  /** Watches until `signal` is aborted; once. @param delayMs how long to wait before */
  async run({ signal, delayMs }: RunOptions & { readonly delayMs: number }): Promise<void> {
    if (delayMs > 0) await delay(delayMs, undefined, { signal }).catch(() => undefined); // an abort, which ends the watches, too
    await Promise.all(this.#watches.map((watch) => watch.run({ signal })));
  }

  /** Takes over what changed. @returns false before it is synced */
  #settle(ownKeys: ReadonlySet<string>): boolean {
    const { objects } = this.#nodes;
    if (!this.synced || objects === undefined) return false;
    const changes = new Map([...this.#changedNodes].map((name) => [name, objects.get(name)?.node]));
    this.#changedNodes.clear();
    for (const node of this.#desired.update(changes, ownKeys)) this.#updated.add(node);
    return true;
  }

  #hooks(hooks: ReflectorHooks): ReflectorHooks {
    const { metrics } = this.#options;
    return {
      ...hooks,
      onSynced: () => {
        hooks.onSynced?.();
        this.#listed();
      },
      onRestart: (restart) => {
        if (restart.error !== undefined) metrics.nodeWatcherFailures.inc({ cluster: this.cluster, verb: restart.verb });
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
