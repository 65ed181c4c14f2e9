import type { GlobalNetworkSet } from '@kube-semaphore/kube-objects';
import { effectiveLabels, isSameMap, type StringMap } from '@kube-semaphore/network-policies';

/** A GlobalNetworkSet in the local cluster. */
export type ObservedSet = {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Those that Calico uses, wherever they are stored. */
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** As the API server has them: nothing reads them, but a PUT without them would remove them. */
  readonly ownerReferences?: unknown;
  readonly finalizers?: unknown;
  /** In the order and spelling of the last writer. */
  readonly nets: readonly string[];
};

/** A GlobalNetworkSet as it should be. */
export type DesiredSet = {
  readonly name: string;
  /** Ours; those of others stay as they are. */
  readonly labels: StringMap;
  /** Canonical `/32` and `/128`, sorted by number, IPv4 first, each once; at least one. */
  readonly nets: readonly string[];
};

export function observedSet({ metadata, spec }: GlobalNetworkSet): ObservedSet {
  const { name, uid, resourceVersion, annotations, ownerReferences, finalizers } = metadata;
  const labels = effectiveLabels(metadata.labels, annotations);
  return { name, uid, resourceVersion, labels, annotations, ownerReferences, finalizers, nets: spec.nets };
}

/** Whether two versions of a set differ in nothing but the resourceVersion: any other difference may need a write. */
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
