import { compareText } from '@kube-semaphore/naming';
import { mirrorClusterLabel, sourceAnnotation } from '../../names.ts';
import type { DesiredSlice } from './objects.ts';
import { memoize } from '@kube-semaphore/memoize';
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
  const holders = new Map<string, DesiredSlice>();
  for (const slice of slices) {
    if (badPort(slice) !== undefined) continue;
    const holder = holders.get(slice.name);
    if (holder === undefined || sourceOf(slice) < sourceOf(holder)) holders.set(slice.name, slice);
  }
  if (holders.size === slices.length) return { slices, diagnostics: [] };
  const isHolder = (slice: DesiredSlice): boolean => holders.get(slice.name) === slice;
  const others = slices.filter((slice) => !isHolder(slice)).toSorted((a, b) => compareText(sourceOf(a), sourceOf(b)));
  return {
    slices: slices.filter(isHolder),
    diagnostics: others.map((slice) => ({
      cluster: slice.labels[mirrorClusterLabel] ?? cluster,
      kind: 'problem',
      ...problemOf(slice, holders.get(slice.name)),
    })),
  };
}

/** @param holder the slice that has the name; undefined if none has */
function problemOf(
  slice: DesiredSlice,
  holder: DesiredSlice | undefined,
): Pick<ClusterDiagnostic, 'reason' | 'detail'> {
  const source = sourceOf(slice);
  const problem = badPort(slice);
  return problem === undefined
    ? { reason: 'name-taken', detail: `${source}: the name ${slice.name} belongs to ${sourceOf(holder!)}` }
    : { reason: 'bad-port', detail: `${source}: a port has an invalid ${problem}` };
}

/** What is wrong with its first bad port. */
const badPort = memoize((slice: DesiredSlice) => slice.ports.map(portProblem).find((each) => each !== undefined));

const sourceOf = ({ annotations }: DesiredSlice): string => annotations[sourceAnnotation] ?? '';
