import type { LabelSelector, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@kube-semaphore/kube-objects';
import { isCompanion, itemsOfRule, observedCompanion, type ObservedCompanion } from '../companions/companion.ts';
import { namesCluster } from '../policies/cross-cluster-rules.ts';
import { generationOf } from '../companions/diff.ts';
import {
  allowsPort,
  type FlowPod,
  isSelected,
  meantPorts,
  nameOf,
  rulesOf,
  type SideInput,
  sourceNameOf,
} from './flow.ts';
import { portsText } from '../policies/ports.ts';
import { requirementsOn, selects } from '../policies/selector.ts';

/** How near a rule comes to allow a flow, nearest first. */
const NEARNESS = ['companion', 'port', 'pod', 'namespace', 'cluster', 'none'] as const;

type Miss = { readonly nearness: (typeof NEARNESS)[number]; readonly detail: string };

export function nearestMiss(policy: NetworkPolicy, input: SideInput): string {
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
    return { nearness: 'none', detail: `it selects Pods, and ${end.ip ?? 'the other end'} is no known Pod` };
  if (end.pod.hostNetwork) return { nearness: 'pod', detail: 'it selects no Pod that uses the network of its node' };
  if (end.remote === undefined) return missOfLabels(peer, end.pod, policy.metadata.namespace);
  const miss = missOfRemote(peer, input);
  if (miss !== undefined) return miss;
  return allowsPort(ports, input.port, meantPorts(input))
    ? { nearness: 'companion', detail: companionMiss(policy, input) }
    : port;
}

/** Why a peer doesn't mean a Pod of another cluster; undefined: it does. */
export function missOfRemote(
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
  const miss = missOfSelectors({ namespaceSelector, podSelector }, pod);
  if (miss !== undefined || remote.excludedBy === undefined) return miss;
  return { nearness: 'pod', detail: `the Pod does not match -remote-pod-selector ${remote.excludedBy}` };
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
function companionMiss(source: NetworkPolicy, input: SideInput): string {
  const { policies, peer, direction, maxAddressesPerSource: limit = Infinity } = input;
  const { name, refusal } = peer.remote!;
  if (peer.ip === undefined) return 'it allows this, but the Pod has no address';
  if (refusal !== undefined) return `it allows this, but not the address: ${refusal}`;
  const all = policies
    .filter((policy) => isCompanion(policy) && sourceNameOf(policy) === nameOf(source))
    .map(observedCompanion);
  const companions = all.filter((companion) => companion.remote === name && companion.direction === direction);
  const generation = String(source.metadata.generation);
  const behind = companions.find((companion) => generationOf(companion) !== generation);
  if (behind !== undefined) {
    const older = generationOf(behind) ?? 'unknown';
    return `it allows this, but its companion for ${name} is of generation ${older}, and the policy of ${generation}`;
  }
  // The addresses of all remotes count, so the limit may also be why there is no companion for this one.
  const count = addressCount(all);
  if (count >= limit)
    return `it allows this, but gets no more addresses of other clusters: it has ${count}, and -max-addresses-per-source is ${limit}`;
  return companions.length === 0
    ? `it allows this, but has no companion for ${name}: is -network-policies on?`
    : `it allows this, but its companion for ${name} does not have ${peer.ip} yet`;
}

/** How many addresses the companions of a policy have, as `desiredCompanions` counts them: once for all ports of the same peers. */
function addressCount(companions: readonly ObservedCompanion[]): number {
  const items = companions.flatMap(({ remote, direction, rules }) =>
    rules.flatMap(itemsOfRule).map((item) => [remote, direction, item].join(' ')),
  );
  return new Set(items).size;
}
