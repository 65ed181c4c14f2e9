import type { NetworkPolicyPort } from '@kube-semaphore/kube-objects';

/** A named port of a container. */
export type NamedPort = { readonly name: string; readonly protocol: string; readonly port: number };

/** A Pod of another cluster that the peers of a rule select. */
export type SelectedPod = {
  /** Canonical `/32` and `/128`. */
  readonly cidrs: readonly string[];
  /** Of its containers, in the order of the Pod. */
  readonly namedPorts: readonly NamedPort[];
};

/** Addresses that a rule allows on the same ports. */
export type PortGroup = { readonly ports: readonly NetworkPolicyPort[]; readonly cidrs: readonly string[] };

/** `5432/TCP, 8000-8080/TCP`; empty: all ports. */
export const portsText = (ports: readonly NetworkPolicyPort[]): string =>
  ports
    .map(({ protocol, port, endPort }) => `${port || 'any'}${endPort === 0 ? '' : `-${endPort}`}/${protocol}`)
    .join(', ');

export const hasNamedPort = (ports: readonly NetworkPolicyPort[]): boolean =>
  ports.some(({ port }) => typeof port === 'string');

/**
 * Puts numbers in the place of named ports, for a rule of egress: there a name means a port of the destination, and an
 * address has no names. Pods with the same numbers form one group. A Pod without these ports is in no group: a rule
 * without ports would open all of them.
 *
 * @returns the names that no Pod has, too, if there are Pods
 */
export function resolvePorts(
  ports: readonly NetworkPolicyPort[],
  pods: readonly SelectedPod[],
): { readonly groups: readonly PortGroup[]; readonly missing: readonly string[] } {
  const byPorts = new Map<string, { ports: readonly NetworkPolicyPort[]; cidrs: string[] }>();
  const missing = new Set(ports.flatMap(({ port }) => (typeof port === 'string' ? [port] : [])));
  for (const { cidrs, namedPorts } of pods) {
    const resolved = ports.flatMap((port) => resolve(port, namedPorts, missing));
    if (resolved.length === 0) continue;
    const key = JSON.stringify(resolved);
    const group = byPorts.get(key) ?? { ports: resolved, cidrs: [] };
    group.cidrs.push(...cidrs);
    byPorts.set(key, group);
  }
  return { groups: [...byPorts.values()], missing: pods.length === 0 ? [] : [...missing] };
}

/** The first container port with the name counts, as in `FindPort` of k8s.io/kubernetes/pkg/api/v1/pod. */
function resolve(
  port: NetworkPolicyPort,
  named: readonly NamedPort[],
  missing: Set<string>,
): readonly NetworkPolicyPort[] {
  if (typeof port.port !== 'string') return [port];
  const found = named.find(({ name, protocol }) => name === port.port && protocol === port.protocol);
  if (found === undefined) return [];
  missing.delete(port.port);
  return [{ protocol: port.protocol, port: found.port, endPort: 0 }];
}
