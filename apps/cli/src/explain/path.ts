import type { PodOnNode, Service } from '@kube-semaphore/kube-objects';
import { addressedPod, addressIndexOf, type FlowPort } from '@kube-semaphore/network-policies';
import type { Read } from '../clusters/objects.ts';
import type { Facts, SideFacts } from './facts.ts';
import { portOf } from './ports.ts';
import { addressesIn, copiesOf, readyIn } from './services.ts';
import { type Via, viaOf } from './via.ts';

/** Where a packet comes from, what is called, and where it should arrive. */
export type Path = {
  /** Whether the Pod is called by its address. */
  readonly isPod: boolean;
  readonly via: Read<Via | undefined>;
  readonly caller: Read<PodOnNode | undefined>;
  readonly target: Read<PodOnNode | undefined>;
  readonly callerIp: Read<string>;
  readonly targetIp: Read<string>;
  /** Of the target. */
  readonly port: Read<FlowPort>;
};

export function pathOf(facts: Facts): Path {
  const { from, to, here, there } = facts;
  const isPod = isPodOf(facts);
  const via = viaOf(facts);
  const caller = podNamed(here, from.name);
  const target = isPod ? podNamed(there, to.name) : targetOf(facts, via);
  return {
    isPod,
    via,
    caller,
    target,
    callerIp: addressOf(caller, target),
    targetIp: addressOf(target, caller),
    port: portOf(facts, { target, isPod }),
  };
}

/** The Service here that stands for the one there; undefined if it is known by a ServiceImport only. */
export function serviceOf({ services }: Facts, via: Read<Via | undefined>): Service | undefined {
  const { namespace, name } = (via.known && via.value) || {};
  const all = services.known ? services.value : [];
  return all.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
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
