/**
 * Something about a Pod or a set that people should be able to find out: in the log, in `plan`, in a metric.
 * `expected`: the normal course of things. `problem`: somebody should look.
 */
export type SetDiagnostic = {
  readonly kind: 'expected' | 'problem';
  /** One of a few words, fit for a metric's label. */
  readonly reason: 'host-network' | 'host-network-kept' | 'name-taken';
  readonly cluster: string;
  readonly namespace: string;
  /** The Pod's name, or for `name-taken` the set's: the value of the name label. */
  readonly name: string;
  /** A sentence for people. */
  readonly detail: string;
};
