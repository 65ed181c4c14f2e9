import { mirrorClusterLabel, sourceAnnotation } from '@kube-semaphore/naming';
import type { DesiredSlice } from './desired.ts';
import type { Notice } from './notice.ts';
import { portProblem } from './read-slice.ts';

/**
 * The slices of one Service that may be written. What is read is checked as it is read; this is the last check, also of
 * what an older build wrote and we would keep: whatever a source says, a slice that breaks its consumers is not written,
 * and no slice is written over another. Of two that share a name, the one whose source comes first has it.
 *
 * @param cluster whose slices they are where their labels don't tell
 */
export function fitSlices(slices: readonly DesiredSlice[], cluster: string): { readonly slices: readonly DesiredSlice[]; readonly notices: readonly Notice[] } {
  const fitting = new Map<string, DesiredSlice>();
  const notices: Notice[] = [];
  for (const slice of slices.toSorted((a, b) => (sourceOf(a) < sourceOf(b) ? -1 : Number(sourceOf(a) > sourceOf(b))))) {
    const holder = fitting.get(slice.name);
    const wrong = slice.ports.find((port) => portProblem(port) !== undefined);
    if (holder === undefined && wrong === undefined) fitting.set(slice.name, slice);
    else {
      const [reason, detail] = wrong === undefined ? ['name-taken', `${slice.name} is that of ${sourceOf(holder!)}`] : ['bad-port', `a port can't be used; it is ${portProblem(wrong)!}`];
      notices.push({ cluster: slice.labels[mirrorClusterLabel] ?? cluster, kind: 'problem', reason, detail: `${sourceOf(slice)}: ${detail}` });
    }
  }
  return { slices: slices.filter((slice) => fitting.get(slice.name) === slice), notices };
}

const sourceOf = ({ annotations }: DesiredSlice): string => annotations[sourceAnnotation] ?? '';
