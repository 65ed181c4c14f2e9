import { mirrorClusterLabel, sourceAnnotation } from '../names.ts';
import type { DesiredSlice } from './objects.ts';
import type { ClusterDiagnostic } from './diagnostic.ts';
import { portProblem } from './ports.ts';

type Fitting = { readonly slices: readonly DesiredSlice[]; readonly diagnostics: readonly ClusterDiagnostic[] };

/**
 * The slices of one Service that may be written, in the order given. What is read is checked as it is read; this is the
 * last check, also of what an older build wrote and we would keep: no slice that breaks its consumers is written, and no
 * slice over another. Of two that share a name, the one whose source comes first has it.
 *
 * @param cluster whose slices they are where their labels don't tell
 */
export function fitSlices(slices: readonly DesiredSlice[], cluster: string): Fitting {
  const fitting = new Map<string, DesiredSlice>();
  const diagnostics: ClusterDiagnostic[] = [];
  for (const slice of slices.toSorted(bySource)) {
    const problem = problemOf(slice, fitting.get(slice.name));
    if (problem === undefined) fitting.set(slice.name, slice);
    else diagnostics.push({ cluster: slice.labels[mirrorClusterLabel] ?? cluster, kind: 'problem', ...problem });
  }
  return { slices: slices.filter((slice) => fitting.get(slice.name) === slice), diagnostics };
}

/** @param holder the slice that has its name */
function problemOf(
  slice: DesiredSlice,
  holder: DesiredSlice | undefined,
): Pick<ClusterDiagnostic, 'reason' | 'detail'> | undefined {
  const source = sourceOf(slice);
  if (holder !== undefined)
    return { reason: 'name-taken', detail: `${source}: ${slice.name} is that of ${sourceOf(holder)}` };
  const wrong = slice.ports.map(portProblem).find((each) => each !== undefined);
  if (wrong === undefined) return undefined;
  return { reason: 'bad-port', detail: `${source}: a port can't be used; it is ${wrong}` };
}

function bySource(a: DesiredSlice, b: DesiredSlice): number {
  const [x, y] = [sourceOf(a), sourceOf(b)];
  return x < y ? -1 : Number(x > y);
}

const sourceOf = ({ annotations }: DesiredSlice): string => annotations[sourceAnnotation] ?? '';
