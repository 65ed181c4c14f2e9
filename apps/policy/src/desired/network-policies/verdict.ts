import type {
  LabelSelector,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  PodWithPorts,
} from '@kube-semaphore/kube-objects';
import { contains, parseCidr } from '@kube-semaphore/net';
import { isFinished } from '../member.ts';
import { isCompanion, observedCompanion, type ObservedCompanion } from './companion.ts';
import { type ClusterKey, type Direction, namesCluster, remoteNamespaceLabels } from './cross-cluster-rules.ts';
import { generationOf } from './diff.ts';
import { wholeCompanions } from './grouped-sink.ts';
import { namedPortsOf } from './peer-pod.ts';
import { type NamedPort, portsText } from './ports.ts';
import { type Labels, requirementsOn, selects } from './selector.ts';

export { selects };

/** A Pod as policies see it. */
export type FlowPod = {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  /** For a Pod of another cluster as `remoteNamespaceLabels` has them. */
  readonly namespaceLabels: Labels;
  readonly namedPorts: readonly NamedPort[];
  readonly hostNetwork: boolean;
  readonly finished: boolean;
};

/** A Pod, as policies of its own cluster see it. */
export const flowPodOf = ({ metadata, spec, status }: PodWithPorts, namespaceLabels: Labels): FlowPod => ({
  namespace: metadata.namespace,
  name: metadata.name,
  labels: metadata.labels,
  namespaceLabels,
  namedPorts: namedPortsOf(spec),
  hostNetwork: spec.hostNetwork,
  finished: isFinished(status),
});

/** The other end of a flow. */
export type FlowPeer = {
  readonly ip: string | undefined;
  /** Undefined: an address that is no known Pod. */
  readonly pod: FlowPod | undefined;
  /** Undefined: the cluster of the policies. */
  readonly remote:
    | {
        readonly name: string;
        readonly id: string | undefined;
        /** `remotes[].labels`. */
        readonly labels: Labels;
        readonly refusal: string | undefined;
      }
    | undefined;
};

/** A Pod of `remote`, as policies of another cluster see it. */
export function remotePeer(
  pod: FlowPod,
  { ip, remote, key }: { ip: string | undefined; remote: NonNullable<FlowPeer['remote']>; key: ClusterKey },
): FlowPeer {
  const { id, labels } = remote;
  const namespaceLabels =
    id === undefined
      ? pod.namespaceLabels
      : remoteNamespaceLabels(pod.namespace, pod.namespaceLabels, { key, id, labels });
  return { ip, pod: { ...pod, namespaceLabels }, remote };
}

export type FlowPort = { readonly port: number; readonly protocol: string };

/** With `managedFields`, a verdict says when a companion was last written. */
type ReadPolicy = NetworkPolicy & {
  readonly metadata: { readonly managedFields?: readonly { readonly time: number }[] };
};

export type SideInput = {
  readonly direction: Direction;
  /** A Pod of the cluster whose policies decide. */
  readonly subject: FlowPod;
  readonly peer: FlowPeer;
  readonly port: FlowPort;
  /** Of that cluster; those of other namespaces than the subject's don't matter. */
  readonly policies: readonly ReadPolicy[];
  readonly key: ClusterKey;
};

/** Which rule allows a flow; rules and peers are counted from 1. A rule without peers has no peer. */
export type AllowedBy = {
  readonly networkPolicy: string;
  readonly rule: number;
  readonly peer: number | undefined;
  /** The companion that lets the address in, if one does. Its NetworkPolicy is `networkPolicy`. */
  readonly companion: string | undefined;
  /** RFC 3339. The address may have been in it before. */
  readonly companionWrittenAt?: string | undefined;
};

/** Companions of another sink, as NetworkPolicies that allow the same. Without its source, nothing says which Pods one selects. */
export function companionsAsPolicies(
  policies: readonly NetworkPolicy[],
  objects: readonly ObservedCompanion[],
): readonly NetworkPolicy[] {
  return wholeCompanions(objects).flatMap(({ source, direction, rules, object: { metadata } }) => {
    const { namespace } = metadata;
    const of = policies.find((policy) => nameOf(policy) === `${namespace}/${source}`);
    if (of === undefined) return [];
    const { podSelector } = of.spec;
    const written = rules.map(({ ports, cidrs }) => ({ ports, peers: cidrs.map(addressPeer) }));
    const [ingress, egress] = [
      written.map(({ ports, peers }) => ({ ports, from: peers })),
      written.map(({ ports, peers }) => ({ ports, to: peers })),
    ];
    const spec =
      direction === 'ingress'
        ? { podSelector, policyTypes: ['Ingress'], ingress, egress: [] }
        : { podSelector, policyTypes: ['Egress'], ingress: [], egress };
    return [{ metadata: { ...metadata, generation: 0 }, spec }];
  });
}

