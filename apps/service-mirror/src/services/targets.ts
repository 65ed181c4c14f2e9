import { type GlobalSource, globalTarget } from './desired/globals/target.ts';
import type { RemoteList } from '@kube-semaphore/multicluster';
import { mirrorTarget } from './desired/mirrors/target.ts';
import type { ServiceView, Target } from '../endpoints/desired/target.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { LocalObjects } from './local/objects.ts';
import type { LocalZones } from './local/zones.ts';
import { parseServiceKey, type ServiceKey } from '../names.ts';
import { orderFor } from '../config/cluster-order.ts';
import { knownClusters, prefixesOf, type RemoteSettings, type Settings } from '../config/settings.ts';
import { gatedView } from '../endpoints/desired/gating.ts';
import type { LocalDrains } from '../endpoints/local/drains.ts';
import type { LocalTunnels } from '../endpoints/local/tunnels.ts';
import type { ClusterPropertyObjects } from '../endpoints/remote/cluster-properties.ts';
import type { RoutingStates } from '../endpoints/routing-states.ts';
import type { SourceCluster } from './remote/source-cluster.ts';
import type { SourceClusters } from './remote/source-clusters.ts';
import type { ServiceKeys, Use } from './service-keys.ts';
import type { ServiceSource } from './remote/services.ts';

/** What is known about a cluster. */
type Source = Pick<SourceCluster, 'cluster' | 'settled' | 'stale'> & {
  source(use: Use): Pick<ServiceSource, 'view'> | undefined;
};

export type TargetsOptions = {
  readonly settings: Settings;
  readonly remotes: RemoteList<Pick<RemoteSettings, 'name' | 'prefix' | 'properties'>>;
  readonly local: Pick<LocalObjects, 'service' | 'slices'>;
  readonly clusters: Pick<SourceClusters, 'families'> & {
    readonly all: readonly Source[];
    get(cluster: string): Source | undefined;
  };
  readonly keys: ServiceKeys;
  readonly zones: Pick<LocalZones, 'zones' | 'haveAllNodes'>;
  readonly properties: Pick<ClusterPropertyObjects, 'found'>;
  readonly drains: Pick<LocalDrains, 'clusters'>;
  readonly tunnels: Pick<LocalTunnels, 'gated'>;
  readonly states: Pick<RoutingStates, 'next' | 'keep'>;
};

/** A cluster whose part in a key is skipped: known to have nothing of it. */
const withoutPart = ({ known }: ServiceView): ServiceView => ({ known, service: undefined, slices: [], skipped: [] });

const sourceOf = memoize(
  (source: ServiceView, cluster: string, isLocal: boolean, stale: GlobalSource['stale']): GlobalSource => ({
    cluster,
    isLocal,
    stale,
    source,
  }),
);

/** From a key to what it wants, by what is known about the clusters. */
export class Targets {
  readonly #options: TargetsOptions;

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** What a key wants now; undefined if no cluster of the config has such keys. */
  target(key: string): Target | undefined {
    const parsed = parseServiceKey(key);
    if (parsed === undefined) return undefined;
    return parsed.kind === 'global' ? this.#global(key, parsed) : this.#mirror(key, parsed);
  }

  #gated(cluster: string, view: ServiceView, use: Use): ServiceView {
    const gated = this.#options.tunnels.gated(cluster);
    return gated.size === 0 ? view : gatedView(view, gated, use === 'mirror');
  }

  #mirror(key: string, { cluster, namespace, name }: Extract<ServiceKey, { kind: 'mirror' }>): Target | undefined {
    const { settings, remotes, clusters, keys } = this.#options;
    const prefixes = prefixesOf(remotes);
    const prefix = prefixes.get(cluster);
    const remote = clusters.get(cluster);
    const source = remote?.source('mirror');
    if (remote === undefined || source === undefined || prefix === undefined) return undefined;
    const target = mirrorTarget(
      { namespace, name },
      {
        cluster,
        prefix,
        mirrorNamespace: settings.mirrorNamespace,
        families: clusters.families,
        source: this.#gated(cluster, source.view(namespace, name), 'mirror'),
        prefixes: [...prefixes.values()],
        retainsUnseen: !settings.serviceSync && !keys.wasSeen(key),
        retainsEndpoints: !remote.settled,
      },
    );
    const overBudget = keys.overBudget(key, cluster);
    return overBudget.length === 0 ? target : { ...target, wanted: 'unknown', diagnostics: overBudget };
  }

  #global(key: string, { namespace, name }: Extract<ServiceKey, { kind: 'global' }>): Target | undefined {
    const { settings, remotes, local, clusters, keys, zones, properties, drains, states } = this.#options;
    const { global, mirrorNamespace } = settings;
    if (global === undefined) return undefined;
    const overBudget = clusters.all.flatMap(({ cluster }) => keys.overBudget(key, cluster));
    const sources: GlobalSource[] = [];
    for (const each of clusters.all) {
      const { cluster, stale } = each;
      const known = each.source('global')?.view(namespace, name);
      if (known === undefined) continue;
      const view = this.#gated(cluster, known, 'global');
      const isSkipped = overBudget.some((skipped) => skipped.cluster === cluster);
      sources.push(sourceOf(isSkipped ? withoutPart(view) : view, cluster, cluster === settings.local.name, stale));
    }
    const { state, ...target } = globalTarget(
      { namespace, name },
      {
        clusters: sources,
        local,
        mirrorNamespace,
        families: clusters.families,
        retainsUnseen: !global.slicesSync && !keys.wasSeen(key),
        hints: global.hints,
        zones: zones.zones,
        routing: {
          ...knownClusters(settings.local, remotes, properties.found),
          order: orderFor(global.clusterOrder, { namespace, name }),
          hasAllZones: zones.haveAllNodes,
          drained: drains.clusters,
          ...states.next(key),
        },
      },
    );
    states.keep(key, state);
    return { ...target, diagnostics: [...overBudget, ...target.diagnostics] };
  }
}
