import type { NetworkPolicy, NetworkPolicyPeer } from '@kube-semaphore/kube-objects';
import { companionPeersAnnotation } from '../names.ts';
import { isCompanion, observedCompanion, type ObservedCompanion } from '../companions/companion.ts';
import { generationOf } from '../companions/diff.ts';
import {
  allowsPort,
  isSelected,
  localPodOf,
  meantPorts,
  nameOf,
  type ReadPolicy,
  rulesOf,
  type SideInput,
  sourceNameOf,
} from './flow.ts';
import { wholeCompanions } from '../sinks/grouped-sink.ts';
import { missOfRemote, nearestMiss } from './nearest-miss.ts';
import { selects } from '../policies/selector.ts';

/** What allows a flow: a rule of a user, or a companion. Rules and peers are counted from 1. */
export type AllowedBy = {
  /** Of the user, also if it is gone. */
  readonly networkPolicy: string;
  /** Undefined: a companion allows it, and no rule of this version of the NetworkPolicy is known to. `detail` says why. */
  readonly rule: number | undefined;
  /** Undefined: as `rule`, or the rule has no peers. */
  readonly peer: number | undefined;
  readonly detail?: string;
  /** What lets the address of a Pod of another cluster in. */
  readonly companion: AllowingCompanion | undefined;
};

export type AllowingCompanion = {
  readonly name: string;
  /** The version of the NetworkPolicy that it is made of; undefined: somebody broke it. */
  readonly generation: string | undefined;
  /** The version of the NetworkPolicy now; undefined: it is gone. */
  readonly generationNow: string | undefined;
  /** RFC 3339. The address may have been in it before. Undefined: not known. */
  readonly writtenAt: string | undefined;
};

/** For people: `alpha/db, rule 1, peer 1`. */
export function ruleText({ networkPolicy, rule, peer }: AllowedBy): string {
  if (rule === undefined) return `a companion alone, and not by ${networkPolicy}`;
  return `${networkPolicy}, rule ${rule}${peer === undefined ? ', for everybody' : `, peer ${peer}`}`;
}

/** For people: `its companion alpha/db-c2 has the address: generation 3 of 3, written at …`. */
export function companionText({ name, generation = 'unknown', generationNow, writtenAt }: AllowingCompanion): string {
  const now = generationNow === undefined ? '' : ` of ${generationNow}`;
  const written = writtenAt === undefined ? '' : `, written at ${writtenAt}`;
  return `its companion ${name} has the address: generation ${generation}${now}${written}`;
}

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
    const texts = JSON.stringify(rules.map(({ text }) => text));
    const annotations = { ...metadata.annotations, [companionPeersAnnotation]: texts };
    return [{ metadata: { ...metadata, annotations, generation: 0 }, spec }];
  });
}

const addressPeer = (cidr: string): NetworkPolicyPeer => ({
  podSelector: { matchLabels: {}, matchExpressions: [] },
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
  const { subject } = input;
  const selecting = selectingIn(input);
  const own = selecting.filter((policy) => !isCompanion(policy));
  const isolatedBy = own.map(nameOf);
  // What NetworkPolicies do to a Pod on its node's network is not defined. Most CNIs ignore them.
  if (selecting.length === 0 || subject.hostNetwork) return { allowed: true, isolatedBy, by: undefined, misses: [] };
  const allowing = selecting.flatMap((policy) => allowedBy(policy, input) ?? []);
  const by = allowing.find(({ rule }) => rule !== undefined) ?? allowing[0];
  if (by !== undefined) return { allowed: true, isolatedBy, by, misses: [] };
  const misses = own.map((policy) => ({ networkPolicy: nameOf(policy), detail: nearestMiss(policy, input) }));
  return { allowed: false, isolatedBy, by: undefined, misses };
}

/** The NetworkPolicies that mean a Pod of another cluster on this port, sorted. If nothing allows it, they lack a companion. */
export const meaningIn = (input: SideInput): readonly string[] =>
  selectingIn(input)
    .filter((policy) => !isCompanion(policy) && meaning(policy, input) !== undefined)
    .map(nameOf);

/** Those that are about the subject, sorted. */
function selectingIn({ direction, subject, policies }: SideInput): readonly ReadPolicy[] {
  const type = direction === 'ingress' ? 'Ingress' : 'Egress';
  return policies
    .filter(
      ({ metadata, spec }) =>
        metadata.namespace === subject.namespace &&
        spec.policyTypes.includes(type) &&
        selects(spec.podSelector, subject.labels),
    )
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function allowedBy(policy: ReadPolicy, input: SideInput): AllowedBy | undefined {
  const named = input.direction === 'ingress' ? input.subject.namedPorts : localPodOf(input.peer)?.namedPorts;
  for (const [i, { ports, peers }] of rulesOf(policy, input.direction).entries()) {
    const peer = peers.findIndex((each) => isSelected(each, policy, input.peer));
    if ((peers.length > 0 && peer < 0) || !allowsPort(ports, input.port, named)) continue;
    if (isCompanion(policy)) return allowedByCompanion(policy, input);
    const at = { rule: i + 1, peer: peers.length === 0 ? undefined : peer + 1 };
    return { networkPolicy: nameOf(policy), ...at, companion: undefined };
  }
  return undefined;
}

/** With the rule that the companion carries out, if the user's policy still has it: the companion may be behind. */
function allowedByCompanion(companion: ReadPolicy, input: SideInput): AllowedBy {
  const networkPolicy = sourceNameOf(companion);
  const source = input.policies.find((policy) => nameOf(policy) === networkPolicy);
  const generationNow = source && String(source.metadata.generation);
  const allowing = {
    name: nameOf(companion),
    generation: generationOf(observedCompanion(companion)),
    generationNow,
    writtenAt: writtenAt(companion),
  };
  const meant = source && meaning(source, input);
  if (meant !== undefined) return { networkPolicy, ...meant, companion: allowing };
  return { networkPolicy, rule: undefined, peer: undefined, detail: onlyCompanion(source, input), companion: allowing };
}

function onlyCompanion(source: NetworkPolicy | undefined, input: SideInput): string {
  const { ip, pod } = input.peer;
  if (source === undefined) return 'it is gone';
  return pod === undefined ? `which of its rules means ${ip} is not known` : nearestMiss(source, input);
}

function writtenAt({ metadata: { managedFields = [] } }: ReadPolicy): string | undefined {
  return managedFields.length === 0
    ? undefined
    : new Date(Math.max(...managedFields.map(({ time }) => time))).toISOString();
}

/** The rule and the peer by which a policy means a Pod of another cluster, on this port. */
function meaning(policy: NetworkPolicy, input: SideInput): { rule: number; peer: number } | undefined {
  for (const [i, { ports, peers }] of rulesOf(policy, input.direction).entries()) {
    const peer = peers.findIndex((each) => missOfRemote(each, input) === undefined);
    if (peer >= 0 && allowsPort(ports, input.port, meantPorts(input))) return { rule: i + 1, peer: peer + 1 };
  }
  return undefined;
}
