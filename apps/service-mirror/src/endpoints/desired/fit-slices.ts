import { compareText } from '@kube-semaphore/naming';
import { mirrorClusterLabel, sourceAnnotation } from '../../names.ts';
import type { DesiredSlice } from './objects.ts';
import type { ClusterDiagnostic } from './diagnostic.ts';
import { portProblem } from './ports.ts';

type Fitting = { readonly slices: readonly DesiredSlice[]; readonly diagnostics: readonly ClusterDiagnostic[] };

/**
 * The slices of one Service that may be written, in the given order. Sources are checked when they are read. This last
 * check also covers retained slices of older builds: none may break its consumers, and no two may have one name. Of two
 * slices with one name, the first by source gets it.
 *
 * @param cluster of slices whose labels don't name one
 */
export function fitSlices(slices: readonly DesiredSlice[], cluster: string): Fitting {
  const fitting = new Map<string, DesiredSlice>();
  const diagnostics: ClusterDiagnostic[] = [];
  for (const slice of slices.toSorted((a, b) => compareText(sourceOf(a), sourceOf(b)))) {
    const problem = problemOf(slice, fitting.get(slice.name));
    if (problem === undefined) fitting.set(slice.name, slice);
    else diagnostics.push({ cluster: slice.labels[mirrorClusterLabel] ?? cluster, kind: 'problem', ...problem });
  }
  return { slices: slices.filter((slice) => fitting.get(slice.name) === slice), diagnostics };
}

/** @param holder the slice that has the name */
function problemOf(
  slice: DesiredSlice,
  holder: DesiredSlice | undefined,
): Pick<ClusterDiagnostic, 'reason' | 'detail'> | undefined {
  const source = sourceOf(slice);
  if (holder !== undefined)
    return { reason: 'name-taken', detail: `${source}: the name ${slice.name} belongs to ${sourceOf(holder)}` };
  const problem = slice.ports.map(portProblem).find((each) => each !== undefined);
  return problem === undefined
    ? undefined
    : { reason: 'bad-port', detail: `${source}: a port has an invalid ${problem}` };
}

const sourceOf = ({ annotations }: DesiredSlice): string => annotations[sourceAnnotation] ?? '';
