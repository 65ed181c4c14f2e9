import type { GlobalParticipant } from './desired/globals/service.ts';
import { type GlobalSource, type GlobalTarget, globalTarget, undisputedPart } from './desired/globals/target.ts';
import type { RemoteList } from '@kube-semaphore/multicluster';
import { mirrorTarget } from './desired/mirrors/target.ts';
import type { ServiceView, Target } from '../endpoints/desired/target.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { LocalObjects } from './local/objects.ts';
import type { LocalZones } from './local/zones.ts';
import { globalServiceName, parseServiceKey, type ServiceKey } from '../names.ts';
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

  /** What a key wants now; undefined if no cluster of the config has such keys. A mirror has no decision of several clusters. */
  target(key: string): (Target & Partial<Pick<GlobalTarget, 'participants' | 'decision'>>) | undefined {
    const parsed = parseServiceKey(key);
    if (parsed === undefined) return undefined;
    return parsed.kind === 'global' ? this.#global(key, parsed) : this.#mirror(key, parsed);
  }

  /** A cluster's part in the global Service of a key; undefined if it has none, or something must be said about it. */
  part(key: string, cluster: string): GlobalParticipant | undefined {
    const { settings, clusters, keys } = this.#options;
    const [parsed, each] = [parseServiceKey(key), clusters.get(cluster)];
    if (parsed === undefined || each === undefined || keys.overBudget(key, cluster).length > 0) return undefined;
    const { namespace, name } = parsed;
    const source = this.#source(each, parsed);
    const place = { namespace: settings.mirrorNamespace, name: globalServiceName(namespace, name) };
    return source && undisputedPart(source, { ...place, families: clusters.families });
  }

  /** What is known of a cluster's Service; undefined if its Services aren't global. */
  #source(each: Source, { namespace, name }: Pick<ServiceKey, 'namespace' | 'name'>): GlobalSource | undefined {
    const { cluster, stale } = each;
    const known = each.source('global')?.view(namespace, name);
    const isLocal = cluster === this.#options.settings.local.name;
    return known && sourceOf(this.#gated(cluster, known, 'global'), cluster, isLocal, stale);
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

  #global(key: string, { namespace, name }: Extract<ServiceKey, { kind: 'global' }>): GlobalTarget | undefined {
    const { settings, remotes, local, clusters, keys, zones, properties, drains, states } = this.#options;
    const { global, mirrorNamespace } = settings;
    if (global === undefined) return undefined;
    const overBudget = clusters.all.flatMap(({ cluster }) => keys.overBudget(key, cluster));
    const skipped = new Set(overBudget.map(({ cluster }) => cluster));
    const sources = clusters.all.flatMap((each): readonly GlobalSource[] => {
      const source = this.#source(each, { namespace, name });
      if (source === undefined) return [];
      return [skipped.has(source.cluster) ? { ...source, source: withoutPart(source.source) } : source];
    });
    const target = globalTarget(
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
    states.keep(key, target.state);
    return { ...target, diagnostics: [...overBudget, ...target.diagnostics] };
  }
}
