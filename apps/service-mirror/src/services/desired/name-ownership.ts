import { serviceNameProblem } from '../../names.ts';
import { type ClusterDiagnostic, problemOf } from '../../endpoints/desired/diagnostic.ts';
import type { ObservedService } from '../../endpoints/desired/observed.ts';
import type { Target } from '../../endpoints/desired/target.ts';

export type NameInput = {
  readonly key: string;
  readonly target: Pick<Target, 'name' | 'isOurs' | 'wanted'>;
  /** The keys that want the name; the first one has it. */
  readonly claimants: readonly string[];
  readonly observed: ObservedService | undefined;
  /** The keys that the observed Service may have been made for. */
  readonly sources: readonly string[];
  /** Whether it is unknown now what a key wants. */
  readonly isUnknown: (key: string) => boolean;
};

/** Whether a key may change the object with its name. No diagnostic if the key wants nothing. */
export type NameOwnership =
  | { readonly ok: true }
  | { readonly ok: false; readonly diagnostics: readonly ClusterDiagnostic[] };

const OWNED: NameOwnership = { ok: true };

/** Who may use a name. A key that wants nothing may only delete its own object: another source may have the name by now. */
export function nameOwnership({
  key,
  target: { name, isOurs, wanted },
  claimants,
  observed,
  sources,
  isUnknown,
}: NameInput): NameOwnership {
  const refused = (reason: string, detail: string): NameOwnership => ({
    ok: false,
    diagnostics: typeof wanted === 'string' ? [] : [problemOf(key, reason, detail)],
  });
  const illegal = serviceNameProblem(name);
  if (illegal?.reason === 'name-too-long')
    return refused(
      illegal.reason,
      `${name} is ${illegal.excess} ${illegal.excess === 1 ? 'character' : 'characters'} too long for a Service`,
    );
  if (illegal !== undefined) return refused(illegal.reason, `${name} is not a valid Service name`);
  const [holder] = claimants;
  if (holder !== undefined && holder !== key)
    return refused('name-taken', `the name ${name} belongs to ${holder}, which is older`);
  if (observed === undefined) return OWNED;
  if (!isOurs(observed.labels)) return refused('name-taken', `the Service ${name} exists, and isn't ours`);
  // A source of an unknown cluster may be older than all known ones.
  const unknown = sources.includes(key) ? undefined : sources.find(isUnknown);
  return unknown === undefined
    ? OWNED
    : refused('name-taken', `the name ${name} belongs to ${unknown}, whose cluster is unknown`);
}