const addressPeer = (cidr: string): NetworkPolicyPeer => ({
  podSelector: EVERYTHING,
  namespaceSelector: undefined,
  ipBlock: { cidr, except: [] },
});

/** What the NetworkPolicies of one cluster say about a flow. */
export type SideVerdict = {
  readonly allowed: boolean;
  /** `namespace/name` of the policies that isolate the subject in this direction, without companions; sorted. */
  readonly isolatedBy: readonly string[];
  readonly by: AllowedBy | undefined;
  /** If nothing allows it: for each isolating policy what comes nearest, sorted. */
  readonly misses: readonly { readonly networkPolicy: string; readonly detail: string }[];
};

/**
 * Says whether NetworkPolicies allow a flow, and which, as a CNI evaluates them now: Pods of other clusters are addresses
 * to it, so there a companion must have the address.
 */
export function sideVerdict(input: SideInput): SideVerdict {
  const { direction, subject, policies } = input;
  const type = direction === 'ingress' ? 'Ingress' : 'Egress';
  const selecting = policies
    .filter(
      ({ metadata, spec }) =>
        metadata.namespace === subject.namespace &&
        spec.policyTypes.includes(type) &&
        selects(spec.podSelector, subject.labels),
    )
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const own = selecting.filter((policy) => !isCompanion(policy));
  const isolatedBy = own.map(nameOf);
  // What NetworkPolicies mean for a Pod on its node's network is not defined, and most CNIs leave it out.
  if (selecting.length === 0 || subject.hostNetwork) return { allowed: true, isolatedBy, by: undefined, misses: [] };
  for (const policy of selecting) {
    const by = allowedBy(policy, input);
    if (by !== undefined) return { allowed: true, isolatedBy, by, misses: [] };
  }
  const misses = own.map((policy) => ({ networkPolicy: nameOf(policy), detail: nearestMiss(policy, input) }));
  return { allowed: false, isolatedBy, by: undefined, misses };
}

type Rule = { readonly ports: readonly NetworkPolicyPort[]; readonly peers: readonly NetworkPolicyPeer[] };

const rulesOf = ({ spec }: NetworkPolicy, direction: Direction): readonly Rule[] =>
  direction === 'ingress'
    ? spec.ingress.map(({ ports, from }) => ({ ports, peers: from }))
    : spec.egress.map(({ ports, to }) => ({ ports, peers: to }));

const nameOf = ({ metadata }: NetworkPolicy): string => `${metadata.namespace}/${metadata.name}`;

function allowedBy(policy: ReadPolicy, input: SideInput): AllowedBy | undefined {
  const named = input.direction === 'ingress' ? input.subject.namedPorts : localPodOf(input.peer)?.namedPorts;
  for (const [i, { ports, peers }] of rulesOf(policy, input.direction).entries()) {
    const peer = peers.findIndex((each) => isSelected(each, policy, input.peer));
    if ((peers.length > 0 && peer < 0) || !allowsPort(ports, input.port, named)) continue;
    const at = { rule: i + 1, peer: peers.length === 0 ? undefined : peer + 1 };
    if (!isCompanion(policy)) return { networkPolicy: nameOf(policy), ...at, companion: undefined };
    return { ...meantBy(policy, input, at), companion: nameOf(policy), companionWrittenAt: writtenAt(policy) };
  }
  return undefined;
}

function writtenAt({ metadata: { managedFields = [] } }: ReadPolicy): string | undefined {
  return managedFields.length === 0
    ? undefined
    : new Date(Math.max(...managedFields.map(({ time }) => time))).toISOString();
}

/** The rule of the user that a companion carries out; its own rule if the user's policy says that no more. */
function meantBy(companion: NetworkPolicy, input: SideInput, at: Pick<AllowedBy, 'rule' | 'peer'>) {
  const source = input.policies.find((policy) => nameOf(policy) === sourceNameOf(companion));
  const meant = source && meaning(source, input);
  return meant === undefined
    ? { networkPolicy: sourceNameOf(companion), ...at }
    : { networkPolicy: nameOf(source!), ...meant };
}

