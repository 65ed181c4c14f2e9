import { isDeepStrictEqual } from 'node:util';
import { serviceNameLabel } from '../../names.ts';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import type { Endpoint } from '../../endpoints/desired/source.ts';

/**
 * A Service whose traffic would go elsewhere: to local endpoints first, to all endpoints, or to other zones first. No node
 * is in the Go program's zone `local`, so real zones in its place make a Service local-first.
 */
export type RoutingChange = {
  readonly service: string;
  readonly to: 'local-first' | 'everywhere';
  readonly zones: readonly string[];
};

type Slice = { readonly labels: Readonly<Record<string, string>>; readonly endpoints: readonly Endpoint[] };

/** The Services whose endpoints would get other hints, or gain or lose them; sorted by name. */
export function routingChanges(changes: readonly Change[]): readonly RoutingChange[] {
  const before = zonesOf(
    changes.flatMap((change) =>
      change.kind === 'update-slice' || change.kind === 'delete-slice' ? [change.from] : [],
    ),
  );
  const after = zonesOf(
    changes.flatMap((change) => (change.kind === 'update-slice' || change.kind === 'create-slice' ? [change.to] : [])),
  );
  return [...after.keys()].toSorted().flatMap((service) => {
    const [from, to] = [before.get(service), after.get(service)!];
    if (from === undefined || isDeepStrictEqual(from, to)) return [];
    return [{ service, to: to.length === 0 ? 'everywhere' : 'local-first', zones: to }];
  });
}

/** The zones in the hints of each Service's endpoints, sorted, by its name; without Services that have no endpoints. */
function zonesOf(slices: readonly Slice[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { labels, endpoints } of slices) {
    const service = labels[serviceNameLabel];
    if (service === undefined || endpoints.length === 0) continue;
    const zones = [...(found.get(service) ?? []), ...endpoints.flatMap((endpoint) => endpoint.zones ?? [])];
    found.set(service, [...new Set(zones)].toSorted());
  }
  return found;
}
