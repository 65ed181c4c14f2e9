import type { FlowPod, FlowPort } from '@kube-semaphore/network-policies';
import type { CalicoObjects } from '../../clusters/calico.ts';
import type { NamedClusterPolicy } from '../../clusters/cluster-policies.ts';

/** A packet, as policies of the cluster of `subject` see it. */
export type PolicyFlow = {
  readonly direction: 'egress' | 'ingress';
  readonly subject: FlowPod & { readonly ip: string; readonly serviceAccount: string };
  /** Of a Pod of another cluster. */
  readonly peerIp: string;
  readonly port: FlowPort;
  readonly objects: CalicoObjects;
  readonly clusterPolicies: readonly NamedClusterPolicy[];
};

/** Whether something matches; a text: a part of it that isn't evaluated. */
export type Match = boolean | string;

export const every = (terms: readonly Match[]): Match =>
  !terms.includes(false) && (terms.find((term) => term !== true) ?? true);
export const some = (terms: readonly Match[]): Match =>
  terms.includes(true) || (terms.find((term) => term !== false) ?? false);

/** `none`: no rule matches. `absent`: it doesn't select the Pod for this direction. */
type Outcome = 'Allow' | 'Deny' | 'Pass' | 'none' | 'absent';

/** A policy in the order of all. */
export type Member = {
  /** For kubectl. Undefined: all NetworkPolicies of Kubernetes. */
  readonly policy:
    | { readonly resource: string; readonly namespace: string | undefined; readonly name: string }
    | undefined;
  readonly subject: string;
  /** Undefined: whether the network enforces it is not known. */
  readonly tier: string | undefined;
  readonly order: number;
  /** All that are possible, with the number of the rule. */
  readonly outcomes: ReadonlyMap<Outcome, number>;
  /** Parts that aren't evaluated. */
  readonly unknowns: readonly string[];
};

/** A rule with its number. */
export type MemberRule = { readonly action: 'Allow' | 'Deny' | 'Pass'; readonly number: number; readonly match: Match };

/**
 * @param applies whether it selects the Pod for this direction
 * @param rules in their order
 */
export function memberOf(
  of: Omit<Member, 'outcomes' | 'unknowns'>,
  applies: Match,
  rules: () => Iterable<MemberRule>,
): Member {
  const { subject } = of;
  const outcomes = new Map<Outcome, number>();
  const unknowns: string[] = [];
  const member = { ...of, outcomes, unknowns };
  if (typeof applies === 'string') unknowns.push(`${subject}: ${applies} is not evaluated`);
  if (applies !== true) outcomes.set('absent', 0);
  if (applies === false) return member;
  for (const { action, number, match } of rules()) {
    if (match === false) continue;
    if (!outcomes.has(action)) outcomes.set(action, number);
    if (match === true) return member;
    unknowns.push(`${subject}, rule ${number}: ${match} is not evaluated`);
  }
  outcomes.set('none', 0);
  return member;
}