const sourceNameOf = (companion: NetworkPolicy): string =>
  `${companion.metadata.namespace}/${observedCompanion(companion).source}`;

/** The rule and the peer by which a policy means a Pod of another cluster, on this port. */
function meaning(policy: NetworkPolicy, input: SideInput): { rule: number; peer: number } | undefined {
  for (const [i, { ports, peers }] of rulesOf(policy, input.direction).entries()) {
    const peer = peers.findIndex((each) => missOfRemote(each, input) === undefined);
    if (peer >= 0 && allowsPort(ports, input.port, meantPorts(input))) return { rule: i + 1, peer: peer + 1 };
  }
  return undefined;
}

/** A port's name is the destination's. Companions have the numbers behind the names of a remote Pod. */
const meantPorts = ({ direction, subject, peer }: SideInput): readonly NamedPort[] | undefined =>
  direction === 'ingress' ? subject.namedPorts : peer.pod?.namedPorts;

const localPodOf = ({ pod, remote }: FlowPeer): FlowPod | undefined => (remote === undefined ? pod : undefined);

/** Whether a CNI lets a peer select the other end. */
function isSelected(peer: NetworkPolicyPeer, policy: NetworkPolicy, end: FlowPeer): boolean {
  const { ipBlock, namespaceSelector, podSelector } = peer;
  if (ipBlock.cidr !== '') return end.ip !== undefined && isInBlock(ipBlock, end.ip);
  const pod = localPodOf(end);
  if (pod === undefined || pod.hostNetwork) return false;
  const isInNamespace =
    namespaceSelector === undefined
      ? pod.namespace === policy.metadata.namespace
      : selects(namespaceSelector, pod.namespaceLabels);
  return isInNamespace && selects(podSelector, pod.labels);
}

function isInBlock({ cidr, except }: NetworkPolicyPeer['ipBlock'], ip: string): boolean {
  const isIn = (block: string): boolean => {
    const parsed = parseCidr(block);
    return parsed.ok && contains(parsed.value, ip);
  };
  return isIn(cidr) && !except.some(isIn);
}

function allowsPort(
  ports: readonly NetworkPolicyPort[],
  { port, protocol }: FlowPort,
  named: readonly NamedPort[] = [],
): boolean {
  const allows = (each: NetworkPolicyPort): boolean => {
    if (each.protocol !== protocol) return false;
    if (typeof each.port === 'string')
      return named.find(({ name, protocol: of }) => name === each.port && of === protocol)?.port === port;
    return each.port === 0 || each.port === port || (each.port <= port && port <= each.endPort);
  };
  return ports.length === 0 || ports.some(allows);
}

/** How near a rule comes to allow a flow, nearest first. */
const NEARNESS = ['companion', 'port', 'pod', 'namespace', 'cluster', 'none'] as const;

type Miss = { readonly nearness: (typeof NEARNESS)[number]; readonly detail: string };

function nearestMiss(policy: NetworkPolicy, input: SideInput): string {
  const misses = rulesOf(policy, input.direction).flatMap(({ ports, peers }, i) =>
    (peers.length === 0 ? [undefined] : peers).map((peer, j): Miss => {
      const { nearness, detail } = missOf(peer, { ports, policy, input });
      const at = peer === undefined ? `rule ${i + 1}` : `rule ${i + 1}, peer ${j + 1}`;
      return { nearness, detail: `${at}: ${detail}` };
    }),
  );
  const nearest = misses.toSorted((a, b) => NEARNESS.indexOf(a.nearness) - NEARNESS.indexOf(b.nearness))[0];
  return nearest?.detail ?? `it has no rule for ${input.direction}`;
}

type MissContext = {
  readonly ports: readonly NetworkPolicyPort[];
  readonly policy: NetworkPolicy;
  readonly input: SideInput;
};

function missOf(peer: NetworkPolicyPeer | undefined, { ports, policy, input }: MissContext): Miss {
  const { peer: end } = input;
  const port: Miss = {
    nearness: 'port',
    detail: `it allows ${portsText(ports)}, not ${input.port.port}/${input.port.protocol}`,
  };
  if (peer === undefined || isSelected(peer, policy, end)) return port;
  if (peer.ipBlock.cidr !== '')
    return { nearness: 'none', detail: `${end.ip ?? 'the Pod, which has no address,'} is not in ${peer.ipBlock.cidr}` };
  if (end.pod === undefined)
    return { nearness: 'none', detail: 'it selects Pods, and no address that is no known Pod' };
  if (end.pod.hostNetwork) return { nearness: 'pod', detail: 'it selects no Pod that uses the network of its node' };
  if (end.remote === undefined) return missOfLabels(peer, end.pod, policy.metadata.namespace);
  const miss = missOfRemote(peer, input);
  if (miss !== undefined) return miss;
  return allowsPort(ports, input.port, meantPorts(input))
    ? { nearness: 'companion', detail: companionMiss(policy, input) }
    : port;
}

