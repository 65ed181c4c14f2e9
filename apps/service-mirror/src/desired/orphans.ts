import {
  globalClustersAnnotation,
  globalConflictsAnnotation,
  globalServiceLabel,
  mirrorClusterLabel,
  mirroredServiceLabel,
  mirroredSliceLabel,
  mirrorPrefixLabel,
  serviceNameLabel,
  sourceAnnotation,
} from '../names.ts';
import type { Change } from './change.ts';
import type { DesiredService } from './objects.ts';
import { keptDefinition, namesIn } from './global/retained.ts';
import type { ObservedEndpoints, ObservedService, ObservedSlice } from './observed.ts';

/** What there is in the mirror namespace. */
export type Namespace = {
  readonly services: readonly ObservedService[];
  /** Ours, of whatever cluster. */
  readonly slices: readonly ObservedSlice[];
  /** Those that a Go program made. */
  readonly endpoints: readonly ObservedEndpoints[];
};

/** What a cleanup does: it takes away, and makes nothing. */
export type OrphanRemoval = Extract<
  Change,
  { readonly kind: 'update-service' | 'delete-service' | 'delete-slice' | 'delete-endpoints' }
>;

type Marked = Pick<ObservedSlice, 'labels'> & Partial<Pick<ObservedSlice, 'annotations'>>;

/**
 * What a cluster that is served no more left: its mirrors, its part in global Services, and those whose last cluster it
 * was. The Services come first, as in a reconcile; within a kind in order of names.
 *
 * @param cluster its name, or the prefix of its mirrors
 * @param served the clusters of the config, whose objects stay even if they have that prefix
 */
export function orphanRemovals(
  { services, slices, endpoints }: Namespace,
  { cluster, served }: { readonly cluster: string; readonly served: readonly string[] },
): readonly OrphanRemoval[] {
  const isOrphan = (object: Marked): boolean =>
    object.labels[mirroredSliceLabel] === 'true'
      ? object.labels[mirrorClusterLabel] === cluster
      : isMirrorOf(object, { cluster, served });
  const globals = services.filter(({ labels }) => labels[globalServiceLabel] === 'true');
  return [
    ...services
      .filter((service) => !service.isTerminating && isMirrorOf(service, { cluster, served }))
      .toSorted(byName)
      .map((from): OrphanRemoval => ({ kind: 'delete-service', from })),
    ...globals
      .filter(({ isTerminating }) => !isTerminating)
      .toSorted(byName)
      .flatMap((from) => globalRemoval(from, cluster, slices) ?? []),
    ...endpoints
      .filter(isOrphan)
      .toSorted(byName)
      .map((from): OrphanRemoval => ({ kind: 'delete-endpoints', from })),
    ...slices
      .filter(isOrphan)
      .toSorted(byName)
      .map((from): OrphanRemoval => ({ kind: 'delete-slice', from })),
  ];
}

/** A mirror tells its cluster by its annotation; one that a Go program made has none, and only the prefix tells. */
function isMirrorOf(
  { labels, annotations = {} }: Marked,
  { cluster, served }: { cluster: string; served: readonly string[] },
): boolean {
  if (labels[mirroredServiceLabel] !== 'true') return false;
  const [source] = (annotations[sourceAnnotation] ?? '').split('/');
  return source === cluster || (labels[mirrorPrefixLabel] === cluster && !served.includes(source ?? ''));
}

/** What becomes of a global Service; undefined if it doesn't name the cluster. Slices of others keep it, named or not. */
function globalRemoval(
  from: ObservedService,
  cluster: string,
  slices: readonly ObservedSlice[],
): OrphanRemoval | undefined {
  const named = namesIn(from, globalClustersAnnotation);
  if (!named.includes(cluster)) return undefined;
  const present = slices
    .filter(({ labels }) => labels[serviceNameLabel] === from.name)
    .map(({ labels }) => labels[mirrorClusterLabel] ?? '');
  const others = new Set([...named, ...present].filter((name) => name !== cluster && name !== ''));
  return others.size === 0
    ? { kind: 'delete-service', from }
    : { kind: 'update-service', from, to: without(cluster, from, others) };
}

/** The Service is what it was; the next reconcile of who serves it says whether that is still right. */
function without(cluster: string, from: ObservedService, others: ReadonlySet<string>): DesiredService {
  const { [globalConflictsAnnotation]: _, ...annotations } = from.annotations;
  const conflicts = namesIn(from, globalConflictsAnnotation).filter((name) => name !== cluster);
  return {
    name: from.name,
    labels: {},
    annotations: {
      ...annotations,
      [globalClustersAnnotation]: list(others),
      ...(conflicts.length > 0 && { [globalConflictsAnnotation]: list(conflicts) }),
    },
    definition: keptDefinition(from),
  };
}

const list = (clusters: Iterable<string>): string => [...clusters].toSorted().join(',');

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
