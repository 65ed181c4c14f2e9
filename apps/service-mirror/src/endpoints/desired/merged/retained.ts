import {
  globalClustersAnnotation,
  globalConflictsAnnotation,
  mirrorClusterLabel,
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../../../names.ts';
import { explicitConditions } from '../compact.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { DesiredSlice } from '../objects.ts';
import type { ObservedService, ObservedSlice } from '../observed.ts';
import type { Definition, Endpoint, Family, SourceService } from '../source.ts';
import { withoutRole } from '../routing/in-role.ts';
import { readWish } from '../routing/wish.ts';

/** An unknown cluster, with its slices in the local cluster. */
type RetainedCluster = {
  readonly cluster: string;
  readonly isLocal: boolean;
  readonly slices: readonly DesiredSlice[];
};

/** The part of unknown clusters in a global Service: unknown is not empty, so it stays. */
export type Retained = {
  readonly clusters: readonly RetainedCluster[];
  /** The Service, if it exists: one of the unknown clusters may be the oldest, which decides. */
  readonly service: RetainedService | undefined;
};

type RetainedService = Pick<SourceService, 'definition' | 'localFirst' | 'wish'> & {
  /** The clusters in its annotation of overruled ones; known ones may be among them. */
  readonly conflicts: readonly string[];
};

/** A global Service in the mirror namespace, if it exists, and our slices of it. */
type Observed = { readonly service: ObservedService | undefined; readonly slices: readonly ObservedSlice[] };

const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

export const NOTHING_RETAINED: Retained = { clusters: [], service: undefined };

/**
 * The part of unknown clusters in a global Service.
 *
 * @param unknown all unknown clusters, also those without a part in it
 */
export function retainedOf(
  { service, slices }: Observed,
  unknown: readonly { readonly cluster: string; readonly isLocal: boolean }[],
): Retained {
  if (unknown.length === 0) return NOTHING_RETAINED;
  const listed = new Set(namesIn(service, globalClustersAnnotation));
  const ofCluster = Map.groupBy(slices, ({ labels }) => labels[mirrorClusterLabel] ?? '');
  const clusters = unknown
    .map((each): RetainedCluster => ({
      ...each,
      slices: (ofCluster.get(each.cluster) ?? []).map((slice) => retainedSlice(slice)),
    }))
    .filter(({ cluster, slices: own }) => own.length > 0 || listed.has(cluster));
  if (clusters.length === 0) return NOTHING_RETAINED;
  return { clusters, service: service && serviceOnce(service) };
}

/**
 * What retains a global Service that no cluster of the config has any more: clusters that aren't in the config, because
 * another process may serve them and write their slices.
 */
export function retainedForOthers({ service, slices }: Observed, configured: ReadonlySet<string>): Retained {
  const present = [
    ...namesIn(service, globalClustersAnnotation),
    ...slices.map(({ labels }) => labels[mirrorClusterLabel] ?? ''),
  ].filter((name) => name !== '');
  const others = [...new Set(present)].filter((name) => !configured.has(name));
  if (service === undefined || others.length === 0) return NOTHING_RETAINED;
  const loses = present.some((name) => configured.has(name));
  return {
    clusters: others.map((cluster) => ({ cluster, isLocal: false, slices: [] })),
    service: loses ? retainedService(service) : undefined,
  };
}

const serviceOnce = memoize((service: ObservedService) => retainedService(service));

function retainedService(service: ObservedService): RetainedService {
  const { annotations } = service;
  return {
    definition: retainedDefinition(service),
    localFirst: annotations[topologyHintsAnnotation] === 'auto' || annotations[topologyModeAnnotation] === 'auto',
    wish: readWish(annotations).wish,
    conflicts: namesIn(service, globalConflictsAnnotation),
  };
}

/** The definition that leaves an existing Service as it is. */
export function retainedDefinition({
  definition,
  familyPolicy,
}: Pick<ObservedService, 'definition' | 'familyPolicy'>): Definition {
  // On a cluster with one family, a Service with PreferDualStack has only that one.
  const families =
    familyPolicy === 'PreferDualStack' ? [...new Set([...definition.families, ...FAMILIES])] : definition.families;
  return { ...definition, families };
}

/**
 * A slice that leaves an existing one as it is, except for what older builds wrote and consumers can't process; without a
 * role, which depends on other clusters.
 */
export const retainedSlice = memoize((observed: ObservedSlice): DesiredSlice => {
  const { name, labels, annotations, family, ports, endpoints } = withoutRole(observed);
  const explicit = endpoints.map((endpoint): Endpoint => ({
    ...endpoint,
    conditions: explicitConditions(endpoint.conditions),
  }));
  return { name, labels, annotations, family, ports, endpoints: explicit };
});

/** The clusters in an annotation of a global Service. */
export function namesIn(service: ObservedService | undefined, annotation: string): readonly string[] {
  const text = service?.annotations[annotation] ?? '';
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** An annotation's list of clusters. */
export const listOf = (clusters: Iterable<string>): string => [...new Set(clusters)].toSorted().join(',');
