import { hostCidr } from '@kube-semaphore/net';
import { sortedHosts } from './addresses.ts';
import type { PairMembers } from './member.ts';
import type { Member } from './member.ts';
import type { SetDiagnostic } from './diagnostic.ts';

/**
 * What becomes of Pods that use their node's network. `include`: they are members, as in the Go programs: then a
 * policy that lets one of them in lets in whatever else runs on that node. `exclude`: they aren't. `grandfather`
 * (nobody has said): they aren't either, but what a Go program let in stays in, with a warning, until somebody says.
 */
export type HostNetworkPods = 'exclude' | 'include' | 'grandfather';

/**
 * The addresses of a pair as CIDRs, each once, by number, however many members have one.
 *
 * @param isHeld whether a set of this pair holds the CIDR already
 */
export function wantedAddresses(
  { cluster, namespace, members }: PairMembers,
  mode: HostNetworkPods,
  isHeld: (cidr: string) => boolean,
): { readonly wanted: readonly string[]; readonly diagnostics: readonly SetDiagnostic[] } {
  const ips: string[] = [];
  const diagnostics: SetDiagnostic[] = [];
  for (const member of members) {
    const counting = countingIps(member, mode, isHeld);
    for (const ip of counting) ips.push(ip);
    if (!member.hostNetwork || mode === 'include') continue;
    diagnostics.push({ ...noticeOf(counting), cluster, namespace, name: member.name });
  }
  return { wanted: sortedHosts(ips), diagnostics };
}

function countingIps(
  { ips, hostNetwork }: Member,
  mode: HostNetworkPods,
  isHeld: (cidr: string) => boolean,
): readonly string[] {
  if (!hostNetwork || mode === 'include') return ips;
  return mode === 'exclude' ? [] : ips.filter((ip) => isHeld(hostCidr(ip)));
}

function noticeOf(kept: readonly string[]): Pick<SetDiagnostic, 'kind' | 'reason' | 'detail'> {
  if (kept.length === 0) {
    return { kind: 'expected', reason: 'host-network', detail: 'the Pod uses the network of its node' };
  }
  return {
    kind: 'problem',
    reason: 'host-network-kept',
    detail: `${kept.join(', ')} of a node stays in the set as it was there before: say -host-network-pods`,
  };
}