/** Why a peer doesn't mean a Pod of another cluster; undefined: it does. */
function missOfRemote(
  { namespaceSelector, podSelector, ipBlock }: NetworkPolicyPeer,
  { peer: { pod, remote }, key }: Pick<SideInput, 'peer' | 'key'>,
): Miss | undefined {
  if (pod === undefined || remote === undefined || pod.hostNetwork || ipBlock.cidr !== '')
    return { nearness: 'none', detail: 'it means no Pod of another cluster' };
  if (namespaceSelector === undefined || requirementsOn(key, namespaceSelector).length === 0)
    return {
      nearness: 'none',
      detail: `its namespaceSelector does not name ${key}, so it selects no Pod of another cluster`,
    };
  if (remote.id === undefined)
    return {
      nearness: 'cluster',
      detail: `it names clusters, and which is ${remote.name} is not known: set -local-cluster-name`,
    };
  if (!namesCluster({ namespaceSelector, podSelector }, key, remote.id, remote.labels))
    return { nearness: 'cluster', detail: `it names other clusters than ${remote.id}` };
  if (pod.finished) return { nearness: 'pod', detail: 'it selects no Pod that has finished' };
  return missOfSelectors({ namespaceSelector, podSelector }, pod);
}

function missOfLabels({ namespaceSelector, podSelector }: NetworkPolicyPeer, pod: FlowPod, namespace: string): Miss {
  if (namespaceSelector === undefined && pod.namespace !== namespace)
    return { nearness: 'namespace', detail: `it selects Pods of the namespace ${namespace}` };
  return missOfSelectors({ namespaceSelector: namespaceSelector ?? EVERYTHING, podSelector }, pod)!;
}

const EVERYTHING: LabelSelector = { matchLabels: {}, matchExpressions: [] };

function missOfSelectors(
  { namespaceSelector, podSelector }: { namespaceSelector: LabelSelector; podSelector: LabelSelector },
  pod: FlowPod,
): Miss | undefined {
  if (!selects(namespaceSelector, pod.namespaceLabels))
    return {
      nearness: 'namespace',
      detail: `the namespace ${pod.namespace} does not match ${selectorText(namespaceSelector)}`,
    };
  if (!selects(podSelector, pod.labels))
    return { nearness: 'pod', detail: `the labels of the Pod do not match ${selectorText(podSelector)}` };
  return undefined;
}

/** `app=web,tier in (a,b)`, as kubectl writes it. */
function selectorText({ matchLabels, matchExpressions }: LabelSelector): string {
  const expressions = matchExpressions.map(({ key, operator, values }) => {
    if (operator === 'Exists') return key;
    return operator === 'DoesNotExist' ? `!${key}` : `${key} ${operator.toLowerCase()} (${values.join(',')})`;
  });
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join(',');
}

/** Why a policy that means a remote Pod has no companion that lets its address in. */
function companionMiss(source: NetworkPolicy, { policies, peer, direction }: SideInput): string {
  const { name, refusal } = peer.remote!;
  if (peer.ip === undefined) return 'it allows this, but the Pod has no address';
  if (refusal !== undefined) return `it allows this, but not the address: ${refusal}`;
  const companions = policies
    .filter((policy) => isCompanion(policy) && sourceNameOf(policy) === nameOf(source))
    .map(observedCompanion)
    .filter((companion) => companion.remote === name && companion.direction === direction);
  if (companions.length === 0) return `it allows this, but has no companion for ${name}: is -network-policies on?`;
  const generation = String(source.metadata.generation);
  const behind = companions.find((companion) => generationOf(companion) !== generation);
  if (behind === undefined) return `it allows this, but its companion for ${name} does not have ${peer.ip} yet`;
  const older = generationOf(behind) ?? 'unknown';
  return `it allows this, but its companion for ${name} is of generation ${older}, and the policy of ${generation}`;
}
