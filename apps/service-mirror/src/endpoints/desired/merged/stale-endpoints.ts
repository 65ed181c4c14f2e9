import type { ClusterDiagnostic } from '../diagnostic.ts';
import { type DesiredSlice, hasReady } from '../objects.ts';
import { memoize } from '@kube-semaphore/memoize';

/** What happens to a cluster's endpoints in global Services; `no` unless it wasn't reached for its `staleAfter`. */
export type Stale = 'no' | 'unready' | 'remove';

/** One cluster's slices of a global Service. */
export type ClusterSlices = {
  readonly cluster: string;
  readonly stale: Stale;
  readonly slices: readonly DesiredSlice[];
};

type Fresh = { readonly slices: readonly DesiredSlice[]; readonly diagnostics: readonly ClusterDiagnostic[] };

/**
 * The slices of all clusters; stale ones are removed, or their endpoints not ready. A slice stays as it is if no other
 * cluster can take over: one that isn't stale, with a ready endpoint of the family for each of the ports.
 */
export function withoutStale(clusters: readonly ClusterSlices[]): Fresh {
  const isStale = ({ stale }: ClusterSlices): boolean => stale !== 'no';
  if (!clusters.some(isStale)) return { slices: clusters.flatMap(({ slices }) => slices), diagnostics: [] };
  const wanted = new Set(clusters.filter(isStale).flatMap(({ slices }) => slices.flatMap(placesOf)));
  const served = new Set<string>();
  for (const { slices } of clusters.filter((each) => !isStale(each)))
    for (const slice of slices) {
      if (served.size === wanted.size) break;
      if (hasReady(slice)) for (const place of placesOf(slice)) if (wanted.has(place)) served.add(place);
    }
  const isReplaced = (slice: DesiredSlice): boolean => placesOf(slice).every((place) => served.has(place));
  return {
    slices: clusters.flatMap(({ stale, slices }) =>
      slices.flatMap((slice) => (stale === 'no' || !isReplaced(slice) ? [slice] : retiredOnce(slice, stale))),
    ),
    diagnostics: clusters.flatMap(({ cluster, stale, slices }) =>
      stale === 'no'
        ? []
        : staleIn(cluster, stale, slices.filter(({ endpoints }) => endpoints.length > 0).filter(isReplaced).length),
    ),
  };
}

function staleIn(cluster: string, stale: 'unready' | 'remove', count: number): readonly ClusterDiagnostic[] {
  if (count === 0) return [];
  const fate = stale === 'remove' ? 'are removed' : 'are not ready';
  const detail = `the endpoints of ${count} of its slices ${fate}, as it was not reached for its staleAfter`;
  return [{ cluster, kind: 'expected', reason: 'stale', detail }];
}

/** What clients ask for to find a slice's endpoints. A slice of a headless Service may have no ports. */
function placesOf({ family, ports }: DesiredSlice): readonly string[] {
  return [family, ...ports.map(({ protocol, name }) => `${family} ${protocol} ${name}`)];
}

const retiredOnce = memoize((slice: DesiredSlice, stale: 'unready' | 'remove') => retired(slice, stale));

function retired(slice: DesiredSlice, stale: 'unready' | 'remove'): readonly DesiredSlice[] {
  if (stale === 'remove') return [];
  const endpoints = slice.endpoints.map((endpoint) => ({
    ...endpoint,
    conditions: { ...endpoint.conditions, ready: false, serving: false },
  }));
  return [{ ...slice, endpoints }];
}
