import type { GlobalNetworkSet } from '@kube-semaphore/kube-objects';
import { effectiveLabels } from './calico-metadata.ts';
import { isSameMap, type StringMap } from './string-map.ts';

/** A GlobalNetworkSet as it lies in the local cluster. */
export type ObservedSet = {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Those that Calico goes by, wherever they are stored. */
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** As the API server spelled them: nothing here looks inside, but a PUT that left them out would remove them. */
  readonly ownerReferences?: unknown;
  readonly finalizers?: unknown;
  /** In the order and spelling of whoever wrote them. */
  readonly nets: readonly string[];
};

/** A GlobalNetworkSet as it should be. */
export type DesiredSet = {
  readonly name: string;
  /** Exactly these, and no others. */
  readonly labels: StringMap;
  /** Canonical `/32` and `/128`, by number, IPv4 first, each once; at least one. */
  readonly nets: readonly string[];
};

/** Reads a set of the local store. */
export function observedSet({ metadata, spec }: GlobalNetworkSet): ObservedSet {
  const { name, uid, resourceVersion, annotations, ownerReferences, finalizers } = metadata;
  const labels = effectiveLabels(metadata.labels, annotations);
  return { name, uid, resourceVersion, labels, annotations, ownerReferences, finalizers, nets: spec.nets };
}

/** Whether two versions of a set are the same to us: any difference but the resourceVersion may need a write. */
export function isSameSet(a: ObservedSet, b: ObservedSet): boolean {
  return (
    a.uid === b.uid &&
    a.nets.length === b.nets.length &&
    a.nets.every((net, i) => net === b.nets[i]) &&
    isSameMap(a.labels, b.labels) &&
    isSameMap(a.annotations, b.annotations) &&
    JSON.stringify([a.ownerReferences, a.finalizers]) === JSON.stringify([b.ownerReferences, b.finalizers])
  );
}
