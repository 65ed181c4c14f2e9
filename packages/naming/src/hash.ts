import { hash } from 'node:crypto';

/** What marks a name as one source's alone: the first 10 hex digits of sha256('cluster/namespace/name'). */
export function hash10(cluster: string, namespace: string, name: string): string {
  return hash('sha256', `${cluster}/${namespace}/${name}`, 'hex').slice(0, 10);
}
