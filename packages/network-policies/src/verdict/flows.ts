import { type Loss, lossWords } from '../pods/late-pod.ts';
import { traitsOf } from './alike.ts';
import type { ClusterKey, Direction } from '../policies/cross-cluster-rules.ts';
import type { Labels } from '../policies/selector.ts';
import { type FlowPeer, type FlowPod, type FlowPort, type ReadPolicy, remotePeer } from './flow.ts';
import { type SideVerdict, sideVerdict } from './verdict.ts';

/** A cluster, as flows name it. */
export type FlowCluster = {
  readonly name: string;
  /** Its value of the cluster label; undefined: not configured. */
  readonly id: string | undefined;
  /** `remotes[].labels`; the configs of other clusters, which may label the local one, are not known. */
  readonly labels: Labels;
  /** Why it may not bring in an address. */
  readonly refusalOf: (ip: string) => string | undefined;
  /** What the program there is told; undefined: not known. */
  readonly limits: FlowLimits | undefined;
};

type FlowLimits = {
  /** `-remote-pod-selector` */
  readonly remotePodSelector: string | undefined;
  readonly maxAddressesPerSource: number;
};

export type EndPod = {
  readonly pod: FlowPod;
  /** Canonical. */
  readonly ips: readonly string[];
  /** Whether `-remote-pod-selector` of the local cluster excludes it. */
  readonly isExcluded: boolean;
  /** What it lost, as it is late. */
  readonly loss?: Loss | undefined;
};

/** One end of a flow. */
export type FlowEnd =
  | {
      readonly kind: 'pods';
      readonly cluster: FlowCluster;
      /** Of one namespace, at least one. */
      readonly pods: readonly EndPod[];
      /** What late Pods lost, in words. */
      readonly late: readonly string[];
      /** Of that namespace. */
      readonly policies:
        | { readonly ok: true; readonly value: readonly ReadPolicy[] }
        | { readonly ok: false; readonly failure: string };
    }
  /** No known Pod has the address. `detail` says so. */
  | { readonly kind: 'address'; readonly ip: string; readonly detail: string }
  | { readonly kind: 'unknown'; readonly cluster: string; readonly word: string; readonly failure: string };

/** What one cluster says about a flow. */
export type Side = { readonly direction: Direction; readonly cluster: string } & (
  | ({ readonly known: true } & SideVerdict)
  | { readonly known: false; readonly failure: string }
);

export type ExplainedFlow = {
  /** Of several Pods, one. */
  readonly from: string;
  readonly to: string;
  readonly port: string;
  /** How many Pods the ends stand for: both sides say the same of all of them. 0: the end is no known Pod. */
  readonly pods: { readonly from: number; readonly to: number };
  /** Egress first; an address that no known Pod has has none. */
  readonly sides: readonly Side[];
  /** Which end has no side, and why, in words. */
  readonly outside: string | undefined;
  readonly verdict: 'allowed' | 'denied' | 'unknown';
};

export type FlowContext = { readonly port: FlowPort; readonly key: ClusterKey };

/** An address of a Pod of an end, or what is there instead. */
type Spot = { readonly end: FlowEnd; readonly pod: EndPod | undefined; readonly ip: string | undefined };

/** Spots that policies see alike. */
type Group = { readonly first: Spot; readonly names: readonly string[] };

/**
 * What policies say about every pair of addresses of one family that two ends have. Pairs about which both sides say the
 * same are one flow. A Pod without an address counts if no Pod of its end has one.
 */
export function flowsOf(from: FlowEnd, to: FlowEnd, context: FlowContext): readonly ExplainedFlow[] {
  const destinations = groupsOf(to, from, 'egress');
  const pairs = groupsOf(from, to, 'ingress').flatMap((source) =>
    destinations.map((destination) => ({ source, destination })),
  );
  const possible = pairs.filter(({ source, destination }) => isOneFamily(source.first.ip, destination.first.ip));
  const explained = (possible.length === 0 ? pairs : possible).map(({ source, destination }) => {
    const sides = sidesOf(source.first, destination.first, context);
    return { source, destination, sides, said: saidOf(sides, [source.first.ip, destination.first.ip]) };
  });
  return Array.from(Map.groupBy(explained, ({ said }) => said).values(), (alike) => {
    const { source, destination, sides } = alike[0]!;
    return {
      from: nameOf(source.first),
      to: nameOf(destination.first),
      port: `${context.port.port}/${context.port.protocol}`,
      pods: { from: countOf(alike.map((each) => each.source)), to: countOf(alike.map((each) => each.destination)) },
      sides,
      outside: [from, to].flatMap((end) => (end.kind === 'address' ? [end.detail] : []))[0],
      verdict: verdictOf(sides),
    };
  });
}

