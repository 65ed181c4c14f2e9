import {
  globalClustersAnnotation,
  globalConflictsAnnotation,
  sourceAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../names.ts';

/** Annotations of a local Service that are ours alone: removed where they aren't desired. What others put there stays. */
export const ownAnnotations: readonly string[] = [
  sourceAnnotation,
  globalClustersAnnotation,
  globalConflictsAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
];
