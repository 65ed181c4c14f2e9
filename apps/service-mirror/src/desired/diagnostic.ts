import type { Diagnostic } from '@kube-semaphore/multicluster';

/** Something about a cluster's part in a local Service that is worth knowing. `reason` is a word for a metric's label. */
export type ClusterDiagnostic = Diagnostic & { readonly cluster: string };
