import { type DesiredSlice, hasReady } from '../objects.ts';

/** What happens to a cluster's endpoints in global Services; `no` unless it wasn't reached for its `staleAfter`. */
export type Stale = 'no' | 'unready' | 'remove';

/** One cluster's slices of a global Service. */
export type ClusterSlices = { readonly stale: Stale; readonly slices: readonly DesiredSlice[] };

/**
 * The slices of all clusters; stale ones are removed, or their endpoints not ready. A slice stays as it is if no other
 * cluster can take over: one that isn't stale, with a ready endpoint of the family for each of the ports.
 */
export function withoutStale(clusters: readonly ClusterSlices[]): readonly DesiredSlice[] {
  const fresh = clusters.filter(({ stale }) => stale === 'no').flatMap(({ slices }) => slices);
  const served = new Set(fresh.filter(hasReady).flatMap(placesOf));
  return clusters.flatMap(({ stale, slices }) =>
    slices.flatMap((slice) =>
      stale === 'no' || !placesOf(slice).every((place) => served.has(place)) ? [slice] : retired(slice, stale),
    ),
  );
}

/** What clients ask for to find a slice's endpoints. A slice of a headless Service may have no ports. */
function placesOf({ family, ports }: DesiredSlice): readonly string[] {
  return [family, ...ports.map(({ protocol, name }) => `${family} ${protocol} ${name}`)];
}

function retired(slice: DesiredSlice, stale: 'unready' | 'remove'): readonly DesiredSlice[] {
  if (stale === 'remove') return [];
  const endpoints = slice.endpoints.map((endpoint) => ({
    ...endpoint,
    conditions: { ...endpoint.conditions, ready: false, serving: false },
  }));
  return [{ ...slice, endpoints }];
}
