import { addressRefusal, type AddressRules, type Cidr } from '@kube-semaphore/net';
import type { NetworkPolicy, PodOnNode } from '@kube-semaphore/kube-objects';
import {
  type AllowedBy,
  clusterSetLabel,
  companionText,
  type FlowPod,
  flowPodOf,
  type FlowPort,
  type Labels,
  lossWords,
  meaningIn,
  remotePeer,
  ruleText,
  type SideInput,
  sideVerdict,
  type SideVerdict,
} from '@kube-semaphore/network-policies';
import type { CalicoObjects } from '../../clusters/calico.ts';
import type { NamedClusterPolicy } from '../../clusters/cluster-policies.ts';
import { allOf, mapRead, type Read } from '../../clusters/objects.ts';
import type { AppPod } from '../../clusters/report.ts';
import { rangesIn } from '../../masquerade/masquerader.ts';
import {
  kubectl,
  linkNetworkPolicies,
  namesOf,
  ok,
  policyPlan,
  remoteOf,
  type SideFacts,
  statusesOf,
  unknown,
  type HopResult,
  wrong,
} from '../facts.ts';
import { tieredVerdict } from '../policies/tiered-verdict.ts';

type PolicyEnd = { readonly at: SideFacts; readonly pod: Read<PodOnNode>; readonly ip: Read<string> };

type Flow = { readonly subject: PolicyEnd; readonly peer: PolicyEnd; readonly port: Read<FlowPort> };

/**
 * What the NetworkPolicies of the subject's cluster say, Calico's own policies, and those for the whole cluster. The config
 * of semaphore-policy there says how the other cluster is called.
 */
export function policyHop(direction: 'egress' | 'ingress', flow: Flow): HopResult {
  const read = readFlow(direction, flow);
  if (!read.known) return unknown(read.why);
  const { value: known } = read;
  const { subject, port } = known;
  const { at } = flow.subject;
  const verdict = sideVerdict(sideInput(known, { isLimited: true }));
  const decision = tieredVerdict(
    {
      direction,
      subject: { ...subject, ip: known.subjectIp, serviceAccount: known.serviceAccount },
      peerIp: known.peerIp,
      port,
      objects: known.calico,
      clusterPolicies: known.clusterPolicies,
    },
    verdict,
  );
  const packets = `${direction} on ${port.port}/${port.protocol}`;
  const own = `${packets} of ${subject.namespace}/${subject.name}`;
  if (decision.result === 'unknown') return unknown(`${own}: ${decision.detail}`);
  if (decision.by !== undefined) {
    const { resource, namespace, name } = decision.by;
    const scope = namespace === undefined ? [] : ['-n', namespace];
    return decision.result === 'allowed'
      ? ok(`${packets} is allowed ${decision.detail}`)
      : wrong(
          `${own} is denied ${decision.detail}`,
          kubectl(at.cluster, ...scope, 'get', resource, name, '-o', 'yaml'),
        );
  }
  if (decision.result === 'denied') return deniedHop(`${own} is denied`, known, verdict);
  return ok(
    verdict.by === undefined ? `no policy denies ${packets}` : `${packets} is allowed by ${byText(verdict.by)}`,
  );
}

/** What decides about packets between two Pods, in the cluster of the subject. */
type KnownFlow = {
  readonly direction: 'egress' | 'ingress';
  readonly at: SideFacts;
  readonly config: PolicyConfig;
  readonly subject: FlowPod;
  readonly subjectIp: string;
  readonly serviceAccount: string;
  readonly peerAt: SideFacts;
  readonly peer: FlowPod;
  readonly peerIp: string;
  /** Why the peer's address isn't let in. */
  readonly refusal: string | undefined;
  /** The selector of `-remote-pod-selector`, if the peer doesn't match it. */
  readonly excludedBy: string | undefined;
  readonly port: FlowPort;
  readonly policies: readonly NetworkPolicy[];
  readonly calico: CalicoObjects;
  readonly clusterPolicies: readonly NamedClusterPolicy[];
};

function readFlow(direction: KnownFlow['direction'], { subject, peer, port }: Flow): Read<KnownFlow> {
  const { at } = subject;
  const read = allOf({
    pod: subject.pod,
    policies: at.policies,
    calico: at.calico,
    clusterPolicies: at.clusterPolicies,
    labels: namespaceLabels(at),
    peer: peer.pod,
    selectable: peer.at.selectable,
    subjectIp: subject.ip,
    peerIp: peer.ip,
    peerLabels: namespaceLabels(peer.at),
    port,
  });
  return mapRead(read, ({ pod, labels, peerLabels, selectable, ...value }) => {
    const config = configOf(at, peer.at);
    const { families, allowed, local } = config;
    const addresses = { families, allowed, local, services: at.serviceRanges };
    return {
      ...value,
      direction,
      at,
      config,
      subject: flowPodOf(pod, labels),
      serviceAccount: pod.spec.serviceAccountName,
      peerAt: peer.at,
      peer: flowPodOf(value.peer, peerLabels),
      refusal: addressRefusal(value.peerIp, addresses)?.detail ?? lossText(peer.at, value.peer, value.peerIp),
      excludedBy: selectable?.pods.has(value.peer.metadata.name) === false ? selectable.selector : undefined,
    };
  });
}

