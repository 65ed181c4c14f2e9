import { hash } from 'node:crypto';

function sha256(cluster: string, namespace: string, name: string): string {
  return hash('sha256', `${cluster}/${namespace}/${name}`, 'hex');
}

/** What marks a name as one source's alone: the first 10 hex digits of sha256('cluster/namespace/name'). */
export function hash10(cluster: string, namespace: string, name: string): string {
  return sha256(cluster, namespace, name).slice(0, 10);
}

/**
 * The first 20 hex digits (80 bits) of the same. Of names that `hash10` tells apart, a second one takes whoever chooses
 * them a million tries, and another's name 2^40; of these, 2^40 and 2^80.
 */
export function hash20(cluster: string, namespace: string, name: string): string {
  return sha256(cluster, namespace, name).slice(0, 20);
}
