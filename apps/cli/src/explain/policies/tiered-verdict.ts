import type { SideVerdict } from '@kube-semaphore/network-policies';
import type { CalicoObjects } from '../../clusters/calico.ts';
import { calicoMember, calicoSubject, DEFAULT_TIER, endsOf, isSet, orderOf } from './calico-policies.ts';
import { clusterMember, clusterTiers } from './cluster-policies.ts';
import type { Member, PolicyFlow } from './member.ts';

/** `by` is undefined where NetworkPolicies of Kubernetes decide, or no policy. */
export type TieredVerdict =
  | { readonly result: 'allowed' | 'denied'; readonly by: Member['policy']; readonly detail: string }
  | { readonly result: 'unknown'; readonly detail: string };

type Found = { readonly endings: TieredVerdict[]; readonly unknowns: string[] };

/**
 * What all policies of a cluster decide about a packet, by tiers and orders. Where a part isn't evaluated, each of its
 * outcomes is followed: the verdict is `unknown` unless all lead to the same one.
 *
 * @param kubernetes what the NetworkPolicies of Kubernetes say, which Calico has among its own
 */
export function tieredVerdict(flow: PolicyFlow, kubernetes: SideVerdict): TieredVerdict {
  const { objects, subject, clusterPolicies } = flow;
  const ofHosts = objects.policies.filter(({ namespace, spec }) =>
    subject.hostNetwork ? namespace === undefined : isSet(spec['applyOnForward']),
  );
  const ends = endsOf(flow);
  const ofCalico = subject.hostNetwork ? [] : objects.policies.map((policy) => calicoMember(policy, ends));
  const ofCluster = clusterPolicies.map((policy) => clusterMember(policy, ends));
  const members = [ofKubernetes(kubernetes), ...ofCalico, ...ofCluster].filter(
    ({ outcomes }) => outcomes.size > 1 || !outcomes.has('absent'),
  );
  const tiers = tiersOf(objects);
  const unsure = members.filter((member) => member.tier === undefined && decisionsOf(member).length > 0);
  const lost = members.filter(({ tier }) => tier !== undefined && tiers.every(({ name }) => name !== tier));
  const unknowns = [
    ...ofHosts.map((policy) => `${calicoSubject(policy)}: host endpoints are not evaluated`),
    ...lost.map(({ subject: of, tier }) => `${of}: its tier ${tier} is not known`),
    ...unsure.map(({ subject: of }) => `${of}: whether the network enforces it is not known`),
    ...members.flatMap((member) => member.unknowns),
  ];
  const endings: TieredVerdict[] = ofHosts.map((by) => ({
    result: 'denied',
    by,
    detail: `by ${calicoSubject(by)}`,
  }));
  if (tiers.every((tier) => mayPass(tier, members, { endings, unknowns })))
    endings.push({ result: 'allowed', by: undefined, detail: 'by no policy' });
  const first = endings[ofHosts.length]!;
  endings.push(...unsure.flatMap(decisionsOf).flatMap(({ ending }) => ending ?? []));
  if (lost.length === 0 && endings.every(({ result }) => result === first.result)) return first;
  return { result: 'unknown', detail: [...new Set(unknowns)].join('; ') };
}

/** With the tier that Calico creates at its first start. */
function tiersOf({ tiers }: CalicoObjects): CalicoObjects['tiers'] {
  const hasDefault = tiers.some(({ name }) => name === DEFAULT_TIER);
  const own = hasDefault ? tiers : [...tiers, { name: DEFAULT_TIER, order: 1_000_000, defaultAction: 'Deny' }];
  return [...own, ...clusterTiers].toSorted((a, b) => orderOf(a) - orderOf(b) || (a.name < b.name ? -1 : 1));
}

/** Adds how a packet may end in a tier. @returns whether it may go on to the next one */
function mayPass(
  { name, defaultAction }: CalicoObjects['tiers'][number],
  all: readonly Member[],
  { endings, unknowns }: Found,
): boolean {
  const members = all.filter(({ tier }) => tier === name).toSorted((a, b) => a.order - b.order);
  const silent: Member[] = [];
  let passes = false;
  for (const group of Map.groupBy(members, ({ order }) => order).values()) {
    const ends = group.flatMap(decisionsOf);
    endings.push(...ends.flatMap(({ ending }) => ending ?? []));
    passes ||= ends.some(({ action }) => action === 'Pass');
    const subjects = new Set(ends.map(({ subject }) => subject));
    // Releases of Calico don't agree on which of them is first.
    if (subjects.size > 1 && new Set(ends.map(({ action }) => action)).size > 1)
      unknowns.push(`${[...subjects].join(' and ')} have the same order`);
    if (group.some(({ outcomes }) => !outcomes.has('none') && !outcomes.has('absent'))) return passes;
    silent.push(...group.filter(({ outcomes }) => outcomes.has('none')));
  }
  if (silent.length === 0 || defaultAction === 'Pass') return true;
  const { policy: by } = silent.find(({ policy }) => policy === undefined) ?? silent[0]!;
  const detail = `as no rule of ${silent.map(({ subject }) => subject).join(', ')} allows it`;
  endings.push({ result: 'denied', by, detail });
  return passes || members.every(({ outcomes }) => outcomes.has('absent'));
}

const RESULTS = { Allow: 'allowed', Deny: 'denied', Pass: undefined } as const;

const decisionsOf = ({ policy: by, subject, outcomes }: Member) =>
  (['Allow', 'Deny', 'Pass'] as const).flatMap((action) => {
    const rule = outcomes.get(action);
    if (rule === undefined) return [];
    const result = RESULTS[action];
    return [
      {
        subject,
        action,
        ending: result && { result, by, detail: by === undefined ? `by ${subject}` : `by ${subject}, rule ${rule}` },
      },
    ];
  });

const ofKubernetes = ({ allowed, by }: SideVerdict): Member => ({
  policy: undefined,
  subject: 'NetworkPolicies',
  tier: DEFAULT_TIER,
  order: 1000,
  outcomes: new Map([[by !== undefined ? 'Allow' : allowed ? 'absent' : 'none', 0]]),
  unknowns: [],
});
