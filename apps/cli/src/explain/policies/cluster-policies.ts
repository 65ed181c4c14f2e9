import { selects } from '@kube-semaphore/network-policies';
import type { ClusterPolicy } from '@kube-semaphore/kube-objects';
import type { NamedClusterPolicy } from '../../clusters/cluster-policies.ts';
import { type Ends, isSet } from './calico-policies.ts';
import { isIn } from '../facts.ts';
import { every, type Match, type Member, memberOf, type MemberRule, type PolicyFlow, some } from './member.ts';

type Spec = ClusterPolicy['spec'];
type IngressRule = Spec['ingress'][number];
type Peer = IngressRule['from'][number];
type Rule = Omit<IngressRule, 'from'> & { readonly number: number; readonly peers: readonly Peer[] };

/** Where they are without Calico: before and after the tier of NetworkPolicies. No tier of Calico can have these names. */
export const clusterTiers = [
  { name: 'Admin', order: 1000, defaultAction: 'Pass' },
  { name: 'Baseline', order: 10_000_000, defaultAction: 'Pass' },
] as const;

const CALICO_TIERS = {
  v1alpha1: { Admin: 'adminnetworkpolicy', Baseline: 'baselineadminnetworkpolicy' },
  v1alpha2: { Admin: 'kube-admin', Baseline: 'kube-baseline' },
} as const;

/** @returns undefined if it isn't known whether the network enforces this version of the API */
function tierOf({ version, tier }: NamedClusterPolicy, { objects, clusterPolicies }: PolicyFlow): string | undefined {
  const hasCalico = Object.values(objects).some((all) => all.length > 0);
  if (!hasCalico) return clusterPolicies.every((each) => each.version === version) ? tier : undefined;
  const hasTier = (name: string): boolean => objects.tiers.some((each) => each.name === name);
  // Calico 3.29 to 3.31 enforces v1alpha1, later ones enforce v1alpha2, where the old tiers stay.
  if (version === 'v1alpha1' && hasTier(CALICO_TIERS.v1alpha2.Admin)) return undefined;
  const { [tier]: name } = CALICO_TIERS[version];
  return hasTier(name) ? name : undefined;
}

/** What a policy for the whole cluster says about a packet. */
export function clusterMember(policy: NamedClusterPolicy, ends: Ends): Member {
  const { resource, subject, name, spec } = policy;
  const { flow } = ends;
  const rules =
    flow.direction === 'ingress'
      ? spec.ingress.map(({ from: peers, ...rule }) => ({ ...rule, peers }))
      : spec.egress.map(({ to: peers, ...rule }) => ({ ...rule, peers }));
  return memberOf(
    {
      policy: { resource, namespace: undefined, name },
      subject,
      tier: tierOf(policy, flow),
      order: spec.priority,
    },
    isSubject(spec.subject, flow),
    () => rules.flatMap((rule, i) => decisionsOf({ ...rule, number: i + 1 }, ends)),
  );
}

function isSubject({ namespaces, pods }: Spec['subject'], { subject }: PolicyFlow): Match {
  if (subject.hostNetwork) return false;
  if (namespaces !== undefined) return selects(namespaces, subject.namespaceLabels);
  if (pods === undefined) return 'its subject';
  return selects(pods.namespaceSelector, subject.namespaceLabels) && selects(pods.podSelector, subject.labels);
}

const ACTIONS: Readonly<Record<string, MemberRule['action']>> = {
  Accept: 'Allow',
  Allow: 'Allow',
  Deny: 'Deny',
  Pass: 'Pass',
};

/**
 * A network that doesn't know a kind of peer must ignore a rule that allows, and take any other for one that denies
 * everything: ClusterNetworkPolicyEgressPeer in sigs.k8s.io/network-policy-api/apis/v1alpha2.
 */
function decisionsOf({ action: name, number, peers, ports, protocols }: Rule, ends: Ends): readonly MemberRule[] {
  const action = ACTIONS[name];
  if (action === undefined) return [];
  const matches = peers.map((peer) => isPeer(peer, ends));
  const unknown = matches.indexOf(undefined);
  const unknownPeer = unknown < 0 ? undefined : `its peer ${unknown + 1}`;
  const wanted = [...ports.map(portOf), ...protocols.map(protocolOf)];
  const isForPort = wanted.length === 0 || some(wanted.map((each) => isPort(each, ends.flow)));
  const own = {
    action,
    number,
    match: every([unknownPeer ?? some(matches.map((match) => match ?? false)), isForPort]),
  };
  return unknownPeer === undefined || action === 'Allow'
    ? [own]
    : [{ action: 'Deny', number, match: unknownPeer }, own];
}

/**
 * Whether a peer has the Pod of another cluster: an address, but for Calico one of a set, too.
 *
 * @returns undefined if it has only fields that aren't evaluated
 */
function isPeer({ namespaces, pods, networks }: Peer, { flow, peer }: Ends): Match | undefined {
  if (networks.length > 0) return networks.some((network) => isIn(network, flow.peerIp));
  if (namespaces === undefined) return pods === undefined ? undefined : false;
  // A set has no labels of a namespace, and is not in all namespaces.
  const isSelected = isSet(namespaces) && selects(namespaces, {});
  return some(peer.labelled.map((each) => (typeof each === 'string' ? each : isSelected)));
}

type Range = { readonly start: number; readonly end: number };
type WantedPort = { readonly name: string; readonly protocol: string; readonly range: Range | undefined };

const portOf = ({ namedPort: name, portNumber, portRange }: Rule['ports'][number]): WantedPort => ({
  name,
  protocol: (portNumber ?? portRange)?.protocol || 'TCP',
  range: portNumber === undefined ? portRange : rangeOf(portNumber.port),
});

function protocolOf({ destinationNamedPort: name, tcp, udp, sctp }: Rule['protocols'][number]): WantedPort {
  const protocol = tcp !== undefined ? 'TCP' : udp !== undefined ? 'UDP' : 'SCTP';
  const { number = 0, range } = (tcp ?? udp ?? sctp)?.destinationPort ?? {};
  return { name, protocol, range: range ?? rangeOf(number) };
}

const rangeOf = (port: number): Range | undefined => (port === 0 ? undefined : { start: port, end: port });

/** An address has no names of ports. */
function isPort({ name, protocol, range }: WantedPort, { direction, subject, port }: PolicyFlow): Match {
  if (name !== '')
    return (
      direction === 'ingress' &&
      subject.namedPorts.some(
        (each) => each.name === name && each.protocol === port.protocol && each.port === port.port,
      )
    );
  if (range === undefined) return 'its port';
  return protocol === port.protocol && range.start <= port.port && port.port <= range.end;
}
