import { hash } from 'node:crypto';

function sha256(cluster: string, namespace: string, name: string): string {
  return hash('sha256', `${cluster}/${namespace}/${name}`, 'hex');
}

/** Makes a name unique to one source: the first 10 hex digits of sha256('cluster/namespace/name'). */
export function hash10(cluster: string, namespace: string, name: string): string {
  return sha256(cluster, namespace, name).slice(0, 10);
}

/**
 * The first 20 hex digits (80 bits) of the same hash. To find two of their own names with the same `hash10`, an attacker
 * needs a million tries, and 2^40 for the hash of another's name. For `hash20` it is 2^40 and 2^80.
 */
export function hash20(cluster: string, namespace: string, name: string): string {
  return sha256(cluster, namespace, name).slice(0, 20);
}

/** The first 16 digits (80 bits) of sha256('namespace/name') in base32hex (RFC 4648), in lower case. */
export function base32Hash16(namespace: string, name: string): string {
  const bits80 = hash('sha256', `${namespace}/${name}`, 'hex').slice(0, 20);
  return BigInt(`0x${bits80}`).toString(32).padStart(16, '0');
}
