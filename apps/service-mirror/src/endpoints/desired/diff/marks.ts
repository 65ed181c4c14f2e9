import {
  clusterOrderAnnotation,
  derivedServiceAnnotation,
  exportedAnnotationsAnnotation,
  exportedLabelsAnnotation,
  globalClustersAnnotation,
  globalConflictsAnnotation,
  globalServiceLabel,
  headlessLabel,
  importClusterLabel,
  importNameLabel,
  minReadyAnnotation,
  mirrorClusterLabel,
  mirroredServiceLabel,
  mirroredSliceLabel,
  mirrorPrefixLabel,
  serviceNameLabel,
  sliceManagedByLabel,
  sourceAnnotation,
  standbyAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../../../names.ts';
import type { StringMap } from '../objects.ts';

/** The labels and annotations of a Service, an EndpointSlice or a ServiceImport. */
export type Marks = { readonly labels: StringMap; readonly annotations: StringMap };

/** Labels that only we set: removed if they aren't desired. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  mirroredServiceLabel,
  mirrorPrefixLabel,
  globalServiceLabel,
  mirroredSliceLabel,
  mirrorClusterLabel,
  serviceNameLabel,
  sliceManagedByLabel,
  headlessLabel,
  importNameLabel,
  importClusterLabel,
]);

/** Annotations that only we set: removed if they aren't desired. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  sourceAnnotation,
  globalClustersAnnotation,
  globalConflictsAnnotation,
  clusterOrderAnnotation,
  minReadyAnnotation,
  standbyAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
  derivedServiceAnnotation,
  exportedLabelsAnnotation,
  exportedAnnotationsAnnotation,
]);

/** Whether a label or an annotation with this key is ours, whatever an export says. */
export const isOwnKey = (key: string): boolean => OWN_LABELS.has(key) || OWN_ANNOTATIONS.has(key);

/** The desired labels and annotations, and those that others set. */
export function marksOf(from: Marks | undefined, to: Marks): Marks {
  if (from === undefined) return { labels: to.labels, annotations: to.annotations };
  const { isOwnLabel, isOwnAnnotation } = ownership(from);
  return {
    labels: { ...othersIn(from.labels, isOwnLabel), ...to.labels },
    annotations: { ...othersIn(from.annotations, isOwnAnnotation), ...to.annotations },
  };
}

/** Whether an object has the desired labels and annotations, and no other ones of ours. Those of others make no difference. */
export function hasMarks(from: Marks, to: Marks): boolean {
  const { isOwnLabel, isOwnAnnotation } = ownership(from);
  return has(from.labels, to.labels, isOwnLabel) && has(from.annotations, to.annotations, isOwnAnnotation);
}

/** The labels and annotations that a ServiceImport has from exports. One that an older build wrote doesn't say which. */
export function exportedMarks({ labels, annotations }: Marks): Marks {
  const { exportedLabels, exportedAnnotations } = exportedKeys(annotations);
  return {
    labels: filtered(labels, (key) => exportedLabels.has(key)),
    annotations: filtered(annotations, (key) => exportedAnnotations.has(key)),
  };
}

/** With annotations that say which keys are from exports, so that these go when they are withdrawn. */
export function withExported(to: Marks, { labels, annotations }: Marks): Marks {
  const [fromLabels, fromAnnotations] = [keyList(labels), keyList(annotations)];
  return {
    labels: { ...labels, ...to.labels },
    annotations: {
      ...annotations,
      ...to.annotations,
      ...(fromLabels !== '' && { [exportedLabelsAnnotation]: fromLabels }),
      ...(fromAnnotations !== '' && { [exportedAnnotationsAnnotation]: fromAnnotations }),
    },
  };
}

/** No key has a comma. */
const keyList = (map: StringMap): string => Object.keys(map).toSorted().join(',');

type IsOwn = (key: string) => boolean;

function ownership({ annotations }: Marks): { readonly isOwnLabel: IsOwn; readonly isOwnAnnotation: IsOwn } {
  const { exportedLabels, exportedAnnotations } = exportedKeys(annotations);
  return {
    isOwnLabel: (key) => OWN_LABELS.has(key) || exportedLabels.has(key),
    isOwnAnnotation: (key) => OWN_ANNOTATIONS.has(key) || exportedAnnotations.has(key),
  };
}

function exportedKeys(annotations: StringMap) {
  return {
    exportedLabels: keysIn(annotations[exportedLabelsAnnotation]),
    exportedAnnotations: keysIn(annotations[exportedAnnotationsAnnotation]),
  };
}

const keysIn = (list: string | undefined): ReadonlySet<string> =>
  list === undefined ? NO_KEYS : new Set(list.split(','));

/** Shared: most objects aren't imports, or have nothing from exports. */
const NO_KEYS: ReadonlySet<string> = new Set();

const othersIn = (map: StringMap, isOwn: IsOwn): StringMap => filtered(map, (key) => !isOwn(key));

const filtered = (map: StringMap, isKept: (key: string) => boolean): StringMap =>
  Object.fromEntries(Object.entries(map).filter(([key]) => isKept(key)));

const has = (from: StringMap, to: StringMap, isOwn: IsOwn): boolean =>
  Object.entries(to).every(([key, value]) => from[key] === value) &&
  Object.keys(from).every((key) => Object.hasOwn(to, key) || !isOwn(key));
