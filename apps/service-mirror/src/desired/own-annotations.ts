import {
  globalClustersAnnotation,
  globalConflictsAnnotation,
  sourceAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '@kube-semaphore/naming';

/** Annotations of a local Service that are ours alone: removed where they aren't desired. What others put there stays. */
export const ownAnnotations: readonly string[] = [
  sourceAnnotation,
  globalClustersAnnotation,
  globalConflictsAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
];
