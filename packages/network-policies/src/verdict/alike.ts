import type { NetworkPolicy, NetworkPolicyPeer } from '@kube-semaphore/kube-objects';
import { hostCidr, parseCidr } from '@kube-semaphore/net';
import { isCompanion } from '../companions/companion.ts';
import type { Direction } from '../policies/cross-cluster-rules.ts';
import { blockMatcher, type FlowPod, rulesOf } from './flow.ts';
import { selects } from '../policies/selector.ts';

/** Policies that decide about the Pods of one end of a flow. */
type DecidingPolicies = {
  /** Those that may select its Pods: of its cluster and namespace. */
  readonly own: readonly NetworkPolicy[];
  /** Those that may have its Pods as peers: of the cluster and namespace of the other end. */
  readonly others: readonly NetworkPolicy[];
  /** Of the rules of `others`. */
  readonly direction: Direction;
};

type Matcher = (pod: FlowPod, ip: string | undefined) => boolean;

/**
 * Says what policies can tell of an address of a Pod: two addresses of which they can tell the same have the same verdicts.
 * So a flow between workloads of any size has few kinds of pairs, also if each Pod has a label of its own.
 *
 * @returns a function for Pods of one namespace
 */
export function traitsOf({
  own,
  others,
  direction,
}: DecidingPolicies): (pod: FlowPod, ip: string | undefined) => string {
  const matchers = [
    ...own.map(
      ({ spec }): Matcher =>
        (pod) =>
          selects(spec.podSelector, pod.labels),
    ),
    ...others.flatMap((policy) =>
      rulesOf(policy, direction).flatMap(({ peers }) =>
        // Which address of a companion it is makes no difference, and there may be thousands.
        isCompanion(policy) ? [anyOf(peers)] : peers.map(matcherOf),
      ),
    ),
  ];
  return (pod, ip) => {
    const matched = matchers.map((matches) => (matches(pod, ip) ? '1' : '0')).join('');
    const family = ip === undefined ? 'none' : ip.includes(':') ? 'IPv6' : 'IPv4';
    return JSON.stringify([family, pod.hostNetwork, pod.finished, pod.namedPorts, matched]);
  };
}

/** The namespace makes no difference: it is the same for all Pods. */
function matcherOf({ ipBlock, podSelector }: NetworkPolicyPeer): Matcher {
  if (ipBlock.cidr === '') return (pod) => selects(podSelector, pod.labels);
  const has = blockMatcher(ipBlock);
  return (_, ip) => ip !== undefined && has(ip);
}

function anyOf(peers: readonly NetworkPolicyPeer[]): Matcher {
  const hosts = new Set<string>();
  const matchers: Matcher[] = [];
  for (const peer of peers) {
    const { cidr, except } = peer.ipBlock;
    const block = parseCidr(cidr);
    if (block.ok && except.length === 0 && block.value.prefixLength === (block.value.family === 4 ? 32 : 128))
      hosts.add(block.value.text);
    else matchers.push(matcherOf(peer));
  }
  return (pod, ip) => (ip !== undefined && hosts.has(hostCidr(ip))) || matchers.some((matches) => matches(pod, ip));
}
