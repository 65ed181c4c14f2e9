import { parseReport, reportText, silentAnnotation } from '@kube-semaphore/naming';
import type { AnnotationPatch } from '../../own-node/desired/own-node.ts';

/** Our Node has room for 256 KiB of annotations, of which others need some. With more silent nodes, it is their cluster. */
const MOST_NAMES = 200;

/**
 * What of our Node has to change, so that it names the silent Nodes of a remote. That the remote has more or fewer Nodes than in the
 * present report is no reason to write.
 *
 * @param nodes how many Nodes the remote has
 * @returns undefined if nothing has to change
 */
export function reportPatch(
  remote: string,
  annotations: Readonly<Record<string, string>>,
  { silent, nodes }: { readonly silent: ReadonlySet<string>; readonly nodes: number },
): AnnotationPatch | undefined {
  const key = silentAnnotation(remote);
  const present = annotations[key];
  const names = [...silent].toSorted().slice(0, MOST_NAMES);
  if (names.length === 0) return present === undefined ? undefined : { [key]: null };
  const known = present === undefined ? undefined : parseReport(present);
  return known?.silent.join() === names.join() ? undefined : { [key]: reportText({ silent: names, nodes }) };
}
