import { asRecord } from '@kube-semaphore/kube-objects';
import { calicoMetadataAnnotation } from '../names.ts';
import type { StringMap } from '../string-map.ts';

/**
 * The labels that Calico uses of a set. Its own writers (calicoctl, calico-apiserver, and so the Go programs) leave the
 * labels of a stored object empty and keep them as JSON in an annotation. For a label in both, the annotation wins
 * (ConvertK8sResourceToCalicoResource in libcalico-go). Without it, a set that the Go program wrote as
 * `crd.projectcalico.org/v1` would seem foreign.
 */
export function effectiveLabels(labels: StringMap, annotations: StringMap): StringMap {
  const stored = annotations[calicoMetadataAnnotation];
  return stored === undefined ? labels : { ...labels, ...readMaps(stored).labels };
}

/** Whether Calico reads labels from an annotation of this object. */
export function hasCalicoMetadata(annotations: StringMap): boolean {
  return annotations[calicoMetadataAnnotation] !== undefined;
}

/** The annotations that Calico uses of a set, each as an annotation of its own. */
export function withoutCalicoMetadata(annotations: StringMap): StringMap {
  const { [calicoMetadataAnnotation]: stored, ...own } = annotations;
  return stored === undefined ? annotations : { ...own, ...readMaps(stored).annotations };
}

/** Empty for anything but an ObjectMeta: Felix can't read such an object either, and our next write repairs it. */
function readMaps(json: string): { readonly labels: StringMap; readonly annotations: StringMap } {
  const { labels, annotations } = asRecord(parse(json));
  return { labels: stringsOf(labels), annotations: stringsOf(annotations) };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // As anything else that isn't an ObjectMeta: see readMaps.
    return undefined;
  }
}

function stringsOf(value: unknown): StringMap {
  const entries = Object.entries(asRecord(value));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
