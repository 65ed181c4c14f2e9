import { addressRefusal, parseCidr } from '@kube-semaphore/net';
import type { PodOnNode } from '@kube-semaphore/kube-objects';
import {
  clusterSetLabel,
  companionText,
  flowPodOf,
  type FlowPort,
  lossWords,
  remotePeer,
  ruleText,
  sideVerdict,
  meaningIn,
  type SideInput,
} from '@kube-semaphore/network-policies';
import { allOf, type Read } from '../clusters/objects.ts';
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
  type Verdict,
  wrong,
} from './facts.ts';
import { tieredVerdict } from './tiered-verdict.ts';

export type PolicyEnd = { readonly at: SideFacts; readonly pod: Read<PodOnNode>; readonly ip: Read<string> };

/**
 * What the NetworkPolicies of the subject's cluster say, by the decision of `semaphore-policy explain`, Calico's own
 * policies, and those for the whole cluster. The config of semaphore-policy there says how the other cluster is called.
 */
export function policyHop(
  direction: 'egress' | 'ingress',
  { subject, peer, port }: { subject: PolicyEnd; peer: PolicyEnd; port: Read<FlowPort> },
): Verdict {
  const { at } = subject;
  const labels = namespaceLabels(at);
  const peerLabels = namespaceLabels(peer.at);
  const read = allOf({
    pod: subject.pod,
    policies: at.policies,
    calico: at.calico,
    clusterPolicies: at.clusterPolicies,
    labels,
    peer: peer.pod,
    selectable: peer.at.selectable,
    subjectIp: subject.ip,
    ip: peer.ip,
    peerLabels,
    port,
  });
  if (!read.known) return unknown(read.why);
  const { value } = read;
  const status = statusesOf(at, 'semaphore-policy').find((each) => remoteOf(each, peer.at) !== undefined);
  const { clusterSetKey: key = clusterSetLabel, localCIDRs } = status?.config ?? {};
  const remote = status && remoteOf(status, peer.at);
  const addresses = { allowed: cidrsOf(remote?.config.allowedPodCIDRs), local: cidrsOf(localCIDRs) ?? [] };
  const pod = flowPodOf(value.pod, value.labels);
  const planner = at.report.pods.find(({ app }) => app === 'semaphore-policy');
  const isMissing = planner === undefined && at.report.failure === undefined;
  const excludedBy =
    value.selectable?.pods.has(value.peer.metadata.name) === false ? value.selectable.selector : undefined;
  const input = (isExcluded: boolean): SideInput => ({
    direction,
    subject: pod,
    peer: remotePeer(flowPodOf(value.peer, value.peerLabels), {
      ip: value.ip,
      remote: {
        name: remote?.name ?? peer.at.cluster,
        id: remote?.config.clusterSetID ?? (isMissing ? namesOf(peer.at)[0] : undefined),
        labels: remote?.config.labels ?? {},
        refusal: addressRefusal(value.ip, addresses)?.detail ?? lossText(peer.at, value.peer, value.ip),
        excludedBy: isExcluded ? excludedBy : undefined,
      },
      key,
    }),
    port: value.port,
    policies: value.policies,
    key,
  });
  const verdict = sideVerdict(input(true));
  const { by, isolatedBy, misses } = verdict;
  const flow = `${direction} on ${value.port.port}/${value.port.protocol}`;
  const { namespace, name } = pod;
  const tiered = tieredVerdict(
    {
      direction,
      subject: { ...pod, ip: value.subjectIp, serviceAccount: value.pod.spec.serviceAccountName },
      peerIp: value.ip,
      port: value.port,
      objects: value.calico,
      clusterPolicies: value.clusterPolicies,
    },
    verdict,
  );
  if (tiered.result === 'unknown') return unknown(`${flow} of ${namespace}/${name}: ${tiered.detail}`);
  const isAllowed = tiered.result === 'allowed';
  if (tiered.by !== undefined) {
    const { resource, namespace: own, name: policy } = tiered.by;
    const scope = own === undefined ? [] : ['-n', own];
    return isAllowed
      ? ok(`${flow} is allowed ${tiered.detail}`)
      : wrong(
          `${flow} of ${namespace}/${name} is denied ${tiered.detail}`,
          kubectl(at.cluster, ...scope, 'get', resource, policy, '-o', 'yaml'),
        );
  }
  if (isAllowed && by === undefined) return ok(`no policy denies ${flow}`);
  if (isAllowed && by !== undefined) {
    const { detail, companion } = by;
    const parts = [ruleText(by), ...(detail === undefined ? [] : [detail])];
    return ok(
      `${flow} is allowed by ${[parts.join(': '), ...(companion ? [companionText(companion)] : [])].join('; ')}`,
    );
  }
  const denied = `${flow} of ${namespace}/${name} is denied`;
  const [meant] = meaningIn(input(false));
  if (meant !== undefined && (isMissing || status?.config.networkPolicies === false)) {
    const why = isMissing ? 'there is no semaphore-policy' : 'semaphore-policy has -network-policies off';
    return wrong(
      `${denied}: ${meant} allows it, but ${why} in ${at.cluster}, so its rules count only for Pods of ${at.cluster}`,
      linkNetworkPolicies(at.cluster, peer.at.cluster),
    );
  }
  const nearest = misses.map(({ networkPolicy, detail }) => `${networkPolicy}: ${detail}`).join('; ');
  const [first = ''] = isolatedBy;
  const edit = kubectl(at.cluster, '-n', namespace, 'edit', 'networkpolicy', first.slice(first.indexOf('/') + 1));
  const cure = (): string => {
    if (meant === undefined || planner === undefined) return edit;
    const { namespace: other, name: excluded } = value.peer.metadata;
    return excludedBy === undefined
      ? policyPlan(at.cluster, planner)
      : `${kubectl(peer.at.cluster, '-n', other, 'get', 'pod', excluded, '--show-labels')}  # or change the selector`;
  };
  return wrong(`${denied}: ${nearest || 'by a companion alone'}`, cure());
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

const cidrsOf = (texts: readonly string[] | null | undefined) =>
  texts?.flatMap((text) => {
    const cidr = parseCidr(text);
    return cidr.ok ? [cidr.value] : [];
  });
