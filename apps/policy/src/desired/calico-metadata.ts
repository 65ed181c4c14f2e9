import { asRecord } from '@kube-semaphore/kube-objects';
import { calicoMetadataAnnotation } from '../names.ts';
import type { StringMap } from './string-map.ts';

/**
 * The labels that Calico sees on a set. Its own writers (calicoctl, calico-apiserver, and so the Go programs) leave
 * the labels of a stored object empty and keep them as JSON in an annotation, which wins for each label that both
 * name (ConvertK8sResourceToCalicoResource in libcalico-go). Read as `crd.projectcalico.org/v1`, a set of the Go
 * program would else belong to nobody.
 */
export function effectiveLabels(labels: StringMap, annotations: StringMap): StringMap {
  const stored = annotations[calicoMetadataAnnotation];
  return stored === undefined ? labels : { ...labels, ...readMaps(stored).labels };
}

/** Whether Calico would read this object's labels from somewhere else than its labels. */
export function hasCalicoMetadata(annotations: StringMap): boolean {
  return annotations[calicoMetadataAnnotation] !== undefined;
}

/** The annotations that Calico sees on a set, each an annotation of its own. */
export function withoutCalicoMetadata(annotations: StringMap): StringMap {
  const { [calicoMetadataAnnotation]: stored, ...own } = annotations;
  return stored === undefined ? annotations : { ...own, ...readMaps(stored).annotations };
}

/** What isn't an ObjectMeta says nothing: Felix can't read such an object either, and our next write mends it. */
function readMaps(json: string): { readonly labels: StringMap; readonly annotations: StringMap } {
  const { labels, annotations } = asRecord(parse(json));
  return { labels: stringsOf(labels), annotations: stringsOf(annotations) };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Not ours, and not worth more than the empty answer: see readMaps.
    return undefined;
  }
}

function stringsOf(value: unknown): StringMap {
  const entries = Object.entries(asRecord(value));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
