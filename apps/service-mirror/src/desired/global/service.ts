import {
  globalClustersAnnotation,
  globalConflictsAnnotation,
  globalKey,
  globalServiceLabel,
  globalServiceName,
  sourceAnnotation,
} from '../../names.ts';
import type { DesiredObjects, DesiredService, DesiredSlice } from '../objects.ts';
import { globalSlices, type SliceSources, withHints } from './slices.ts';
import type { Retained } from './retained.ts';
import { retainDefinition, mergeDefinitions, type Merged, oldestFirst } from './merge-definitions.ts';
import type { ClusterDiagnostic } from '../diagnostic.ts';
import { localFirstAnnotations, type Routing, routingHints } from './routing-hints.ts';
import type { SourceService } from '../source.ts';
import { type Stale, withoutStale } from './stale-endpoints.ts';

/** A cluster that has the Service. */
export type GlobalParticipant = SliceSources & { readonly service: SourceService; readonly stale: Stale };

/** Everything that decides about a global Service. The order of nothing in it matters. */
export type GlobalInput = Pick<Routing, 'hints' | 'zones'> & {
  /** Of the Service in every cluster. */
  readonly namespace: string;
  readonly name: string;
  /** Those of the known clusters, the local one included. */
  readonly participants: readonly GlobalParticipant[];
  readonly kept: Retained;
};

export type Global = {
  /** `nothing`: no cluster has the Service. `unknown`: nobody can say what it is, and what is there stays. */
  readonly wanted: 'unknown' | 'nothing' | DesiredObjects;
  /** Who is overruled in what, and what is left out; by age of the clusters' Services. */
  readonly diagnostics: readonly ClusterDiagnostic[];
};

/**
 * The global Service of one namespace and name, with the slices of all clusters. What unknown clusters have in it stays,
 * with the definition, for theirs may be the one that counts; only hints follow the configuration, as they are for all
 * endpoints or for none.
 */
export function desiredGlobal(input: GlobalInput): Global {
  const { namespace, name, kept, hints, zones } = input;
  const participants = oldestFirst(input.participants.map((each) => ({ ...each, createdAt: each.service.createdAt })));
  const [oldest] = participants;
  const localFirst = kept.service?.localFirst ?? oldest?.service.localFirst ?? false;
  const merged = mergedOf(participants, kept);
  if (merged === undefined) return { wanted: kept.clusters.length === 0 ? 'nothing' : 'unknown', diagnostics: [] };

  const { definition, portNames, conflicts } = merged;
  const service = globalServiceName(namespace, name);
  const routing = routingHints({ localFirst, hints, zones });
  const zonesFor = (isLocal: boolean) => routing?.[isLocal ? 'local' : 'remote'];
  const brought = participants.map(({ stale, ...sources }) => ({
    stale,
    ...globalSlices(sources, {
      service,
      definition,
      portNames: portNames.get(sources.cluster) ?? new Map<string, string>(),
      zones: zonesFor(sources.isLocal),
    }),
  }));
  const keptSlices = kept.clusters.flatMap(({ isLocal, slices }) =>
    slices.map((slice) => withHints(slice, zonesFor(isLocal))),
  );

  const clusters = [...participants, ...kept.clusters].map(({ cluster }) => cluster);
  const overruled = [...conflicts.map(({ cluster }) => cluster), ...keptConflicts(kept)];
  const annotations = {
    [sourceAnnotation]: globalKey(namespace, name),
    [globalClustersAnnotation]: list(clusters),
    ...(overruled.length > 0 && { [globalConflictsAnnotation]: list(overruled) }),
    ...(localFirst && localFirstAnnotations),
  };
  const desired: DesiredService = { name: service, labels: { [globalServiceLabel]: 'true' }, annotations, definition };
  return {
    wanted: { service: desired, slices: sorted(keptSlices, withoutStale(brought)) },
    diagnostics: [...conflicts, ...brought.flatMap(({ diagnostics }) => diagnostics)],
  };
}

/** Undefined if there is nothing to go by. */
function mergedOf(participants: readonly GlobalParticipant[], { service }: Retained): Merged | undefined {
  const sources = participants.map(({ cluster, service: { createdAt, definition } }) => ({
    cluster,
    createdAt,
    definition,
  }));
  if (service !== undefined) return retainDefinition(service.definition, sources);
  return sources.length === 0 ? undefined : mergeDefinitions(sources);
}

/** The unknown clusters that the Service named as overruled. */
function keptConflicts({ clusters, service }: Retained): readonly string[] {
  return clusters.map(({ cluster }) => cluster).filter((cluster) => service?.conflicts.includes(cluster));
}

const list = (clusters: readonly string[]): string => [...new Set(clusters)].toSorted().join(',');

/** By name; if somebody relabelled a slice it may be there twice, and then the known cluster's counts. */
function sorted(kept: readonly DesiredSlice[], brought: readonly DesiredSlice[]): readonly DesiredSlice[] {
  const names = new Set(brought.map(({ name }) => name));
  return [...kept.filter(({ name }) => !names.has(name)), ...brought].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
