/**
 * A fact about a Pod or a set, for the log, `plan` and a metric. `expected`: nothing is wrong. `problem`: someone should
 * look at it.
 */
export type SetDiagnostic = {
  readonly kind: 'expected' | 'problem';
  /** One of a few words, fit for a metric's label. */
  readonly reason: 'host-network' | 'host-network-kept' | 'name-taken' | 'refused' | 'namespace-terminating';
  readonly cluster: string;
  readonly namespace: string;
  /** The Pod's name; for `name-taken` and `refused` the value of the name label. */
  readonly name: string;
  /** A sentence for people. */
  readonly detail: string;
};
