import {
  type ClusterWatches,
  type DiagnosticRegister,
  type LocalWrites,
  untilAnswered,
} from '@kube-semaphore/multicluster';
import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { CalicoApi } from '@kube-semaphore/kube-objects';
import { type ClusterIds, notExtended, otherSinksOf, type Sink, sinkOf } from '@kube-semaphore/network-policies';
import type { Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from '../../config/options.ts';
import { LOCAL } from '../../names.ts';
import { listClusterPolicies } from './cluster-policies.ts';
import { LocalCompanions } from './companions.ts';
import { LocalNamespaces } from './namespaces.ts';
import { LocalNetworkPolicies, type LocalNetworkPoliciesOptions } from './network-policies.ts';
import { readableSinks, resourceNames } from './other-sinks.ts';

/** Answers which API groups and resources the cluster has. */
type Discovery = Parameters<typeof readableSinks>[1];

export type WatchedPoliciesOptions = Omit<LocalNetworkPoliciesOptions, 'sink'> & {
  readonly client: KubeClient;
  readonly options: PolicyOptions;
  readonly watches: ClusterWatches;
  readonly writes: LocalWrites;
  readonly skipped: DiagnosticRegister;
  readonly log: Logger;
};

/** What NetworkPolicies that name other clusters need of the local cluster: they, their companions, and the Namespaces. */
export class WatchedPolicies {
  readonly companions: LocalCompanions;
  readonly #options: WatchedPoliciesOptions;
  readonly #namespaces: LocalNamespaces;
  /** Until it is known what other sinks left, and which policies aren't extended. */
  readonly #startHooks: ReflectorHooks;
  #running: RunOptions | undefined;
  /** By `resourceNames`, as text: the other sinks that are watched. */
  readonly #others = new Set<string>();
  #notExtended: readonly string[] = [];

  constructor(options: WatchedPoliciesOptions) {
    const { client, ids, watches, writes, skipped, options: flags } = options;
    this.#options = options;
    const sink = sinkOf(flags);
    const policies = new LocalNetworkPolicies({ ...options, sink });
    const idleTimeoutMs = flags.watchIdleTimeoutMs;
    this.companions = new LocalCompanions({ client, policies, writes, watches, sink, idleTimeoutMs });
    this.#startHooks = watches.hooks();
    this.#namespaces = new LocalNamespaces({ client, ids, policies, skipped, idleTimeoutMs, hooks: watches.hooks() });
  }

  loops() {
    return [
      { name: 'the local NetworkPolicies', silentMs: this.companions.silentMs },
      { name: 'the local Namespaces', silentMs: this.#namespaces.silentMs },
    ];
  }

  /** Decides again which companions are orphans, and which clusters NetworkPolicies and Namespaces name. */
  configChanged(ids: ClusterIds): void {
    this.companions.policies.configChanged(ids);
    this.#namespaces.configChanged(ids);
  }

  /** Lists everything again, to compare. */
  relist(): void {
    this.companions.relist();
    if (this.#running !== undefined) void this.#checkClusterPolicies(this.#running);
  }

  /** Watches until `signal` is aborted. */
  async run(api: Promise<CalicoApi | undefined>, discovery: Discovery, running: RunOptions): Promise<void> {
    await Promise.all([
      this.companions.run(running),
      this.#runOtherSinks(api, discovery, running),
      this.#namespaces.run(running),
    ]);
  }

  /** Watches what a sink wrote that was chosen before, if we still may. */
  async #runOtherSinks(
    api: Promise<CalicoApi | undefined>,
    discovery: Discovery,
    { signal }: RunOptions,
  ): Promise<void> {
    this.#running = { signal };
    const others = await this.#findOtherSinks(await api, discovery, { signal });
    await this.#checkClusterPolicies({ signal }, discovery);
    const loops = others.map((sink) => this.companions.replace(sink, { signal }));
    this.#startHooks.onSynced?.();
    this.#options.watches.drop(this.#startHooks);
    await Promise.all(loops);
  }

  /** Calico was installed after our start, or the API server didn't name it yet, nor other groups. */
  async calicoCameLate(api: CalicoApi, running: RunOptions): Promise<void> {
    const others = await this.#findOtherSinks(api, this.#options.client, running);
    await Promise.all(others.map((sink) => this.companions.replace(sink, running, { isLate: true })));
  }

  /** Those that may have left companions, and that aren't watched yet. */
  async #findOtherSinks(
    api: CalicoApi | undefined,
    discovery: Discovery,
    { signal }: RunOptions,
  ): Promise<readonly Sink[]> {
    const { options, log } = this.#options;
    const textOf = (sink: Sink): string => resourceNames(sink).join();
    const all = otherSinksOf(options.networkPolicySink, api).filter((sink) => !this.#others.has(textOf(sink)));
    const onFailure = (error: unknown): void => log.debug({ cluster: LOCAL, error }, 'other sinks not found, retrying');
    const ask = () => readableSinks(all, discovery, { signal });
    const { readable, forbidden } = await untilAnswered(ask, { signal, onFailure });
    for (const sink of forbidden)
      log.info({ cluster: LOCAL, resources: resourceNames(sink) }, 'companions of another sink are not looked for');
    for (const sink of readable) this.#others.add(textOf(sink));
    return readable;
  }

  /** What names other clusters, and isn't extended. */
  async #checkClusterPolicies({ signal }: RunOptions, discovery?: Discovery): Promise<void> {
    const { client, options, skipped, log } = this.#options;
    try {
      const found = notExtended(await listClusterPolicies(client, { signal }, discovery), options.clusterSetKey);
      const bySubject = Map.groupBy(found, ({ subject }) => subject);
      for (const subject of new Set([...this.#notExtended, ...bySubject.keys()]))
        skipped.replace(subject, bySubject.get(subject) ?? []);
      this.#notExtended = [...bySubject.keys()];
    } catch (error) {
      if (!signal.aborted) log.info({ cluster: LOCAL, error }, 'ClusterNetworkPolicies not read');
    }
  }
}
