import { compareText } from '@kube-semaphore/naming';
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
} from '../../names.ts';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import type { DesiredService } from '../../endpoints/desired/objects.ts';
import { listOf, namesIn, retainedDefinition } from '../../endpoints/desired/merged/retained.ts';
import type { ObservedEndpoints, ObservedService, ObservedSlice } from '../../endpoints/desired/observed.ts';

/** What is in the mirror namespace. */
export type Namespace = {
  readonly services: readonly ObservedService[];
  /** Ours, of any cluster. */
  readonly slices: readonly ObservedSlice[];
  /** Those that a Go program made. */
  readonly endpoints: readonly ObservedEndpoints[];
};

/** What a cleanup does: it removes, and creates nothing. */
export type OrphanRemoval = Extract<
  Change,
  { readonly kind: 'update-service' | 'delete-service' | 'delete-slice' | 'delete-endpoints' }
>;

/** The cluster of orphans: its name, or the prefix of its mirrors. Objects of `served` clusters stay. */
type Owner = { readonly cluster: string; readonly served: readonly string[] };

type Marked = Pick<ObservedSlice, 'labels'> & Partial<Pick<ObservedSlice, 'annotations'>>;

/**
 * How to remove a cluster that is no longer in the config: its mirrors, its part in global Services, and those that no
 * other cluster has. Services come first, as in a reconcile; objects of a kind are sorted by name.
 */
export function orphanRemovals({ services, slices, endpoints }: Namespace, owner: Owner): readonly OrphanRemoval[] {
  const isOrphan = (object: Marked): boolean =>
    object.labels[mirroredSliceLabel] === 'true'
      ? object.labels[mirrorClusterLabel] === owner.cluster
      : isMirrorOf(object, owner);
  const present = services.filter(({ isTerminating }) => !isTerminating).toSorted(byName);
  const globals = present.filter(({ labels }) => labels[globalServiceLabel] === 'true');
  const mirrors = present.filter((service) => isMirrorOf(service, owner));
  return [
    ...mirrors.map((from) => ({ kind: 'delete-service', from }) as const),
    ...globals.flatMap((from) => globalRemoval(from, owner.cluster, slices) ?? []),
    ...endpoints
      .filter(isOrphan)
      .toSorted(byName)
      .map((from) => ({ kind: 'delete-endpoints', from }) as const),
    ...slices
      .filter(isOrphan)
      .toSorted(byName)
      .map((from) => ({ kind: 'delete-slice', from }) as const),
  ];
}

/** Whether a mirror is of a cluster, by its annotation, or by its prefix if a Go program made it. */
function isMirrorOf({ labels, annotations = {} }: Marked, { cluster, served }: Owner): boolean {
  if (labels[mirroredServiceLabel] !== 'true') return false;
  const [source] = (annotations[sourceAnnotation] ?? '').split('/');
  return source === cluster || (labels[mirrorPrefixLabel] === cluster && !served.includes(source ?? ''));
}

/** How to remove a cluster from a global Service; undefined if it isn't in it. Slices of others retain the Service. */
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

/** Its definition stays: the next reconcile of the process that serves it decides. */
function without(cluster: string, from: ObservedService, others: ReadonlySet<string>): DesiredService {
  const { [globalConflictsAnnotation]: _, ...annotations } = from.annotations;
  const conflicts = namesIn(from, globalConflictsAnnotation).filter((name) => name !== cluster);
  return {
    name: from.name,
    labels: {},
    annotations: {
      ...annotations,
      [globalClustersAnnotation]: listOf(others),
      ...(conflicts.length > 0 && { [globalConflictsAnnotation]: listOf(conflicts) }),
    },
    definition: retainedDefinition(from),
  };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => compareText(a.name, b.name);
