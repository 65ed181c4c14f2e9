import { isLabelKey, isLabelValue } from '@kube-semaphore/naming';
import type { StringMap } from '../objects.ts';

/** How long all exported annotations may be; the API server allows 256 KiB on one object. */
const MOST_BYTES = 128 * 1024;

/** Domains whose keys mean something to Kubernetes and its controllers, or name our own objects. */
const RESERVED = ['kubernetes.io', 'k8s.io', 'x-k8s.io'];

/**
 * The exported labels that a ServiceImport may have.
 *
 * @param prefixes beginnings of allowed keys; undefined: all keys that aren't reserved
 */
export const importedLabels = (exported: StringMap, prefixes: readonly string[] | undefined): StringMap =>
  Object.fromEntries(
    Object.entries(exported).filter(([key, value]) => isAllowed(key, prefixes) && isLabelValue(value)),
  );

/** The exported annotations that a ServiceImport may have, in the order of their keys as long as they fit. */
export function importedAnnotations(exported: StringMap, prefixes: readonly string[] | undefined): StringMap {
  let bytes = 0;
  const fitting = Object.entries(exported)
    .filter(([key]) => isAllowed(key, prefixes))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .filter(([key, value]) => {
      bytes += key.length + Buffer.byteLength(value);
      return bytes <= MOST_BYTES;
    });
  return Object.fromEntries(fitting);
}

/** A remote chooses the keys, so none may mean something to the local cluster's controllers. */
function isAllowed(key: string, prefixes: readonly string[] | undefined): boolean {
  if (!isLabelKey(key) || (prefixes !== undefined && !prefixes.some((prefix) => key.startsWith(prefix)))) return false;
  const slash = key.indexOf('/');
  const domain = slash === -1 ? '' : key.slice(0, slash);
  return !RESERVED.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`));
}
