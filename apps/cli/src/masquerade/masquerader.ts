import { type Cidr, containsCidr, mustParseCidr, parseCidr } from '@kube-semaphore/net';
import { quoted } from '@kube-semaphore/text';

/** What replaces the source address of packets that Pods send, as the objects of its cluster say. */
export type Masquerader = {
  /** Also a heading of docs/wireguard.md, which says what to do. */
  readonly name: string;
  /** Where its setting is; undefined: in no object. */
  readonly object: ObjectName | undefined;
  /** The setting, as a clause: `POD_SUBNET of the DaemonSet kube-system/kindnet doesn't have it`. */
  readonly reason: string;
  /** Destinations to which packets keep their source. One of all addresses of a family: it replaces none of that family. */
  readonly spares: readonly Cidr[];
  /** Only packets from these; undefined: from each Pod. */
  readonly pods?: readonly Cidr[];
  /** Only packets that leave by these devices, of which a `+` at the end stands for any text. */
  readonly devices?: readonly string[];
  /** Only packets to ClusterIPs, before they get the address of a Pod. */
  readonly ofServices?: boolean;
  /** What else it spares, which the API server doesn't know: `the VPC has it`. */
  readonly unless?: string;
  /** Which check reports it. */
  readonly check: 'pools-disabled' | 'sources-kept';
};

export type ObjectName = {
  readonly kind: 'ConfigMap' | 'DaemonSet';
  readonly namespace: string;
  readonly name: string;
};

export const objectText = ({ kind, namespace, name }: ObjectName): string => `the ${kind} ${namespace}/${name}`;

/** Packets of Pods to addresses of a remote. */
export type Packets = {
  readonly to: Cidr;
  /** Undefined: each Pod. */
  readonly from?: Cidr;
  /** By which they leave; undefined: not known. */
  readonly device?: string | undefined;
  /** Whether they were sent to a ClusterIP, or some of them. */
  readonly byService: boolean;
};

/** Whether it replaces the source of these packets, or of some of them. */
export function replaces(
  { spares, pods, devices, ofServices, unless }: Masquerader,
  { to, from, device, byService }: Packets,
): 'yes' | 'no' | 'perhaps' {
  if (spares.some((range) => containsCidr(range, to))) return 'no';
  if (ofServices === true && !byService) return 'no';
  if (from !== undefined && pods !== undefined && !pods.some((range) => containsCidr(range, from))) return 'no';
  if (devices === undefined) return unless === undefined ? 'yes' : 'perhaps';
  if (device === undefined) return 'perhaps';
  const isOne = devices.some((each) => (each.endsWith('+') ? device.startsWith(each.slice(0, -1)) : device === each));
  return isOne ? 'yes' : 'no';
}

/** Its heading in docs/wireguard.md, as a fragment. */
export const headingOf = (name: Masquerader['name']): string =>
  name === 'Calico' ? 'with-calico' : name.toLowerCase().replaceAll(' ', '-');

/** What it does to these packets, as a sentence. @param to the destination, in words */
export function masqueradeText(masquerader: Masquerader, to: string): string {
  const { name, reason, ofServices, devices, unless } = masquerader;
  const packets = ofServices === true ? 'packets to ClusterIPs of' : 'packets to';
  const but = unless ?? (devices && `they don't leave by ${quoted(devices.join(', '))}`);
  return `${name} replaces the address of Pods in ${packets} ${to}${but === undefined ? '' : `, unless ${but}`}: ${reason}`;
}

/** Those of some texts that are ranges. */
export const rangesIn = (texts: readonly string[]): readonly Cidr[] =>
  texts.map((text) => parseCidr(text.trim())).flatMap((cidr) => (cidr.ok ? cidr.value : []));

/** All addresses of a family. */
export const ALL = { 4: mustParseCidr('0.0.0.0/0'), 6: mustParseCidr('::/0') } as const;