/** @param direction of the policies of the other end which have this one as peer */
function groupsOf(end: FlowEnd, other: FlowEnd, direction: Direction): readonly Group[] {
  if (end.kind !== 'pods')
    return [{ first: { end, pod: undefined, ip: end.kind === 'address' ? end.ip : undefined }, names: [] }];
  const { cluster } = end;
  const traits = traitsOf({ own: policiesOf(end), others: policiesOf(other), direction });
  const withAddress = end.pods.filter(({ ips }) => ips.length > 0);
  const all = (withAddress.length > 0 ? withAddress : end.pods).flatMap((pod) =>
    (pod.ips.length > 0 ? pod.ips : [undefined]).map((ip) => ({ end, pod, ip })),
  );
  const alike = Map.groupBy(all, ({ pod, ip }) => {
    const refusal = refusalOf(cluster, pod, ip);
    return JSON.stringify([traits(pod.pod, ip), pod.isExcluded, refusal && withoutWords(refusal, [ip])]);
  });
  return Array.from(alike.values(), (group) => ({ first: group[0]!, names: group.map(({ pod }) => pod.pod.name) }));
}

const policiesOf = (end: FlowEnd): readonly ReadPolicy[] =>
  end.kind === 'pods' && end.policies.ok ? end.policies.value : [];

/** Also if one end has no address, or it is not known. */
const isOneFamily = (a: string | undefined, b: string | undefined): boolean =>
  a === undefined || b === undefined || a.includes(':') === b.includes(':');

const countOf = (groups: readonly Group[]): number =>
  new Set(Array.from(new Set(groups), ({ names }) => names).flat()).size;

/** What sides say, whichever of several addresses and companions it is about. */
function saidOf(sides: readonly Side[], ips: readonly (string | undefined)[]): string {
  const said = sides.map((side) => {
    if (!side.known || side.by?.companion === undefined) return side;
    const { generation, generationNow } = side.by.companion;
    return { ...side, by: { ...side.by, companion: { generation, generationNow } } };
  });
  return JSON.stringify(said, (_, value: unknown) => (typeof value === 'string' ? withoutWords(value, ips) : value));
}

const withoutWords = (text: string, words: readonly (string | undefined)[]): string =>
  text
    .split(' ')
    .filter((word) => !words.includes(word))
    .join(' ');

function nameOf({ end, pod, ip }: Spot): string {
  if (end.kind === 'address') return end.ip;
  if (end.kind === 'unknown') return end.word;
  const { namespace, name } = pod!.pod;
  return `${end.cluster.name}/${namespace}/${name} ${ip ?? 'without an address'}`;
}

function verdictOf(sides: readonly Side[]): ExplainedFlow['verdict'] {
  if (sides.some((side) => side.known && !side.allowed)) return 'denied';
  return sides.every(({ known }) => known) ? 'allowed' : 'unknown';
}

function sidesOf(source: Spot, destination: Spot, context: FlowContext): readonly Side[] {
  return [...sideOf('egress', source, destination, context), ...sideOf('ingress', destination, source, context)];
}

/** None of an address that no known Pod has. */
function sideOf(direction: Direction, subject: Spot, other: Spot, { port, key }: FlowContext): readonly Side[] {
  const { end } = subject;
  if (end.kind === 'address') return [];
  if (end.kind === 'unknown') return [{ direction, cluster: end.cluster, known: false, failure: end.failure }];
  const { cluster, policies } = end;
  const side = { direction, cluster: cluster.name };
  if (!policies.ok) return [{ ...side, known: false, failure: policies.failure }];
  if (other.end.kind === 'unknown') return [{ ...side, known: false, failure: 'the other end is not known' }];
  if (!isOneFamily(subject.ip, other.ip))
    return [{ ...side, known: false, failure: 'the ends have no addresses of one family' }];
  const verdict = sideVerdict({
    direction,
    subject: subject.pod!.pod,
    peer: peerOf(other, cluster, key),
    port,
    policies: policies.value,
    key,
    maxAddressesPerSource: cluster.limits?.maxAddressesPerSource,
  });
  return [{ ...side, known: true, ...verdict }];
}

/** A spot, as policies of a cluster see it. */
function peerOf({ end, pod, ip }: Spot, at: FlowCluster, key: ClusterKey): FlowPeer {
  if (end.kind !== 'pods' || pod === undefined) return { ip, pod: undefined, remote: undefined };
  const { name, id, labels } = end.cluster;
  if (name === at.name) return { ip, pod: pod.pod, remote: undefined };
  const refusal = refusalOf(end.cluster, pod, ip);
  const excludedBy = pod.isExcluded ? at.limits?.remotePodSelector : undefined;
  return remotePeer(pod.pod, { ip, remote: { name, id, labels, refusal, excludedBy }, key });
}

/** Why other clusters don't let an address of a Pod in. */
function refusalOf(cluster: FlowCluster, { loss }: EndPod, ip: string | undefined): string | undefined {
  if (ip === undefined) return undefined;
  return cluster.refusalOf(ip) ?? (loss && lossWords(loss, ip));
}
