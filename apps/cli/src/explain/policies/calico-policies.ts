import { familyOf } from '@kube-semaphore/net';
import { parseCalicoSelector } from '@kube-semaphore/network-policies';
import type { CalicoEntity, CalicoObjects, CalicoPolicy, CalicoRule } from '../../clusters/calico.ts';
import { isIn } from '../facts.ts';
import { every, type Match, type Member, memberOf, type PolicyFlow, some } from './member.ts';

const not = (term: Match): Match => (typeof term === 'string' ? term : !term);

/** Calico's objects have empty fields, too. */
export const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).some(isSet) : Boolean(value);

/** The names of other fields that are set. */
const unevaluated = (fields: Readonly<Record<string, unknown>>, evaluated: RegExp): readonly string[] =>
  Object.keys(fields).filter((key) => isSet(fields[key]) && !evaluated.test(key));

/** Both ends of a packet, as selectors and addresses see them. */
export type Ends = { readonly flow: PolicyFlow; readonly own: End; readonly peer: End };

export function endsOf(flow: PolicyFlow): Ends {
  const { subject, peerIp, objects } = flow;
  return { flow, own: endOf(subject.ip, objects, [podOf(flow)]), peer: endOf(peerIp, objects, []) };
}

/** Whether a rule of a policy in this namespace is about a packet. */
function matchesRule(rule: CalicoRule, { flow, own, peer }: Ends, namespace: string | undefined): Match {
  const { ipVersion, protocol, notProtocol, source, destination } = rule;
  const { direction, port, peerIp } = flow;
  const isProtocol = (name: number | string): boolean => protocolNumber(name) === protocolNumber(port.protocol);
  const [from, to] = direction === 'ingress' ? [peer, own] : [own, peer];
  return every([
    !ipVersion || ipVersion === familyOf(peerIp),
    !protocol || isProtocol(protocol),
    !notProtocol || !isProtocol(notProtocol),
    isEnd(source ?? {}, from, { namespace, port: undefined }),
    isEnd(destination ?? {}, to, { namespace, port: port.port }),
    ...unevaluated(rule, /^(action|ipVersion|protocol|notProtocol|source|destination|metadata)$/),
  ]);
}

const NUMBERS: Readonly<Record<string, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

const protocolNumber = (name: number | string): number | string => NUMBERS[String(name).toUpperCase()] ?? name;

/** What selectors may select: a Pod, or a GlobalNetworkSet, which has no namespace. */
type Labelled = {
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: { readonly name: string; readonly labels: Readonly<Record<string, string>> } | undefined;
};

/** As Calico labels the endpoint of a Pod. */
function podOf({ subject: { labels, namespace: name, namespaceLabels, serviceAccount } }: PolicyFlow): Labelled {
  const inherited = Object.entries({ ...namespaceLabels, 'projectcalico.org/name': name });
  return {
    labels: {
      ...Object.fromEntries(inherited.map(([key, value]) => [`pcns.${key}`, value])),
      ...labels,
      'projectcalico.org/namespace': name,
      'projectcalico.org/orchestrator': 'k8s',
      'projectcalico.org/serviceaccount': serviceAccount,
    },
    namespace: { name, labels: Object.fromEntries(inherited) },
  };
}

type End = { readonly ip: string; readonly labelled: readonly (Labelled | string)[] };

/** All that has an address. The labels of the namespace of a NetworkSet aren't known. */
function endOf(ip: string, { sets }: CalicoObjects, pods: readonly Labelled[]): End {
  const found = sets.filter(({ nets }) => nets.some((net) => isIn(net, ip)));
  return {
    ip,
    labelled: [
      ...pods,
      ...found.map(({ namespace, name, labels }) =>
        namespace === undefined ? { labels, namespace } : `the NetworkSet ${namespace}/${name}`,
      ),
    ],
  };
}

