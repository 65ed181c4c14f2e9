import {
  type AppStatus,
  everyPeriod,
  foreseeRefusals,
  type Inventory,
  Leader,
  LocalWrites,
  type Remote,
  type RemoteChanges,
  type Remotes,
  Runner,
} from '@kube-semaphore/multicluster';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import type { Health, Logger } from '@kube-semaphore/runtime';
import type { MirrorOptions } from './config/options.ts';
import { orderTexts } from './config/cluster-order.ts';
import type { RemoteSettings, Settings } from './config/settings.ts';
import type { Drain } from './endpoints/desired/routing/drains.ts';
import { LocalDrains } from './endpoints/local/drains.ts';
import { LocalTunnels, type TunnelsStatus } from './endpoints/local/tunnels.ts';
import { ClusterPropertyObjects } from './endpoints/remote/cluster-properties.ts';
import { type Answering, type OrderedService, ordersReport, type OrdersReport } from './endpoints/routing-states.ts';
import { MultiClusterServices } from './imports/multi-cluster-services.ts';
import { LocalCounts } from './metrics/local-counts.ts';
import type { MirrorMetrics } from './metrics/metrics.ts';
import { QueueMetrics } from './metrics/queue.ts';
import { GLOBAL } from './names.ts';
import type { Plan } from './plan.ts';
import type { ResolvedName } from './services/local/resolve-names.ts';
import { LocalZones } from './services/local/zones.ts';
import { Mirrors } from './services/mirrors.ts';

export type ServiceMirrorInput = {
  readonly options: MirrorOptions;
  readonly settings: Settings;
  readonly local: KubeClient;
  readonly remotes: Remotes<RemoteSettings>;
  /** Has remotes besides; undefined: the config names none. */
  readonly inventory?: Inventory | undefined;
  readonly log: Logger;
  readonly metrics: MirrorMetrics;
  /** Whether this replica may write. */
  readonly leadership: Leadership;
};

/** How often to update the metrics that no event updates. */
const SAMPLE_MS = 5_000;

/** The whole app: mirrors and global Services, and with `mcs` in the config, Multi-Cluster Services. */
export class ServiceMirror {
  readonly #input: ServiceMirrorInput;
  readonly #leader: Leader;
  readonly #queueMetrics: QueueMetrics;
  readonly #counts: LocalCounts;
  readonly #writes: LocalWrites;
  readonly #mirrors: Mirrors;
  /** Undefined without `mcs` in the config. */
  readonly #mcs: MultiClusterServices | undefined;
  readonly #properties: ClusterPropertyObjects;
  readonly #drains: LocalDrains;
  readonly #tunnels: LocalTunnels;
  readonly #runner: Runner;

