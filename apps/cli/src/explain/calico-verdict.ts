import type { SideVerdict } from '@kube-semaphore/policy/verdict';
import type { CalicoObjects, CalicoPolicy } from '../clusters/calico.ts';
import {
  type CalicoFlow,
  type Ends,
  endsOf,
  every,
  isSet,
  matchesRule,
  selectsPod,
  unevaluated,
} from './calico-match.ts';

/** `by` is undefined where NetworkPolicies of Kubernetes decide, or no policy. */
export type CalicoVerdict =
  | { readonly result: 'allowed' | 'denied'; readonly by: CalicoPolicy | undefined; readonly detail: string }
  | { readonly result: 'unknown'; readonly detail: string };

/** `none`: no rule matches. `absent`: it doesn't select the Pod for this direction. */
type Outcome = 'Allow' | 'Deny' | 'Pass' | 'none' | 'absent';

type Member = {
  /** Undefined: all NetworkPolicies of Kubernetes. */
  readonly policy: CalicoPolicy | undefined;
  readonly subject: string;
  readonly tier: string;
  readonly order: number;
  /** All that are possible, with the number of the rule. */
  readonly outcomes: ReadonlyMap<Outcome, number>;
  /** Parts that aren't evaluated. */
  readonly doubts: readonly string[];
};

type Found = { readonly endings: CalicoVerdict[]; readonly doubts: string[] };

/**
 * What Calico decides about a packet, by tiers and orders. Where a part isn't evaluated, each of its outcomes is followed:
 * the verdict is `unknown` unless all lead to the same one.
 *
 * @param kubernetes what the NetworkPolicies of Kubernetes say, which are among Calico's own
 */
export function calicoVerdict(flow: CalicoFlow, kubernetes: SideVerdict): CalicoVerdict {
  const { objects, subject } = flow;
  const ofHosts = objects.policies.filter(({ namespace, spec }) =>
    subject.hostNetwork ? namespace === undefined : isSet(spec['applyOnForward']),
  );
  const ends = endsOf(flow);
  const ofCalico = subject.hostNetwork ? [] : objects.policies.map((policy) => memberOf(policy, ends));
  const members = [ofKubernetes(kubernetes), ...ofCalico].filter(
    ({ outcomes }) => outcomes.size > 1 || !outcomes.has('absent'),
  );
  const tiers = tiersOf(objects);
  const lost = members.filter(({ tier }) => tiers.every(({ name }) => name !== tier));
  const doubts = [
    ...ofHosts.map((policy) => `${subjectOf(policy)}: host endpoints are not evaluated`),
    ...lost.map(({ subject: of, tier }) => `${of}: its tier ${tier} is not known`),
    ...members.flatMap((member) => member.doubts),
  ];
  const endings: CalicoVerdict[] = ofHosts.map((by) => ({ result: 'denied', by, detail: `by ${subjectOf(by)}` }));
  if (tiers.every((tier) => mayPass(tier, members, { endings, doubts })))
    endings.push({ result: 'allowed', by: undefined, detail: 'by no policy' });
  const first = endings[ofHosts.length]!;
  if (lost.length === 0 && endings.every(({ result }) => result === first.result)) return first;
  return { result: 'unknown', detail: [...new Set(doubts)].join('; ') };
}

/** With the tier that Calico creates at its first start. */
function tiersOf({ tiers }: CalicoObjects): CalicoObjects['tiers'] {
  const hasDefault = tiers.some(({ name }) => name === DEFAULT_TIER);
  const all = hasDefault ? tiers : [...tiers, { name: DEFAULT_TIER, order: 1_000_000, defaultAction: 'Deny' }];
  return all.toSorted((a, b) => orderOf(a) - orderOf(b) || (a.name < b.name ? -1 : 1));
}

const DEFAULT_TIER = 'default';

/** Unset is last. */
const orderOf = ({ order }: { readonly order?: number | null | undefined }): number => order ?? Number.MAX_VALUE;

/** Adds how a packet may end in a tier. @returns whether it may go on to the next one */
function mayPass(
  { name, defaultAction }: CalicoObjects['tiers'][number],
  all: readonly Member[],
  { endings, doubts }: Found,
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
      doubts.push(`${[...subjects].join(' and ')} have the same order`);
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
  doubts: [],
});

const subjectOf = ({ namespace, name }: CalicoPolicy): string =>
  namespace === undefined ? `GlobalNetworkPolicy ${name}` : `Calico NetworkPolicy ${namespace}/${name}`;

/** `applyOnForward` only matters to host endpoints. */
const EVALUATED =
  /^(tier|order|types|selector|namespaceSelector|ingress|egress|doNotTrack|preDNAT|applyOnForward|performanceHints)$/;

function memberOf(policy: CalicoPolicy, ends: Ends): Member {
  const { flow } = ends;
  const { tier, order, types, ingress, egress, doNotTrack, preDNAT } = policy.spec;
  const subject = subjectOf(policy);
  const outcomes = new Map<Outcome, number>();
  const doubts: string[] = [];
  const member = { policy, subject, tier: tier || DEFAULT_TIER, order: orderOf({ order }), outcomes, doubts };
  const applies = every([
    !isSet(doNotTrack) && !isSet(preDNAT),
    !types?.length || types.includes(flow.direction === 'ingress' ? 'Ingress' : 'Egress'),
    selectsPod(policy, flow),
    ...unevaluated(policy.spec, EVALUATED),
  ]);
  if (typeof applies === 'string') doubts.push(`${subject}: ${applies} is not evaluated`);
  if (applies !== true) outcomes.set('absent', 0);
  if (applies === false) return member;
  for (const [i, rule] of ((flow.direction === 'ingress' ? ingress : egress) ?? []).entries()) {
    const match = matchesRule(rule, ends, policy.namespace);
    if (match === false || rule.action === 'Log') continue;
    if (!outcomes.has(rule.action)) outcomes.set(rule.action, i + 1);
    if (match === true) return member;
    doubts.push(`${subject}, rule ${i + 1}: ${match} is not evaluated`);
  }
  outcomes.set('none', 0);
  return member;
}
