import type { Node } from '@kube-semaphore/kube-objects';
import { endpointAnnotation, pubKeyAnnotation } from '../names.ts';
import { bad, type Cidr, contains, good, overlaps, parseCidr, type Parsed, parseIp } from '@kube-semaphore/net';
import type { Link } from '@kube-semaphore/wireguard-tools';
import { type Endpoint, endpointOf, isReachable } from './endpoint.ts';
import type { DeviceSettings } from './settings.ts';

/** What our own Node says about us. What of it can't be read is left out. */
export type OwnNode = {
  /** Canonical, in the order of the Node. */
  readonly internalIps: readonly string[];
  readonly podCidrs: readonly Cidr[];
};

/** Reads our own Node. */
export function readOwnNode({ spec, status }: Pick<Node, 'spec' | 'status'>): OwnNode {
  const ips = status.addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => parseIp(address));
  const podCidrs = spec.podCIDRs.length > 0 || spec.podCIDR === '' ? spec.podCIDRs : [spec.podCIDR];
  return {
    internalIps: ips.flatMap((ip) => (ip.ok ? [ip.value] : [])),
    podCidrs: podCidrs.map(parseCidr).flatMap((cidr) => (cidr.ok ? [cidr.value] : [])),
  };
}

/** Where the Nodes of a remote reach us. */
export function ownEndpoint(
  { internalIps }: OwnNode,
  { listenPort, endpointFamily: family }: Pick<DeviceSettings, 'listenPort' | 'endpointFamily'>,
): Parsed<Endpoint> {
  const ip = internalIps.find(
    (candidate) => isReachable(candidate) && (family === undefined || family === (candidate.includes(':') ? 6 : 4)),
  );
  return ip === undefined
    ? bad(`the Node has no InternalIP${family === undefined ? '' : ` of IPv${family}`}`)
    : good(endpointOf(ip, listenPort));
}

/** WireGuard over IPv6, which is the longer: 40 bytes of IPv6, 8 of UDP, 32 of its own. */
const OVERHEAD_BYTES = 80;

/**
 * Whether packets of a device are too long for the link that carries them.
 *
 * @param ip of our endpoint; the link that has it is taken for the one that carries the tunnel
 * @returns a sentence for the log; undefined: all is well, or no link has the address
 */
export function mtuWarning(
  ip: string,
  links: readonly Link[],
  { device, mtuBytes }: Pick<DeviceSettings, 'device' | 'mtuBytes'>,
): string | undefined {
  const underlay = links.find(({ addresses }) => addresses.some((address) => address.ip === ip));
  if (underlay === undefined || underlay.mtuBytes - OVERHEAD_BYTES >= mtuBytes) return undefined;
  return `the MTU of ${device}, ${mtuBytes}, is more than ${underlay.mtuBytes - OVERHEAD_BYTES}, that of ${underlay.name} less ${OVERHEAD_BYTES}: long packets may be lost`;
}

/**
 * Why a remote can't be reached from this Node, although its config is sound: where its pods are said to be, we are.
 *
 * @returns a sentence for each clash
 */
export function clashesWith(
  { internalIps, podCidrs }: OwnNode,
  { name, podSubnets }: Pick<DeviceSettings, 'name' | 'podSubnets'>,
): readonly string[] {
  return podSubnets.flatMap((subnet) => [
    ...podCidrs
      .filter((cidr) => overlaps(cidr, subnet))
      .map((cidr) => `the pod subnet ${subnet.text} of ${name} overlaps with our own Node's ${cidr.text}`),
    ...internalIps
      .filter((ip) => contains(subnet, ip))
      .map((ip) => `the pod subnet ${subnet.text} of ${name} holds our own Node's address ${ip}`),
  ]);
}

/** What we say on our own Node to the Nodes of a remote. */
export type Announcement = { readonly remote: string; readonly publicKey: string; readonly endpoint: string };

/** Annotations to set, and with null those to take away. */
export type AnnotationPatch = Readonly<Record<string, string | null>>;

/**
 * The annotations that are missing on our Node, or differ.
 *
 * @param withdrawn remotes that we take leave of; those in neither list are none of our business
 * @returns undefined if all is said
 */
export function annotationPatch(
  annotations: Readonly<Record<string, string>>,
  { announced, withdrawn }: { readonly announced: readonly Announcement[]; readonly withdrawn: readonly string[] },
): AnnotationPatch | undefined {
  const wanted: (readonly [key: string, value: string])[] = announced.flatMap(({ remote, publicKey, endpoint }) => [
    [pubKeyAnnotation(remote), publicKey],
    [endpointAnnotation(remote), endpoint],
  ]);
  const unwanted = withdrawn
    .flatMap((remote) => [pubKeyAnnotation(remote), endpointAnnotation(remote)])
    .filter((key) => !wanted.some(([other]) => other === key));
  const patch: AnnotationPatch = Object.fromEntries([
    ...unwanted.filter((key) => Object.hasOwn(annotations, key)).map((key) => [key, null] as const),
    ...wanted.filter(([key, value]) => annotations[key] !== value),
  ]);
  return Object.keys(patch).length === 0 ? undefined : patch;
}