/** What the config of semaphore-policy in a cluster says of another one. */
type PolicyConfig = Pick<SideInput, 'key' | 'maxAddressesPerSource'> & {
  /** Of the other cluster. `id` is undefined if NetworkPolicies may call it anything. */
  readonly remote: { readonly name: string; readonly id: string | undefined; readonly labels: Labels };
  readonly families: AddressRules['families'];
  readonly allowed: readonly Cidr[] | undefined;
  readonly local: readonly Cidr[];
  /** A Pod to ask for its plan. */
  readonly planner: AppPod | undefined;
  /** Why no NetworkPolicy is extended; undefined: they are, or this isn't known. */
  readonly off: string | undefined;
};

function configOf(at: SideFacts, other: SideFacts): PolicyConfig {
  const status = statusesOf(at, 'semaphore-policy').find((each) => remoteOf(each, other) !== undefined);
  const { clusterSetKey = clusterSetLabel, localCIDRs, networkPolicies, maxAddressesPerSource } = status?.config ?? {};
  const remote = status && remoteOf(status, other);
  const { families, allowedPodCIDRs, clusterSetID, labels = {} } = remote?.config ?? {};
  const planner = at.report.pods.find(({ app }) => app === 'semaphore-policy');
  const isMissing = planner === undefined && at.report.failure === undefined;
  const off = isMissing
    ? 'there is no semaphore-policy'
    : networkPolicies === false
      ? 'semaphore-policy has -network-policies off'
      : undefined;
  return {
    key: clusterSetKey,
    maxAddressesPerSource,
    remote: {
      name: remote?.name ?? other.cluster,
      id: clusterSetID ?? (isMissing ? namesOf(other)[0] : undefined),
      labels,
    },
    families: families ?? undefined,
    allowed: allowedPodCIDRs ? rangesIn(allowedPodCIDRs) : undefined,
    local: rangesIn(localCIDRs ?? []),
    planner,
    off,
  };
}

/** @param isLimited whether `-remote-pod-selector` counts */
function sideInput(known: KnownFlow, { isLimited }: { readonly isLimited: boolean }): SideInput {
  const { direction, subject, peer, peerIp: ip, port, policies, config, refusal } = known;
  const { key, maxAddressesPerSource } = config;
  const excludedBy = isLimited ? known.excludedBy : undefined;
  const remote = { ...config.remote, refusal, excludedBy };
  return {
    direction,
    subject,
    peer: remotePeer(peer, { ip, remote, key }),
    port,
    policies,
    key,
    maxAddressesPerSource,
  };
}

function byText(by: AllowedBy): string {
  const { detail, companion } = by;
  const rule = detail === undefined ? ruleText(by) : `${ruleText(by)}: ${detail}`;
  return companion === undefined ? rule : `${rule}; ${companionText(companion)}`;
}

/** Why NetworkPolicies deny, with what mends it. */
function deniedHop(denied: string, known: KnownFlow, { isolatedBy, misses }: SideVerdict): HopResult {
  const { at, peerAt, peer, subject, excludedBy, config } = known;
  const [meant] = meaningIn(sideInput(known, { isLimited: false }));
  if (meant !== undefined && config.off !== undefined)
    return wrong(
      `${denied}: ${meant} allows it, but ${config.off} in ${at.cluster}, so its rules count only for Pods of ${at.cluster}`,
      linkNetworkPolicies(at.cluster, peerAt.cluster),
    );
  const nearest = misses.map(({ networkPolicy, detail }) => `${networkPolicy}: ${detail}`).join('; ');
  const detail = `${denied}: ${nearest || 'by a companion alone'}`;
  if (meant === undefined || config.planner === undefined) {
    const [first = ''] = isolatedBy;
    const name = first.slice(first.indexOf('/') + 1);
    return wrong(detail, kubectl(at.cluster, '-n', subject.namespace, 'edit', 'networkpolicy', name));
  }
  if (excludedBy === undefined) return wrong(detail, policyPlan(at.cluster, config.planner));
  const labels = kubectl(peerAt.cluster, '-n', peer.namespace, 'get', 'pod', peer.name, '--show-labels');
  return wrong(detail, `${labels}  # or change the selector`);
}

/** Who has the address of a late Pod now. */
function lossText({ late }: SideFacts, { metadata }: PodOnNode, ip: string): string | undefined {
  const loss = late.get(`${metadata.namespace}/${metadata.name}`);
  return loss?.known === true ? lossWords(loss.value, ip) : undefined;
}

function namespaceLabels({ cluster, namespace }: SideFacts): Read<Readonly<Record<string, string>>> {
  if (!namespace.known) return namespace;
  if (namespace.value === undefined) return { known: false, why: `${cluster} does not have the namespace` };
  return { known: true, value: namespace.value.metadata.labels };
}
