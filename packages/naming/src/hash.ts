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

/** The first 10 digits (50 bits) of sha256('namespace/name') in base32hex (RFC 4648), in lower case. */
export function base32Hash10(namespace: string, name: string): string {
  const bits52 = Number.parseInt(hash('sha256', `${namespace}/${name}`, 'hex').slice(0, 13), 16);
  return Math.floor(bits52 / 4)
    .toString(32)
    .padStart(10, '0');
}
