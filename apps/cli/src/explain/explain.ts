import type { PodOnNode } from '@kube-semaphore/kube-objects';
import { selects } from '@kube-semaphore/network-policies';
import { dnsHop } from './hops/dns.ts';
import type { Read } from '../clusters/objects.ts';
import { type Facts, type Hop, kubectl, type SideFacts, skipped, type HopResult, wrong } from './facts.ts';
import { podHop } from './hops/pods.ts';
import { policyHop } from './hops/policies.ts';
import { pathOf, serviceOf } from './path.ts';
import { addressHop, listenHop } from './hops/ports.ts';
import { serviceHop, slicesHop } from './hops/services.ts';
import { outHop, tunnelHop } from './hops/tunnels.ts';
import { type End, endText, portText } from './words.ts';

export type Explanation = {
  readonly from: string;
  readonly to: string;
  /** In the order of a packet. */
  readonly hops: readonly Hop[];
  /** The name of the first hop that is wrong. */
  readonly firstWrong: string | null;
};

/** The names of the hops, in the order of a packet. */
export const hopNames = [
  'caller',
  'dns',
  'service',
  'endpoints',
  'egress-policy',
  'tunnel-out',
  'tunnel-in',
  'ingress-policy',
  'target',
] as const;

/** Follows a packet from a Pod here to a Pod there. */
export function explain(facts: Facts): Explanation {
  const { from, to, here, there } = facts;
  const { isPod, via, caller, target, callerIp, targetIp, port } = pathOf(facts);
  const ends = [
    { at: here, pod: present(caller, 'the caller'), ip: callerIp, node: nodeOf(caller) },
    { at: there, pod: present(target, 'the target'), ip: targetIp, node: nodeOf(target) },
  ] as const;
  const [source, destination] = ends;
  const direct = skipped('the Pod is called by its address');
  const out = { at: here, node: source.node, other: there, address: targetIp, otherNode: destination.node };
  const back = { at: there, node: destination.node, other: here, address: callerIp, otherNode: source.node };
  const results: Readonly<Record<(typeof hopNames)[number], HopResult>> = {
    caller: podHop(here, caller, { mustBeReady: false, missing: missingPod(here, from) }),
    dns: isPod ? direct : dnsHop(facts, via),
    service: isPod ? direct : addressHop(serviceHop(facts, via), facts),
    endpoints: isPod ? direct : slicesHop(facts, via),
    'egress-policy': policyHop('egress', { subject: source, peer: destination, port }),
    'tunnel-out': outHop(out, callerIp, !isPod && serviceOf(facts, via)?.spec.clusterIP !== 'None'),
    'tunnel-in': tunnelHop(back),
    'ingress-policy': policyHop('ingress', { subject: destination, peer: source, port }),
    target: listenHop(podHop(there, target, { mustBeReady: true, missing: noTarget(facts) }), facts, { target, isPod }),
  };
  const hops = hopNames.map((name) => ({ name, ...results[name] }));
  const called = via.known && !isPod ? via.value?.dnsName : undefined;
  return {
    from: endText(from),
    to: `${called ?? endText(to)}${portText(to)}`,
    hops,
    firstWrong: hops.find(({ result }) => result === 'wrong')?.name ?? null,
  };
}

function present(pod: Read<PodOnNode | undefined>, what: string): Read<PodOnNode> {
  if (!pod.known) return pod;
  return pod.value === undefined
    ? { known: false, why: `there is no Pod to be ${what}` }
    : { known: true, value: pod.value };
}

function nodeOf(pod: Read<PodOnNode | undefined>): Read<string> {
  const node = pod.known ? pod.value?.spec.nodeName : undefined;
  return node ? { known: true, value: node } : { known: false, why: 'the node of the Pod is not known' };
}

function missingPod({ cluster }: SideFacts, { namespace, name, kind = 'pod' }: End): HopResult {
  const named = `${namespace}/${name}`;
  const what = kind === 'pod' ? named : kind === 'namespace' ? `in ${namespace}` : `of the ${kind} ${named}`;
  return wrong(`${cluster} has no Pod ${what}`, kubectl(cluster, '-n', namespace, 'get', 'pods'));
}

function noTarget({ to, there, source }: Facts): HopResult {
  if (to.kind !== undefined) return missingPod(there, to);
  const selector = source.known ? source.value.service?.spec.selector : undefined;
  const why = selector === undefined ? '' : whyNone(selector, there.pods);
  const detail = `${there.cluster} has no Pod behind ${to.namespace}/${to.name}${why}`;
  return wrong(detail, kubectl(there.cluster, '-n', to.namespace, 'describe', 'service', to.name));
}

/** Why a Service has no Pod, as far as its selector says. */
function whyNone(selector: Readonly<Record<string, string>>, pods: SideFacts['pods']): string {
  const terms = Object.entries(selector);
  if (terms.length === 0) return ': it has no selector, so someone else must write its EndpointSlices';
  const text = terms.map((term) => term.join('=')).join(',');
  if (!pods.known) return `, whose selector is ${text}`;
  return pods.value.some(({ metadata: { labels } }) => selects({ matchLabels: selector, matchExpressions: [] }, labels))
    ? ''
    : `: its selector ${text} matches no Pod of its namespace`;
}
