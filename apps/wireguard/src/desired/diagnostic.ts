import type { Diagnostic } from '@kube-semaphore/multicluster';

/** Something about a remote Node that is worth knowing. `reason` is a word for a metric's label. */
export type NodeDiagnostic = Diagnostic & { readonly node: string };

/** What is wrong, once however often: a Node may have a thousand bad CIDRs. Nothing for no details. */
export function problemOf(reason: string, details: readonly string[]): readonly Diagnostic[] {
  const [first, ...others] = details;
  if (first === undefined) return [];
  return [{ kind: 'problem', reason, detail: others.length === 0 ? first : `${first}; and ${others.length} more` }];
}
