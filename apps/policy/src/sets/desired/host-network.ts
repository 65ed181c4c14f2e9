import { hostCidr } from '@kube-semaphore/net';
import { sortedHosts } from './addresses.ts';
import type { SetDiagnostic } from './diagnostic.ts';
import type { PairMembers } from './member.ts';

/**
 * What to do with Pods that use their node's network.
 *
 * - `include`: they are members, as in the Go programs. A policy that allows one of them also allows everything else that
 *   runs on its node.
 * - `exclude`: they aren't members.
 * - `retain` (no flag decides): they aren't members, but addresses that a Go program put into a set stay, with a warning.
 */
export type HostNetworkPods = 'exclude' | 'include' | 'retain';

/**
 * The addresses of a pair as CIDRs, sorted, each once.
 *
 * @param isInSet whether a set of this pair has the CIDR already
 */
export function wantedAddresses(
  { cluster, namespace, members }: PairMembers,
  mode: HostNetworkPods,
  isInSet: (cidr: string) => boolean,
): { readonly wanted: readonly string[]; readonly diagnostics: readonly SetDiagnostic[] } {
  const wanted: string[] = [];
  const diagnostics: SetDiagnostic[] = [];
  for (const { name, ips, hostNetwork } of members) {
    const isMember = !hostNetwork || mode === 'include';
    const retained = !isMember && mode === 'retain' ? ips.filter((ip) => isInSet(hostCidr(ip))) : [];
    for (const ip of isMember ? ips : retained) wanted.push(ip);
    if (!isMember) diagnostics.push({ ...diagnosticOf(retained), cluster, namespace, name });
  }
  return { wanted: sortedHosts(wanted), diagnostics };
}

function diagnosticOf(retained: readonly string[]): Pick<SetDiagnostic, 'kind' | 'reason' | 'detail'> {
  if (retained.length === 0) {
    return { kind: 'expected', reason: 'host-network', detail: 'the Pod uses the network of its node' };
  }
  return {
    kind: 'problem',
    reason: 'host-network-kept',
    detail: `${retained.join(', ')} of a node stays in the set because it was there before: set -host-network-pods`,
  };
}
