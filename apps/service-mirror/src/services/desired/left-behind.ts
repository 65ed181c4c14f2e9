import { parseServiceKey } from '../../names.ts';
import { addressesOf } from '../../endpoints/desired/compact.ts';
import { type ClusterDiagnostic, problemOf } from '../../endpoints/desired/diagnostic.ts';
import { type Change, objectOf } from '../../endpoints/desired/diff/change.ts';

/** A deletion of an object of ours. */
type Deletion = Extract<Change, { readonly kind: 'delete-service' | 'delete-slice' | 'delete-endpoints' }>;

/**
 * What a user has to know about objects without a source, which stay because the config says so.
 *
 * @param changes what would be made otherwise
 */
export function leftBehind(key: string, changes: readonly Change[]): readonly ClusterDiagnostic[] {
  const all = changes.filter(isDeletion);
  // Kubernetes deletes the others with their Service.
  const own = all.filter(({ kind }) => kind === 'delete-service');
  const left = own.length > 0 ? own : all;
  if (left.length === 0) return [];
  const addresses = new Set(all.flatMap(addressesIn)).size;
  const source = parseServiceKey(key);
  const [gone, setting] =
    source?.kind === 'mirror'
      ? [`${source.cluster} has no such Service to mirror`, 'serviceSync (-svc-sync)']
      : ['no known cluster has such a Service to merge', 'endpointSliceSync'];
  const [stays, it] = left.length === 1 ? ['stays', 'it'] : ['stay', 'them'];
  const used =
    addresses === 0
      ? 'without an address'
      : `with ${addresses === 1 ? '1 address' : `${addresses} addresses`} that other Pods may have now`;
  const names = left.map(objectOf).join(', ');
  const detail = `${gone}, but ${names} ${stays}, ${used}: set ${setting} to true, or delete ${it}`;
  return [problemOf(key, 'left-behind', detail)];
}

const isDeletion = (change: Change): change is Deletion => !('to' in change);

const addressesIn = (deletion: Deletion): readonly string[] => {
  if (deletion.kind === 'delete-service') return [];
  return deletion.kind === 'delete-endpoints'
    ? deletion.from.addresses
    : deletion.from.endpoints.flatMap((endpoint) => [...addressesOf(endpoint)]);
};
