import { GLOBAL } from '../../names.ts';

/** What a write is for. */
type Cause = {
  /** The cluster of the object; undefined if it is of several, or isn't known. */
  readonly cluster: string | undefined;
  /** The remotes that have a part in it, if `cluster` is undefined. */
  readonly parts: () => readonly string[];
};

/**
 * The remote whose budget a write counts against; undefined for none. Several remotes may cause a change of an object that
 * they share: all such changes count against the budget of `global`.
 */
export function accountOf(
  { cluster, parts }: Cause,
  remotes: Pick<ReadonlyMap<string, unknown>, 'has'>,
): string | undefined {
  if (cluster !== undefined) return remotes.has(cluster) ? cluster : undefined;
  const causes = parts();
  return causes.length > 1 ? GLOBAL : causes[0];
}