  constructor(input: ServiceMirrorInput) {
    const { options, settings, remotes, local: client, metrics } = input;
    this.#input = input;
    this.#leader = new Leader(input);
    this.#queueMetrics = new QueueMetrics({ metrics, remotes, local: settings.local.name });
    this.#counts = countsOf(input);
    // A Service and its slice, and for an export the ServiceImport besides.
    this.#writes = writesOf(
      input,
      (remote) => 2 * this.#mirrors.servicesOf(remote) + 3 * (this.#mcs?.exportsOf(remote) ?? 0),
    );
    const own = { name: settings.local.name, client };
    const both = { ...input, client, enqueueAll: () => this.#enqueueAll() };
    const zones = new LocalZones(both);
    const properties = new ClusterPropertyObjects({ ...both, enqueueAll: () => this.#enqueueAllSoon() });
    this.#properties = properties;
    const drains = new LocalDrains(both);
    this.#drains = drains;
    const tunnels = new LocalTunnels({ ...both, enqueueOf: (remote) => this.#enqueueOf(remote) });
    this.#tunnels = tunnels;
    const common = {
      ...input,
      client,
      leader: this.#leader,
      observer: this.#queueMetrics,
      writes: this.#writes,
      counts: this.#counts,
      zones,
      properties,
      drains,
      tunnels,
    };
    const mirrors = new Mirrors({ ...common, onStale: (cluster) => this.#mcs?.enqueueExportsOf(cluster) });
    this.#mirrors = mirrors;
    if (settings.mcs !== undefined) this.#mcs = new MultiClusterServices({ ...common, sources: mirrors.clusters });
    this.#runner = new Runner({
      local: mirrors.local,
      prepare: async (running) => {
        await Promise.all([
          mirrors.clusters.readServiceRanges(running),
          properties.readLocal(own, running),
          drains.read(running),
          tunnels.read(running),
          input.inventory?.applied,
        ]);
      },
      watch: async (running) => [
        remotes.run((remote, run) => this.#follow(remote, run), running),
        mirrors.run(running),
        zones.run(running),
        properties.run(own, running),
        drains.run(running),
        tunnels.run(running),
        ...(this.#mcs ? [this.#mcs.run(running)] : []),
      ],
      remotes: () => [...mirrors.clusters.all, ...(this.#mcs?.clusters ?? [])],
      watched: 'services',
      longestReconcileMs: () => this.#leader.longestRunningMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
  }

  readonly isLive = (): Health => this.#runner.isLive();
  readonly isReady = (): Health => this.#runner.isReady();

  /** What `/status` says. Asks DNS, at most once in ten seconds. */
  async status(): Promise<
    AppStatus & {
      readonly names: readonly ResolvedName[];
      readonly drains: readonly Drain[] | null;
      readonly tunnels: readonly TunnelsStatus[] | null;
      readonly orders: OrdersReport;
    }
  > {
    const names = await this.#mirrors.names();
    const { leadership, settings } = this.#input;
    const { local, mirrorNamespace, mirrorSelector, global, mcs } = settings;
    return {
      leader: leadership.isLeader,
      local: this.#runner.localStatus(),
      ...this.#mirrors.clusters.status(),
      names,
      drains: this.#drains.status(),
      tunnels: this.#tunnels.status(),
      orders: ordersReport(this.#ordered()),
      config: {
        name: local.name,
        mirrorNamespace,
        mirrorSelector,
        globalSelector: global?.selector ?? null,
        mcs: mcs === undefined ? null : { ...mcs, clusterOrder: orderTexts(mcs.clusterOrder) },
        clusterOrder: global === undefined ? null : orderTexts(global.clusterOrder),
        localCIDRs: local.cidrs.map(({ text }) => text),
      },
    };
  }

  /** Works until `signal` is aborted. */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => [
      this.#leader.run(running),
      everyPeriod(SAMPLE_MS, () => this.#sample(), running),
    ]);
  }

  /**
   * Takes over the remotes of a changed config. What is here of one that left stays, as that of any cluster that isn't in the
   * config.
   *
   * @throws {ConfigError} if there is no way to connect to one; then all stays as it was
   */
  async replaceRemotes(next: readonly RemoteSettings[]): Promise<RemoteChanges> {
    const changes = await this.#input.remotes.replace(next);
    for (const name of [...changes.removed, ...changes.changed]) {
      this.#queueMetrics.forget(name);
      this.#writes.end(name);
    }
    for (const name of [...changes.added, ...changes.changed]) this.#writes.begin(name);
    this.#tunnels.remotesChanged();
    this.#counts.recount(this.#mirrors.local.all(), this.#mcs?.parts() ?? []);
    this.#enqueueAll();
    return changes;
  }

  /**
   * What `run` would write now, by the same informers and the same reconcile.
   *
   * @throws Error if the local objects can't be listed in time
   */
  plan(options: RunOptions & { readonly timeoutMs: number }): Promise<Plan> {
    const mirrors = this.#mirrors;
    mirrors.clusters.findUnlabelled();
    return this.#runner.once(options, async (running) => {
      const { writes: ofMirrors, ...plan } = await mirrors.plan(running);
      const { writes: ofImports = [], ...imports } = this.#mcs?.plan() ?? { importChanges: [], exports: [] };
      // After the reconciles, which find diagnostics.
      const remotes = mirrors.clusters.plan();
      const refusals = await foreseeRefusals([...ofMirrors, ...ofImports], options);
      return { ...plan, ...imports, remotes, orphans: this.#counts.orphans, refusals };
    });
  }

  #sample(): void {
    this.#queueMetrics.sample();
    this.#counts.sample(this.#mirrors.local);
    this.#mcs?.sample();
    for (const [answers, count] of Object.entries(ordersReport(this.#ordered()).services))
      this.#input.metrics.orderedServices.set({ answers: answers as Answering }, count);
  }

  async #follow(remote: Remote<RemoteSettings>, running: RunOptions): Promise<void> {
    const cluster = { name: remote.settings.name, client: remote.client };
    await this.#properties.read(cluster, running);
    if (running.signal.aborted) return;
    await Promise.all([
      this.#mirrors.follow(remote, running),
      this.#mcs?.follow(remote, running),
      this.#properties.run(cluster, running),
    ]);
  }

  /** Whoever doesn't lead decides nothing, so it knows of none. */
  #ordered(): readonly OrderedService[] {
    return this.#input.leadership.isLeader ? [...this.#mirrors.ordered, ...(this.#mcs?.ordered ?? [])] : [];
  }

  #enqueueOf(remote: string): void {
    this.#mirrors.enqueueOf(remote);
    this.#mcs?.enqueueExportsOf(remote);
  }

  #enqueueAll(): void {
    this.#mirrors.enqueueAll();
    this.#mcs?.enqueueAll();
  }

  /** The same, but once for all remotes that ask for it as they start. */
  #enqueueAllSoon(): void {
    this.#mirrors.enqueueAllSoon();
    this.#mcs?.enqueueAllSoon();
  }
}

function writesOf(input: ServiceMirrorInput, objectsOf: (remote: string) => number): LocalWrites {
  const { writeConcurrency: concurrency, maxRemoteWrites: perSecond } = input.options;
  const writes = new LocalWrites({ ...input, concurrency, what: 'service', objectsOf, perSecond });
  for (const account of [...input.remotes.byName.keys(), GLOBAL]) writes.begin(account);
  return writes;
}

function countsOf({ settings, remotes, metrics }: ServiceMirrorInput): LocalCounts {
  const { local, global } = settings;
  return new LocalCounts({ metrics, remotes, local: local.name, hasGlobals: global !== undefined });
}
