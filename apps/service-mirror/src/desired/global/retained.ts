import {
  globalClustersAnnotation,
  globalConflictsAnnotation,
  mirrorClusterLabel,
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../../names.ts';
import type { DesiredSlice } from '../objects.ts';
import type { ObservedService, ObservedSlice } from '../observed.ts';
import type { Definition, Family } from '../source.ts';

/** A cluster that isn't known now, with the slices that the local cluster has of it. */
type RetainedCluster = {
  readonly cluster: string;
  readonly isLocal: boolean;
  readonly slices: readonly DesiredSlice[];
};

/** What a global Service has of clusters that aren't known now: unknown is not empty, so it stays. */
export type Retained = {
  /** Those that have a part in it. */
  readonly clusters: readonly RetainedCluster[];
  /** The Service itself, if there is one: one of the unknown clusters may be the one that decides about it. */
  readonly service: RetainedService | undefined;
};

type RetainedService = {
  readonly definition: Definition;
  readonly localFirst: boolean;
  /** The clusters that it named as overruled; maybe others, too. */
  readonly conflicts: readonly string[];
};

/** A global Service of the mirror namespace, if it is there, and our slices of it. */
type Observed = { readonly service: ObservedService | undefined; readonly slices: readonly ObservedSlice[] };

const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/** Nothing is unknown. */
export const NOTHING_RETAINED: Retained = { clusters: [], service: undefined };

/**
 * What of a global Service belongs to unknown clusters.
 *
 * @param unknown the clusters that aren't known now, whether or not they have a part in it
 */
export function retainedOf(
  { service, slices }: Observed,
  unknown: readonly { readonly cluster: string; readonly isLocal: boolean }[],
): Retained {
  const listed = namesIn(service, globalClustersAnnotation);
  const clusters = unknown
    .map((each): RetainedCluster => ({
      ...each,
      slices: slices.filter(({ labels }) => labels[mirrorClusterLabel] === each.cluster).map(asDesired),
    }))
    .filter(({ cluster, slices: own }) => own.length > 0 || listed.includes(cluster));
  if (clusters.length === 0) return NOTHING_RETAINED;
  return { clusters, service: service && retainedService(service) };
}

/**
 * What keeps a global Service that no cluster of the config has any more: clusters that aren't in the config, for another
 * process may serve them. Their slices are theirs to write.
 *
 * @param keepsStale clusters of the config that left while nobody looked stay in it, too
 */
export function retainedForOthers(
  { service, slices }: Observed,
  { configured, keepsStale }: { readonly configured: ReadonlySet<string>; readonly keepsStale: boolean },
): Retained {
  const present = [
    ...namesIn(service, globalClustersAnnotation),
    ...slices.map(({ labels }) => labels[mirrorClusterLabel] ?? ''),
  ].filter((name) => name !== '');
  const others = [...new Set(present)].filter((name) => !configured.has(name));
  if (service === undefined || others.length === 0) return NOTHING_RETAINED;
  const loses = !keepsStale && present.some((name) => configured.has(name));
  return {
    clusters: others.map((cluster) => ({ cluster, isLocal: false, slices: [] })),
    service: loses ? retainedService(service) : undefined,
  };
}

function retainedService(service: ObservedService): RetainedService {
  const { annotations } = service;
  return {
    definition: keptDefinition(service),
    localFirst: annotations[topologyHintsAnnotation] === 'auto' || annotations[topologyModeAnnotation] === 'auto',
    conflicts: namesIn(service, globalConflictsAnnotation),
  };
}

/** The definition by which a Service that is there stays what it is. */
export function keptDefinition({
  definition,
  familyPolicy,
}: Pick<ObservedService, 'definition' | 'familyPolicy'>): Definition {
  // On a cluster with one family, a Service that wants two has one.
  const families =
    familyPolicy === 'PreferDualStack' ? [...new Set([...definition.families, ...FAMILIES])] : definition.families;
  return { ...definition, families };
}

function asDesired({ name, labels, annotations, family, ports, endpoints }: ObservedSlice): DesiredSlice {
  return { name, labels, annotations, family, ports, endpoints };
}

/** The clusters that an annotation of a global Service lists. */
export function namesIn(service: ObservedService | undefined, annotation: string): readonly string[] {
  const text = service?.annotations[annotation] ?? '';
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
