import type { PodOnNode } from '@kube-semaphore/kube-objects';
import { addressedPod, addressIndexOf, type FlowPort } from '@kube-semaphore/network-policies';
import { dnsHop } from './dns.ts';
import type { Read } from '../clusters/objects.ts';
import { type Facts, type Hop, kubectl, type SideFacts, skipped, type Verdict, wrong } from './facts.ts';
import { podHop } from './pods.ts';
import { policyHop } from './policies.ts';
import { addressesIn, copiesOf, readyIn, serviceHop, slicesHop } from './services.ts';
import { outHop, tunnelHop } from './tunnels.ts';
import { type Via, viaOf } from './via.ts';

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
  const caller = podNamed(here, from.name);
  const isPod = isPodOf(facts);
  const via = viaOf(facts);
  const target = isPod ? podNamed(there, to.name) : targetOf(facts, via);
  const callerIp = addressOf(caller, target);
  const targetIp = addressOf(target, caller);
  const ends = [
    { at: here, pod: present(caller, 'the caller'), ip: callerIp, node: nodeOf(caller) },
    { at: there, pod: present(target, 'the target'), ip: targetIp, node: nodeOf(target) },
  ] as const;
  const [source, destination] = ends;
  const port = portOf(facts, target, isPod);
  const direct = skipped('the Pod is called by its address');
  const out = { at: here, node: source.node, other: there, address: targetIp, otherNode: destination.node };
  const back = { at: there, node: destination.node, other: here, address: callerIp, otherNode: source.node };
  const verdicts: Readonly<Record<(typeof hopNames)[number], Verdict>> = {
    caller: podHop(here, caller, { mustBeReady: false, missing: missingPod(here, from) }),
    dns: isPod ? direct : dnsHop(facts, via),
    service: isPod ? direct : serviceHop(facts, via),
    endpoints: isPod ? direct : slicesHop(facts, via),
    'egress-policy': policyHop('egress', { subject: source, peer: destination, port }),
    'tunnel-out': outHop(out, callerIp, !isPod && isByClusterIp(facts, via)),
    'tunnel-in': tunnelHop(back),
    'ingress-policy': policyHop('ingress', { subject: destination, peer: source, port }),
    target: podHop(there, target, { mustBeReady: true, missing: noTarget(facts) }),
  };
  const hops = hopNames.map((name) => ({ name, ...verdicts[name] }));
  const called = via.known && !isPod ? via.value?.dnsName : undefined;
  return {
    from: `${from.context}/${from.namespace}/${from.name}`,
    to: `${called ?? `${to.context}/${to.namespace}/${to.name}`}${to.port === undefined ? '' : `:${to.port}`}`,
    hops,
    firstWrong: hops.find(({ result }) => result === 'wrong')?.name ?? null,
  };
}

/** A headless Service has the addresses of its Pods. */
function isByClusterIp({ services }: Facts, via: Read<Via | undefined>): boolean {
  const { namespace, name } = (via.known && via.value) || {};
  const all = services.known ? services.value : [];
  const service = all.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return service?.spec.clusterIP !== 'None';
}

/** A Service has precedence. */
const isPodOf = ({ to, there, source }: Facts): boolean =>
  to.zone === undefined &&
  source.known &&
  source.value.service === undefined &&
  there.pods.known &&
  there.pods.value.some(({ metadata }) => metadata.name === to.name);

function podNamed({ pods }: SideFacts, name: string): Read<PodOnNode | undefined> {
  return pods.known ? { known: true, value: pods.value.find(({ metadata }) => metadata.name === name) } : pods;
}

/** A Pod behind the Service: one whose endpoint is ready here, else one that it has there. */
function targetOf(facts: Facts, via: Read<Via | undefined>): Read<PodOnNode | undefined> {
  const { source, there } = facts;
  if (!there.pods.known) return there.pods;
  const copies = via.known && via.value !== undefined ? copiesOf(facts, via.value) : [];
  const own = source.known ? source.value.slices : [];
  const candidates = [...readyIn(copies), ...readyIn(own), ...addressesIn(copies), ...addressesIn(own)];
  const pods = there.pods.value;
  const index = addressIndexOf(pods.map(addressedPod));
  const found = candidates.flatMap((ip) => {
    const having = pods.filter(({ status }) => status.podIPs.some((each) => each.ip === ip));
    const owner = index.ownerOf(ip)?.pod;
    return having.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === owner) ?? having[0] ?? [];
  });
  if (found[0] === undefined && !source.known) return source;
  return { known: true, value: found[0] };
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

/** The address of a Pod, of the family that both have. */
function addressOf(pod: Read<PodOnNode | undefined>, other: Read<PodOnNode | undefined>): Read<string> {
  const isIpv6 = (ip: string): boolean => ip.includes(':');
  const ipsOf = (each: Read<PodOnNode | undefined>) => (each.known ? (each.value?.status.podIPs ?? []) : []);
  const theirs = ipsOf(other);
  const own = ipsOf(pod);
  const found = own.find(({ ip }) => theirs.some((each) => isIpv6(each.ip) === isIpv6(ip))) ?? own[0];
  return found === undefined
    ? { known: false, why: 'the address of the Pod is not known' }
    : { known: true, value: found.ip };
}

/** The port of the target Pod that the packet is for. */
function portOf({ to, source }: Facts, target: Read<PodOnNode | undefined>, isPod: boolean): Read<FlowPort> {
  const none = { known: false, why: 'the port is not known: name one, such as :80' } as const;
  if (isPod) return /^\d+$/.test(to.port ?? '') ? known(Number(to.port), 'TCP') : none;
  if (!source.known) return source;
  const ports = source.value.service?.spec.ports ?? [];
  const port = ports.find(({ name, port: number }) => [undefined, name, String(number)].includes(to.port));
  if (port === undefined) return none;
  const { targetPort, protocol } = port;
  if (typeof targetPort === 'number') return known(targetPort || port.port, protocol || 'TCP');
  const containers = target.known ? (target.value?.spec.containers ?? []) : [];
  const named = containers.flatMap(({ ports: all }) => all).find(({ name }) => name === targetPort);
  return named === undefined ? none : known(named.containerPort, protocol || 'TCP');
}

const known = (port: number, protocol: string) => ({ known: true, value: { port, protocol } }) as const;

const missingPod = ({ cluster }: SideFacts, { namespace, name }: Facts['from']): Verdict =>
  wrong(`${cluster} has no Pod ${namespace}/${name}`, kubectl(cluster, '-n', namespace, 'get', 'pods'));

function noTarget({ to, there }: Facts): Verdict {
  const detail = `${there.cluster} has no Pod behind ${to.namespace}/${to.name}`;
  return wrong(detail, kubectl(there.cluster, '-n', to.namespace, 'describe', 'service', to.name));
}
