import { isLabelKey, isLabelValue } from '@kube-semaphore/naming';
import { isOwnKey } from '../../endpoints/desired/diff/marks.ts';
import type { StringMap } from '../../endpoints/desired/objects.ts';

/**
 * How long all exported annotations may be, and the keys of all exported labels. The API server allows annotations of 256 KiB
 * on one object, and two of them are lists of these keys.
 */
const [MOST_BYTES, MOST_LABEL_BYTES] = [128 * 1024, 32 * 1024];

/** Domains whose keys mean something to Kubernetes and its controllers. */
const RESERVED = ['kubernetes.io', 'k8s.io', 'x-k8s.io'];

/**
 * The exported labels that a ServiceImport may have, in the order of their keys as long as they fit.
 *
 * @param prefixes beginnings of allowed keys; undefined: all keys that aren't reserved
 */
export const importedLabels = (exported: StringMap, prefixes: readonly string[] | undefined): StringMap =>
  fitting(exported, {
    isAllowed: (key, value) => isAllowed(key, prefixes) && isLabelValue(value),
    bytesOf: (key) => key.length + 1,
    most: MOST_LABEL_BYTES,
  });

/** The exported annotations that a ServiceImport may have, in the order of their keys as long as they fit. */
export const importedAnnotations = (exported: StringMap, prefixes: readonly string[] | undefined): StringMap =>
  fitting(exported, {
    isAllowed: (key) => isAllowed(key, prefixes),
    bytesOf: (key, value) => 2 * key.length + 1 + bytesInJson(value),
    most: MOST_BYTES,
  });

/** As the API server stores it: beside these characters, it escapes those that JSON has to. */
const bytesInJson = (text: string): number =>
  Buffer.byteLength(JSON.stringify(text)) + 5 * (text.match(/[<>&\b\f\u2028\u2029]/g)?.length ?? 0);

type Fit = {
  readonly isAllowed: (key: string, value: string) => boolean;
  readonly bytesOf: (key: string, value: string) => number;
  readonly most: number;
};

function fitting(exported: StringMap, { isAllowed: allows, bytesOf, most }: Fit): StringMap {
  let bytes = 0;
  const entries = Object.entries(exported)
    .filter(([key, value]) => allows(key, value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .filter(([key, value]) => {
      bytes += bytesOf(key, value);
      return bytes <= most;
    });
  return Object.fromEntries(entries);
}

/** A remote chooses the keys, so none may mean something to the local cluster's controllers, or to us. */
function isAllowed(key: string, prefixes: readonly string[] | undefined): boolean {
  if (!isLabelKey(key) || isOwnKey(key)) return false;
  if (prefixes !== undefined && !prefixes.some((prefix) => key.startsWith(prefix))) return false;
  const slash = key.indexOf('/');
  const domain = slash === -1 ? '' : key.slice(0, slash);
  return !RESERVED.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`));
}
