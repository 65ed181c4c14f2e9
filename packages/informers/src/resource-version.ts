/**
 * Whether version `a` is older than `b`. Versions are decimal numbers that grow (KEP-5504 says so for every resource
 * of kube-apiserver); of others, which an aggregated API server may have, nothing is known, and the answer is no.
 */
export function isOlder(a: string, b: string): boolean {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}

const DECIMAL = /^[1-9]\d*$/;
