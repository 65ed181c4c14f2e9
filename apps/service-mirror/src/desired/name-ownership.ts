import { serviceNameProblem } from '../names.ts';
import type { ClusterDiagnostic } from './diagnostic.ts';
import type { ObservedService } from './observed.ts';
import type { Target } from './target.ts';

export type NameInput = {
  readonly key: string;
  readonly target: Pick<Target, 'name' | 'isOurs' | 'wanted'>;
  /** The keys that want the name, the one that has it first. */
  readonly claimants: readonly string[];
  readonly observed: ObservedService | undefined;
  /** The keys that the observed Service may have been made for. */
  readonly sources: readonly string[];
  /** Whether nobody can say now what a key wants. */
  readonly isUnknown: (key: string) => boolean;
};

/** Whether a key may touch what bears its name, and why not; nobody has to know why where nobody says that it wants something. */
export type NameOwnership =
  | { readonly ok: true }
  | { readonly ok: false; readonly notice: ClusterDiagnostic | undefined };

const YES: NameOwnership = { ok: true };

/** Whose a name is. One that wants nothing may only take away what is its own: another source may have the name by now. */
export function nameOwnership({
  key,
  target: { name, isOurs, wanted },
  claimants,
  observed,
  sources,
  isUnknown,
}: NameInput): NameOwnership {
  const no = (reason: string, detail: string): NameOwnership => ({
    ok: false,
    notice: typeof wanted === 'string' ? undefined : problem(key, reason, detail),
  });
  const illegal = serviceNameProblem(name);
  if (illegal?.reason === 'name-too-long')
    return no(
      illegal.reason,
      `${name} is ${illegal.excess} ${illegal.excess === 1 ? 'character' : 'characters'} too long for a Service`,
    );
  if (illegal !== undefined) return no(illegal.reason, `${name} is no name of a Service`);
  const [holder] = claimants;
  if (holder !== undefined && holder !== key) return no('name-taken', `${name} is that of ${holder}, which is older`);
  if (observed === undefined) return YES;
  if (!isOurs(observed.labels)) return no('name-taken', `there is a Service ${name} that isn't ours`);
  // It may be older than whoever is known.
  const unknown = sources.includes(key) ? undefined : sources.find(isUnknown);
  return unknown === undefined ? YES : no('name-taken', `${name} is that of ${unknown}, whose cluster isn't known`);
}

function problem(key: string, reason: string, detail: string): ClusterDiagnostic {
  return { cluster: key.slice(0, key.indexOf('/')), kind: 'problem', reason, detail };
}
