import type { PodOnNode, Service } from '@kube-semaphore/kube-objects';
import { familyOf } from '@kube-semaphore/net';
import { addressedPod, addressIndexOf, type FlowPort } from '@kube-semaphore/network-policies';
import { mapRead, type Read } from '../clusters/objects.ts';
import { isUsedBetween } from '../clusters/report.ts';
import type { Facts, SideFacts } from './facts.ts';
import { portOf } from './hops/ports.ts';
import { addressesIn, copiesOf, readyIn } from './hops/services.ts';
import { type Via, viaOf } from './via.ts';
import type { End } from './words.ts';

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
  const caller = podNamed(here, from);
  const target = isPod ? podNamed(there, to) : targetOf(facts, via);
  const isUsed = (ip: string): boolean => isUsedBetween(familyOf(ip), here.report, there.report);
  const callerIps = usedFirst(ipsOf(caller, from), isUsed);
  const targetIps = usedFirst(ipsOf(target, to), isUsed);
  return {
    isPod,
    via,
    caller,
    target,
    callerIp: addressOf(callerIps, targetIps),
    targetIp: addressOf(targetIps, callerIps),
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
  to.kind !== undefined ||
  (to.zone === undefined &&
    source.known &&
    source.value.service === undefined &&
    there.pods.known &&
    there.pods.value.some(({ metadata }) => metadata.name === to.name));

/** A workload is no Pod: one without Pods has the name of none. */
const podNamed = ({ pods }: SideFacts, { kind = 'pod', name }: End): Read<PodOnNode | undefined> =>
  mapRead(pods, (all) => (kind === 'pod' ? all.find(({ metadata }) => metadata.name === name) : undefined));

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

/** Those of a Pod, or the one that the user named. */
function ipsOf(pod: Read<PodOnNode | undefined>, { ip }: End): readonly string[] {
  const all = pod.known ? (pod.value?.status.podIPs ?? []) : [];
  return ip === undefined ? all.map((each) => each.ip) : [ip];
}

const usedFirst = (ips: readonly string[], isUsed: (ip: string) => boolean): readonly string[] =>
  ips.toSorted((a, b) => Number(isUsed(b)) - Number(isUsed(a)));

/** An address of the family that both have. */
function addressOf(own: readonly string[], theirs: readonly string[]): Read<string> {
  const value = own.find((ip) => theirs.some((each) => familyOf(each) === familyOf(ip))) ?? own[0];
  return value === undefined ? { known: false, why: 'the address of the Pod is not known' } : { known: true, value };
}