function isEnd(
  entity: CalicoEntity,
  { ip, labelled }: End,
  { namespace, port }: { readonly namespace: string | undefined; readonly port: number | undefined },
): Match {
  const { selector, namespaceSelector, nets, notNets, ports, notPorts } = entity;
  const hasIp = (net: string): boolean => isIn(net, ip);
  const hasPort = (each: number | string): Match => isPort(each, port);
  return every([
    !nets?.length || nets.some(hasIp),
    !notNets?.some(hasIp),
    !ports?.length || some(ports.map(hasPort)),
    not(some((notPorts ?? []).map(hasPort))),
    !(selector || namespaceSelector) ||
      some(
        labelled.map((each) =>
          typeof each === 'string' ? each : selects({ selector, namespaceSelector }, each, namespace),
        ),
      ),
    ...unevaluated(entity, /^(selector|namespaceSelector|nets|notNets|ports|notPorts)$/),
  ]);
}

/** @param port undefined: that of the caller */
function isPort(each: number | string, port: number | undefined): Match {
  const [, from, to = from] = /^(\d+)(?::(\d+))?$/.exec(String(each)) ?? [];
  if (port === undefined || from === undefined) return `the port ${each}`;
  return Number(from) <= port && port <= Number(to);
}

export const calicoSubject = ({ namespace, name }: CalicoPolicy): string =>
  namespace === undefined ? `GlobalNetworkPolicy ${name}` : `Calico NetworkPolicy ${namespace}/${name}`;

/** `applyOnForward` only matters to host endpoints. */
const EVALUATED =
  /^(tier|order|types|selector|namespaceSelector|ingress|egress|doNotTrack|preDNAT|applyOnForward|performanceHints)$/;

/** What a policy of Calico says about a packet. */
export function calicoMember(policy: CalicoPolicy, ends: Ends): Member {
  const { flow } = ends;
  const { tier, order, types, ingress, egress, doNotTrack, preDNAT } = policy.spec;
  const applies = every([
    !isSet(doNotTrack) && !isSet(preDNAT),
    !types?.length || types.includes(flow.direction === 'ingress' ? 'Ingress' : 'Egress'),
    selectsPod(policy, flow),
    ...unevaluated(policy.spec, EVALUATED),
  ]);
  const rules = (flow.direction === 'ingress' ? ingress : egress) ?? [];
  return memberOf(
    { policy, subject: calicoSubject(policy), tier: tier || DEFAULT_TIER, order: orderOf({ order }) },
    applies,
    () =>
      rules.flatMap((rule, i) => {
        const { action } = rule;
        return action === 'Log' ? [] : [{ action, number: i + 1, match: matchesRule(rule, ends, policy.namespace) }];
      }),
  );
}

export const DEFAULT_TIER = 'default';

/** Unset is last. */
export const orderOf = ({ order }: { readonly order?: number | null | undefined }): number => order ?? Number.MAX_VALUE;

/** Whether a policy is about the Pod whose packet it is. */
const selectsPod = ({ spec, namespace }: CalicoPolicy, flow: PolicyFlow): Match =>
  selects(spec, podOf(flow), namespace);

/**
 * As GetEntityRuleSelector in libcalico-go/lib/backend/syncersv1/updateprocessors/rules.go: without a namespaceSelector, a
 * policy of a namespace selects only there. Only in a namespaceSelector, `all()` and `global()` mean less than everything.
 *
 * @param namespace of the policy
 */
function selects(
  { selector, namespaceSelector }: Pick<CalicoEntity, 'selector' | 'namespaceSelector'>,
  { labels, namespace: own }: Labelled,
  namespace: string | undefined,
): Match {
  const isInNamespace = namespaceSelector
    ? matchesSelector(namespaceSelector, own?.labels ?? {}, { all: own !== undefined, global: own === undefined })
    : namespace === undefined || own?.name === namespace;
  return every([isInNamespace, !selector || matchesSelector(selector, labels, { all: true, global: true })]);
}

function matchesSelector(
  text: string,
  labels: Labelled['labels'],
  functions: { readonly all: boolean; readonly global: boolean },
): Match {
  const selector = parseCalicoSelector(text, functions);
  // Labels of a service account are with those of its Pods.
  if (selector === undefined || [...selector.keys].some((key) => key.startsWith('pcsa.'))) return `"${text}"`;
  return selector.matches(labels);
}
