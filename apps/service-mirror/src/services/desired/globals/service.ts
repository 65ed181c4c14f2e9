import {
  globalClustersAnnotation,
  globalConflictsAnnotation,
  globalKey,
  globalServiceLabel,
  globalServiceName,
  sourceAnnotation,
} from '../../../names.ts';
import type { DesiredObjects, DesiredService } from '../../../endpoints/desired/objects.ts';
import {
  type GlobalFrame,
  globalSlices,
  type SliceSources,
  withHints,
} from '../../../endpoints/desired/merged/slices.ts';
import { listOf, type Retained } from '../../../endpoints/desired/merged/retained.ts';
import {
  retainDefinition,
  mergeDefinitions,
  type Merged,
  compareAge,
  type Participant,
} from '../../../endpoints/desired/merged/merge-definitions.ts';
import type { ClusterDiagnostic } from '../../../endpoints/desired/diagnostic.ts';
import { memoize } from '@kube-semaphore/memoize';
import { localFirstAnnotations, type Routing, routingHints } from '../../../endpoints/desired/routing/routing-hints.ts';
import type { SourceService } from '../../../endpoints/desired/source.ts';
import type { Stale } from '../../../endpoints/desired/merged/stale-endpoints.ts';
import type { Decision } from '../../../endpoints/desired/merged/decision.ts';
import { routedSlices, type RoutingContext, type RoutingState } from '../../../endpoints/desired/routing/route.ts';
import { wishAnnotations } from '../../../endpoints/desired/routing/wish.ts';

/** A cluster that has the Service. */
export type GlobalParticipant = SliceSources & { readonly service: SourceService; readonly stale: Stale };

/** Everything that decides about a global Service. No order in it matters. */
export type GlobalInput = Pick<Routing, 'hints' | 'zones'> & {
  /** Of the Service in every cluster. */
  readonly namespace: string;
  readonly name: string;
  /** The known clusters that have the Service, including the local one. */
  readonly participants: readonly GlobalParticipant[];
  readonly retained: Retained;
  readonly routing: RoutingContext;
};

export type Global = {
  /** `nothing`: no cluster has the Service. `unknown`: only unknown clusters have it, so everything stays as it is. */
  readonly wanted: 'unknown' | 'nothing' | DesiredObjects;
  /** What is overruled or skipped, by age of the clusters' Services. */
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** For the next decision about it; undefined without an order of clusters. */
  readonly state?: RoutingState | undefined;
  /** As of a `Decision`; undefined if each endpoint matters to other clusters. */
  readonly slicesOf?: Decision<GlobalParticipant>['slicesOf'] | undefined;
};

/**
 * The global Service of one namespace and name, with the slices of all clusters. The part of unknown clusters stays, and
 * so does the definition, which may be theirs. Only their hints change: either all endpoints have hints, or none do.
 */
export function desiredGlobal(input: GlobalInput): Global {
  const { namespace, name, retained, hints, zones, routing: context } = input;
  const participants = input.participants.toSorted((a, b) => compareAge(ageOf(a), ageOf(b)));
  const sources = participants.map(participantOf);
  const [oldest] = participants;
  const { localFirst = false, wish } = retained.service ?? oldest?.service ?? {};
  const merged = mergedOf(sources, retained);
  if (merged === undefined) return { wanted: retained.clusters.length === 0 ? 'nothing' : 'unknown', diagnostics: [] };

  const { definition, portNames, conflicts } = merged;
  const service = globalServiceName(namespace, name);
  const key = globalKey(namespace, name);
  const order = context.order ?? wish?.order;
  const isHinted = localFirst || order !== undefined;
  const routing = routingHints({ localFirst: isHinted, hints, zones });
  const zonesFor = (isLocal: boolean) => routing?.[isLocal ? 'local' : 'remote'];
  const ofCluster = ({ cluster, isLocal, slices }: GlobalParticipant) => {
    const names = portNames.get(cluster) ?? NO_NAMES;
    return slicesOf(slices, cluster, isLocal, service, definition, names, zonesFor(isLocal));
  };
  const added = participants.map((each) => ({ cluster: each.cluster, stale: each.stale, ...ofCluster(each) }));
  const retainedSlices = retained.clusters.flatMap(({ isLocal, slices }) =>
    slices.map((slice) => hinted(slice, zonesFor(isLocal))),
  );
  const retainedClusters = retained.clusters.map(({ cluster }) => cluster);
  const overruled = listedOf(conflicts, retainedConflicts(retained));
  const annotations = {
    [sourceAnnotation]: key,
    [globalClustersAnnotation]: listedOf(sources, retainedClusters),
    ...(overruled !== '' && { [globalConflictsAnnotation]: overruled }),
    ...(order && wishAnnotations({ order, minReady: wish?.minReady })),
    ...(isHinted && localFirstAnnotations),
  };
  const desired: DesiredService = { name: service, labels: { [globalServiceLabel]: 'true' }, annotations, definition };
  const { slices, diagnostics, state, routed } = routedSlices({
    key,
    order,
    minReady: wish?.minReady,
    isHeadless: definition.headless,
    hints: routing,
    known: added,
    retained: { clusters: retainedClusters, slices: retainedSlices },
    context,
  });
  return {
    wanted: { service: desired, slices },
    diagnostics: [...conflicts, ...added.flatMap((each) => each.diagnostics), ...diagnostics],
    state,
    slicesOf: routed && ((part) => ofCluster(part).slices.flatMap(routed)),
  };
}

/** Undefined if there is no definition. */
function mergedOf(sources: readonly Participant[], { service }: Retained): Merged | undefined {
  if (service !== undefined) return retainedMerge(service.definition, sources);
  return sources.length === 0 ? undefined : merge(sources);
}

const ageOf = ({ cluster, service: { createdAt } }: GlobalParticipant) => ({ cluster, createdAt });

const participantOf = ({ cluster, service }: GlobalParticipant): Participant => asParticipant(service, cluster);

// A Service may have hundreds of sources, of which one changes.
const asParticipant = memoize((service: SourceService, cluster: string): Participant => ({
  cluster,
  createdAt: service.createdAt,
  definition: service.definition,
}));
const merge = memoize(mergeDefinitions);
const retainedMerge = memoize(retainDefinition);
const hinted = memoize(withHints);
const slicesOf = memoize(
  (
    slices: SliceSources['slices'],
    cluster: string,
    isLocal: boolean,
    service: string,
    definition: GlobalFrame['definition'],
    portNames: GlobalFrame['portNames'],
    zones: GlobalFrame['zones'],
  ) => globalSlices({ cluster, isLocal, slices }, { service, definition, portNames, zones }),
);
const listedOf = memoize((of: readonly { readonly cluster: string }[], others: readonly string[]) =>
  listOf([...of.map(({ cluster }) => cluster), ...others]),
);

const NO_NAMES: GlobalFrame['portNames'] = new Map();

/** The unknown clusters that the Service lists as overruled. */
function retainedConflicts({ clusters, service }: Retained): readonly string[] {
  return clusters.map(({ cluster }) => cluster).filter((cluster) => service?.conflicts.includes(cluster));
}
