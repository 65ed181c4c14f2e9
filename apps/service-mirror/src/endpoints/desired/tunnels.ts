import { type SilenceReport, Witnesses } from '@kube-semaphore/naming';

/** What the Nodes of the local cluster that announce themselves to a remote say of its Nodes; undefined: nothing. */
export type Reports = ReadonlyMap<string, SilenceReport | undefined>;

/** Which Nodes of a remote don't answer. */
export type Verdict = {
  /** Sorted. */
  readonly silent: readonly string[];
  /** More than half of its Nodes are silent: so it is the remote, or the way to it, and no Node is to be avoided. */
  readonly isRemote: boolean;
};

export const NO_VERDICT: Verdict = { silent: [], isRemote: false };

/** A Node is silent if most of its witnesses say so. What others say of it doesn't count. */
export function verdictOf(reports: Reports): Verdict {
  const given = [...reports.values()].filter((report) => report !== undefined);
  if (given.length === 0) return NO_VERDICT;
  const witnesses = new Witnesses(reports.keys());
  const silent = [...new Set(given.flatMap((report) => report.silent))].toSorted().filter((node) => {
    const own = witnesses.of(node);
    const votes = own.filter((witness) => reports.get(witness)?.silent.includes(node) === true);
    return votes.length > own.length / 2;
  });
  // The middle one, as one report may be wrong.
  const nodes = given.map((report) => report.nodes).toSorted((a, b) => a - b)[Math.floor((given.length - 1) / 2)]!;
  return { silent, isRemote: silent.length > nodes / 2 };
}
