import type { Node } from '@kube-semaphore/kube-objects';
import {
  endpointAddressAnnotation,
  endpointAnnotation,
  planesAnnotation,
  pubKeyAnnotation,
  silentAnnotation,
} from '../../names.ts';
import {
  bad,
  type Cidr,
  contains,
  familyOf,
  good,
  overlaps,
  parseCidr,
  type Parsed,
  parseIp,
} from '@kube-semaphore/net';
import type { Link } from '@kube-semaphore/wireguard-tools';
import { type Endpoint, endpointOf, isReachable, parseEndpoint } from '../../mesh/desired/endpoint.ts';
import type { DeviceSettings } from '../../mesh/desired/settings.ts';
import { OVERHEAD_BYTES } from '../../path-mtu/desired/device-mtu.ts';

/** What our own Node says about us. Invalid addresses are skipped. */
export type OwnNode = {
  /** Canonical, in the order of the Node. */
  readonly internalIps: readonly string[];
  readonly externalIps: readonly string[];
  /** Where we are reached, as an administrator wrote it; undefined: at an address of the Node. */
  readonly endpointAddress: string | undefined;
  readonly podCidrs: readonly Cidr[];
};

/** Reads our own Node. */
export function readOwnNode({
  metadata,
  spec,
  status,
}: Pick<Node, 'spec' | 'status'> & { readonly metadata: Pick<Node['metadata'], 'annotations'> }): OwnNode {
  const ipsOf = (type: string): readonly string[] =>
    status.addresses
      .filter((each) => each.type === type)
      .map(({ address }) => parseIp(address))
      .flatMap((ip) => (ip.ok ? [ip.value] : []));
  return {
    internalIps: ipsOf('InternalIP'),
    externalIps: ipsOf('ExternalIP'),
    endpointAddress: metadata.annotations[endpointAddressAnnotation],
    podCidrs: podCidrsOf(spec)
      .map(parseCidr)
      .flatMap((cidr) => (cidr.ok ? [cidr.value] : [])),
  };
}

/** The podCIDRs of a Node. Old API servers set podCIDR only; current ones repeat it in podCIDRs. */
export const podCidrsOf = ({ podCIDR, podCIDRs }: Node['spec']): readonly string[] =>
  podCIDRs.length > 0 || podCIDR === '' ? podCIDRs : [podCIDR];

/** How a remote's settings choose our endpoint. */
type EndpointSettings = Pick<DeviceSettings, 'listenPort' | 'endpointFamily' | 'endpointFrom' | 'dialOut'>;

/** In the annotation with our address: others don't reach us. */
const DIAL_OUT = 'none';

/** Where the Nodes of a remote reach us; 'dial-out': nowhere, so we speak first, and they learn where we are. */
export function ownEndpoint(node: OwnNode, settings: EndpointSettings): Parsed<Endpoint | 'dial-out'> {
  const { listenPort, endpointFamily: family, endpointFrom } = settings;
  if (node.endpointAddress === DIAL_OUT || (node.endpointAddress === undefined && settings.dialOut))
    return good('dial-out');
  if (node.endpointAddress !== undefined) return chosenEndpoint(node.endpointAddress, settings);
  const ips = endpointFrom === 'externalIP' ? node.externalIps : node.internalIps;
  const ip = ips.find(
    (candidate) => isReachable(candidate) && (family === undefined || family === familyOf(candidate)),
  );
  const type = endpointFrom === 'externalIP' ? 'ExternalIP' : 'InternalIP';
  return ip === undefined
    ? bad(`the Node has no ${type}${family === undefined ? '' : ` of IPv${family}`}`)
    : good(endpointOf(ip, listenPort));
}

/** Whether the Nodes of a remote reach us nowhere. @param node undefined: unknown, so we don't say so */
export function dialsOut(node: OwnNode | undefined, settings: EndpointSettings): boolean {
  const endpoint = node && ownEndpoint(node, settings);
  return endpoint?.ok === true && endpoint.value === 'dial-out';
}

