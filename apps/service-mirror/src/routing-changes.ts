import { serviceNameLabel } from '@kube-semaphore/naming';
import type { Change } from './change.ts';
import type { DesiredEndpoint } from './desired.ts';

/** A Service whose clients would be led otherwise: to local endpoints first from now on, or no more. */
export type RoutingChange = { readonly service: string; readonly to: 'local-first' | 'everywhere' };

type Slice = { readonly labels: Readonly<Record<string, string>>; readonly endpoints: readonly DesiredEndpoint[] };

/** Services whose slices have hints and would have none, or the other way; sorted by name. */
export function routingChanges(changes: readonly Change[]): readonly RoutingChange[] {
  const before = hinted(changes.flatMap((change) => (change.kind === 'update-slice' || change.kind === 'delete-slice' ? [change.from] : [])));
  const after = hinted(changes.flatMap((change) => (change.kind === 'update-slice' || change.kind === 'create-slice' ? [change.to] : [])));
  return [...after.keys()]
    .filter((service) => before.has(service) && before.get(service) !== after.get(service))
    .toSorted()
    .map((service) => ({ service, to: after.get(service) === true ? 'local-first' : 'everywhere' }));
}

/** Whether endpoints of a Service have hints, by its name; Services without endpoints have no say. */
function hinted(slices: readonly Slice[]): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { labels, endpoints } of slices) {
    const service = labels[serviceNameLabel];
    if (service === undefined || endpoints.length === 0) continue;
    found.set(service, (found.get(service) ?? false) || endpoints.some(({ zones }) => zones !== undefined));
  }
  return found;
}
