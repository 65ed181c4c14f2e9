import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, PodWithPorts } from '@kube-semaphore/kube-objects';
import { contains, parseCidr } from '@kube-semaphore/net';
import { isFinished, isReleased } from '../pods/unusable-pod.ts';
import { observedCompanion } from '../companions/companion.ts';
import { type ClusterKey, type Direction, remoteNamespaceLabels } from '../policies/cross-cluster-rules.ts';
import { namedPortsOf } from '../pods/peer-pod.ts';
import type { NamedPort } from '../policies/ports.ts';
import { type Labels, selects } from '../policies/selector.ts';

/** A Pod as policies see it. */
export type FlowPod = {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  /** For a Pod of another cluster as `remoteNamespaceLabels` has them. */
  readonly namespaceLabels: Labels;
  readonly namedPorts: readonly NamedPort[];
  readonly hostNetwork: boolean;
  /** Or Calico took its address back. */
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
  finished: isFinished(status) || isReleased(metadata),
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
        /** Why it may not bring in the address. */
        readonly refusal: string | undefined;
        /** The selector of `-remote-pod-selector`, if the Pod doesn't match it: no policy selects it then. */
        readonly excludedBy?: string | undefined;
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
export type ReadPolicy = NetworkPolicy & {
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
  /** `-max-addresses-per-source` in that cluster. Default: not known. */
  readonly maxAddressesPerSource?: number | undefined;
};

export type Rule = { readonly ports: readonly NetworkPolicyPort[]; readonly peers: readonly NetworkPolicyPeer[] };

export const rulesOf = ({ spec }: NetworkPolicy, direction: Direction): readonly Rule[] =>
  direction === 'ingress'
    ? spec.ingress.map(({ ports, from }) => ({ ports, peers: from }))
    : spec.egress.map(({ ports, to }) => ({ ports, peers: to }));

export const nameOf = ({ metadata }: NetworkPolicy): string => `${metadata.namespace}/${metadata.name}`;

export const sourceNameOf = (companion: NetworkPolicy): string =>
  `${companion.metadata.namespace}/${observedCompanion(companion).source}`;

/** A port's name is the destination's. Companions have the numbers behind the names of a remote Pod. */
export const meantPorts = ({ direction, subject, peer }: SideInput): readonly NamedPort[] | undefined =>
  direction === 'ingress' ? subject.namedPorts : peer.pod?.namedPorts;

export const localPodOf = ({ pod, remote }: FlowPeer): FlowPod | undefined => (remote === undefined ? pod : undefined);

/** Whether a CNI lets a peer select the other end. */
export function isSelected(peer: NetworkPolicyPeer, policy: NetworkPolicy, end: FlowPeer): boolean {
  const { ipBlock, namespaceSelector, podSelector } = peer;
  if (ipBlock.cidr !== '') return end.ip !== undefined && hasAddress(ipBlock, end.ip);
  const pod = localPodOf(end);
  if (pod === undefined || pod.hostNetwork) return false;
  const isInNamespace =
    namespaceSelector === undefined
      ? pod.namespace === policy.metadata.namespace
      : selects(namespaceSelector, pod.namespaceLabels);
  return isInNamespace && selects(podSelector, pod.labels);
}

function hasAddress({ cidr, except }: NetworkPolicyPeer['ipBlock'], ip: string): boolean {
  const isIn = (text: string): boolean => {
    const block = parseCidr(text);
    return block.ok && contains(block.value, ip);
  };
  return isIn(cidr) && !except.some(isIn);
}

export function allowsPort(
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