/** What an administrator wrote is used, or nothing: another address could be one that others must not use. */
function chosenEndpoint(raw: string, { listenPort, endpointFamily: family }: EndpointSettings): Parsed<Endpoint> {
  const alone = parseIp(raw);
  const endpoint = alone.ok ? good(endpointOf(alone.value, listenPort)) : parseEndpoint(raw);
  const at = `its annotation ${endpointAddressAnnotation}`;
  if (!endpoint.ok) return bad(`${at} is neither an IP address, nor one with a port, nor ${DIAL_OUT}`);
  const { ip } = endpoint.value;
  if (!isReachable(ip)) return bad(`${at} has ${ip}, which is not the address of a single node`);
  return family === undefined || family === familyOf(ip)
    ? endpoint
    : bad(`${at} has ${ip}, which is not of IPv${family}, the endpointFamily`);
}

/**
 * Whether packets of a device are too long for the link that carries them.
 *
 * @param ip of our endpoint; the link with this address probably carries the tunnel
 * @returns a sentence for the log; undefined: they aren't, or no link has the address
 */
export function mtuWarning(
  ip: string,
  links: readonly Link[],
  { device, mtuBytes }: Pick<DeviceSettings, 'device' | 'mtuBytes'>,
): string | undefined {
  const underlay = links.find(({ addresses }) => addresses.some((address) => address.ip === ip));
  if (underlay === undefined) return undefined;
  const maxBytes = underlay.mtuBytes - OVERHEAD_BYTES;
  if (maxBytes >= mtuBytes) return undefined;
  return `long packets may be lost: ${device} has the MTU ${mtuBytes}; ${underlay.name} carries at most ${maxBytes}`;
}

/** Conflicts of a remote's pod subnets with our own Node: a sentence for each. */
export function clashesWith(
  { internalIps, podCidrs }: Pick<OwnNode, 'internalIps' | 'podCidrs'>,
  { name, podSubnets }: Pick<DeviceSettings, 'name' | 'podSubnets'>,
): readonly string[] {
  return podSubnets.flatMap((subnet) => [
    ...podCidrs
      .filter((cidr) => overlaps(cidr, subnet))
      .map((cidr) => `the pod subnet ${subnet.text} of ${name} overlaps with our own Node's ${cidr.text}`),
    ...internalIps
      .filter((ip) => contains(subnet, ip))
      .map((ip) => `the pod subnet ${subnet.text} of ${name} contains our own Node's address ${ip}`),
  ]);
}

/** What we announce on our own Node to the Nodes of a remote. */
export type Announcement = {
  readonly remote: string;
  readonly publicKey: string;
  /** Undefined: we are reached nowhere, and dial out. */
  readonly endpoint?: string;
  /** The ports of both planes, `51820,51920`; undefined: we have one. */
  readonly planes?: string;
};

/** Annotations to set, and with null those to remove. */
export type AnnotationPatch = Readonly<Record<string, string | null>>;

/**
 * The annotations of our Node that have to change.
 *
 * @param withdrawn remotes whose annotations are removed; remotes in neither list are ignored
 * @returns undefined if nothing has to change
 */
export function annotationPatch(
  annotations: Readonly<Record<string, string>>,
  { announced, withdrawn }: { readonly announced: readonly Announcement[]; readonly withdrawn: readonly string[] },
): AnnotationPatch | undefined {
  const wanted: (readonly [key: string, value: string])[] = announced.flatMap(
    ({ remote, publicKey, endpoint, planes }) => [
      [pubKeyAnnotation(remote), publicKey],
      ...(endpoint === undefined ? [] : [[endpointAnnotation(remote), endpoint] as const]),
      ...(planes === undefined ? [] : [[planesAnnotation(remote), planes] as const]),
    ],
  );
  const unwanted = [
    ...withdrawn.flatMap((remote) => [
      pubKeyAnnotation(remote),
      endpointAnnotation(remote),
      planesAnnotation(remote),
      silentAnnotation(remote),
    ]),
    ...announced.flatMap(({ remote }) => [endpointAnnotation(remote), planesAnnotation(remote)]),
  ].filter((key) => !wanted.some(([other]) => other === key));
  const patch: AnnotationPatch = Object.fromEntries([
    ...unwanted.filter((key) => Object.hasOwn(annotations, key)).map((key) => [key, null] as const),
    ...wanted.filter(([key, value]) => annotations[key] !== value),
  ]);
  return Object.keys(patch).length === 0 ? undefined : patch;
}
