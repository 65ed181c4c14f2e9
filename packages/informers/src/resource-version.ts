/**
 * Whether version `a` is older than `b`. Every resource of kube-apiserver has decimal versions that grow (KEP-5504).
 * Versions of another form, from an aggregated API server, can't be compared: false.
 */
export function isOlder(a: string, b: string): boolean {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}

const DECIMAL = /^[1-9]\d*$/;
