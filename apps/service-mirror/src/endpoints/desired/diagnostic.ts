import type { Diagnostic } from '@kube-semaphore/multicluster';

/** A diagnostic about a cluster's part in a local Service. `reason` is a word for a metric's label. */
export type ClusterDiagnostic = Diagnostic & { readonly cluster: string };

/** The cluster that a key names. */
export const clusterOf = (key: string): string => key.slice(0, key.indexOf('/'));

/** A problem with a key as a whole: of the cluster that the key names. */
export const problemOf = (key: string, reason: string, detail: string): ClusterDiagnostic => ({
  cluster: clusterOf(key),
  kind: 'problem',
  reason,
  detail,
});
