import type { Diagnostic } from '@kube-semaphore/multicluster';
import { printable } from '@kube-semaphore/text';

/** A diagnostic about a remote Node. `reason` is a value of a metric's label. */
export type NodeDiagnostic = Diagnostic & { readonly node: string };

/** One problem for all details, as a Node may have a thousand bad CIDRs; nothing for no details. */
export function problemOf(reason: string, details: readonly string[]): readonly Diagnostic[] {
  const [first, ...others] = details;
  if (first === undefined) return [];
  return [{ kind: 'problem', reason, detail: others.length === 0 ? first : `${first}; and ${others.length} more` }];
}

/** A skipped Node, or a part of one, for people. */
export const skippedLine = ({ node, kind, detail }: NodeDiagnostic): string =>
  `${kind === 'problem' ? 'skip!' : 'skip '}    ${printable(node)}: ${printable(detail)}`;
