import { isServiceName } from '@kube-semaphore/naming';
import { type Cidr, compareIps, isLoopbackHost } from '@kube-semaphore/net';
import { calicoApi } from '../../clusters/calico.ts';
import { allOf, type Read } from '../../clusters/objects.ts';
import type { Answers } from '../answers.ts';
import type { Choices } from '../choices.ts';
import { answerOf, type Clues, type Found, found, notFound, type Sought } from './found.ts';
import { canonical, cidrList, nodeCidrsOf, podCidrsOf, serviceCidrsOf, strayNode } from './found-ranges.ts';
import type { Observed } from './observe.ts';

/** Where Pods get their addresses from, as `allowedIPsFrom` of semaphore-wireguard calls it. */
type Ipam = 'podCIDRs' | 'calico-blocks';

/** A cluster, with all that a link needs. */
export type Cluster = {
  readonly context: string;
  readonly name: string;
  readonly uid: string;
  /** As Pods of other clusters reach it. */
  readonly server: string;
  readonly podCidrs: readonly Cidr[];
  readonly serviceCidrs: readonly Cidr[];
  /** Where its nodes may be, also those that it gets later. */
  readonly nodeCidrs: readonly Cidr[];
  readonly ipam: Ipam;
  /** `projectcalico.org/v3`, for example; undefined: no Calico. */
  readonly calico: string | undefined;
  /** Kubernetes 1.`minor`. */
  readonly minor: number;
  /** It has the API group of Multi-Cluster Services. */
  readonly hasMcs: boolean;
  /** Where API servers' connections to Pods come from: addresses. */
  readonly apiServerIps: readonly string[];
  /** Of its nodes; canonical. */
  readonly nodeIps: readonly string[];
  /** UDP ports of its nodes that are in use. */
  readonly takenPorts: readonly number[];
  readonly dns: Observed['dns'];
};

/** One thing that was found out, and where. */
export type Finding = { readonly what: string; readonly found: string; readonly source: string };

/** What was found out of a cluster; without `cluster`, the problems say what is missing. */
export type Findings = {
  readonly context: string;
  readonly findings: readonly Finding[];
  readonly problems: readonly string[];
  readonly cluster?: Cluster;
};

/**
 * Decides what a cluster is like, as far as the choices need it.
 *
 * @param named its name, and where that is from
 * @param given which of its answers are of this run
 * @param choices with `apply`, its CoreDNS will change
 */
export function findingsOf(
  observed: Observed,
  { named, ...given }: Answers & { readonly named: Found<string> },
  choices: Choices & { readonly apply?: boolean },
): Findings {
  const { wireguard = true, mcs = false, coredns = true, answers = {}, apply = false } = choices;
  const { context } = observed;
  const clues = { observed, answers, given };
  const parts = {
    name: nameOf(named, context),
    server: serverOf(clues),
    podCidrs: podCidrsOf(clues),
    serviceCidrs: serviceCidrsOf(clues),
    nodeCidrs: nodeCidrsOf(clues),
    ipam: wireguard ? ipamOf(clues) : found<Ipam>('podCIDRs', '--no-wireguard'),
    minor: minorOf(observed),
  };
  const dns = mcs && coredns && apply && observed.dns.kind === 'CoreDNS' ? dnsOf(observed) : undefined;
  const { ipam, podCidrs } = parts;
  const hasOwnCidrs = wireguard && ipam.known && ipam.value.value === 'podCIDRs';
  const stray = hasOwnCidrs && podCidrs.known ? strayNode(observed, podCidrs.value) : undefined;
  const whys = [...Object.values(parts).map(whyOf), stray, dns && whyOf(dns)];
  const problems = whys.flatMap((why) => (why === undefined ? [] : [`${context}: ${why}`]));
  const findings = rowsOf(observed, { ...parts, dns, withIpam: wireguard, withDns: coredns });
  const known = allOf(parts);
  if (problems.length > 0 || !known.known) return { context, findings, problems };
  return { context, findings, problems, cluster: clusterOf(observed, known.value) };
}

/** What a link needs to know. */
type Parts = {
  readonly name: Found<string>;
  readonly server: Found<string>;
  readonly podCidrs: Found<readonly Cidr[]>;
  readonly serviceCidrs: Found<readonly Cidr[]>;
  readonly nodeCidrs: Found<readonly Cidr[]>;
  readonly ipam: Found<Ipam>;
  readonly minor: Found<number>;
};

type SoughtParts = { readonly [K in keyof Parts]: Read<Parts[K]> };

const whyOf = (sought: Sought<unknown>): string | undefined => (sought.known ? undefined : sought.why);

function rowsOf(
  observed: Observed,
  {
    dns,
    withIpam,
    withDns,
    ...parts
  }: SoughtParts & {
    readonly dns: Sought<string> | undefined;
    readonly withIpam: boolean;
    readonly withDns: boolean;
  },
): readonly Finding[] {
  const { version, groups } = observed;
  const servers = observed.dns.servers.join(', ') || 'other';
  const { podCidrs } = parts;
  const families = [...new Set(podCidrs.known ? podCidrs.value.value.map(({ family }) => `IPv${family}`) : [])];
  const [callers, ports] = [apiServerIpsOf(observed), takenPortsOf(observed)].map((all) => all.join(', '));
  return [
    finding('name', parts.name),
    { what: 'Kubernetes', found: version, source: 'its API server' },
    finding('API server', parts.server),
    ...(callers ? [{ what: 'calls Pods from', found: callers, source: 'endpoints of its API servers' }] : []),
    finding('Pods', podCidrs, cidrList),
    finding('Services', parts.serviceCidrs, cidrList),
    finding('nodes', parts.nodeCidrs, cidrList),
    { what: 'families', found: families.join(', ') || '?', source: 'the Pods' },
    { what: 'CNI', found: cniOf(groups), source: 'its API groups' },
    ...(withIpam ? [finding('IPAM', parts.ipam)] : []),
    ...(withDns ? [{ what: 'DNS', found: servers, source: 'its ConfigMaps' }] : []),
    ...(dns?.known === true ? [finding('CoreDNS', dns)] : []),
    ...(ports ? [{ what: 'ports in use', found: ports, source: 'FelixConfiguration default' }] : []),
  ];
}

const finding = <T>(what: string, sought: Sought<T>, format: (value: T) => string = String): Finding =>
  sought.known
    ? { what, found: format(sought.value.value), source: sought.value.source }
    : { what, found: '?', source: 'not found' };

const clusterOf = (observed: Observed, parts: Parts): Cluster => ({
  context: observed.context,
  name: parts.name.value,
  uid: observed.uid,
  server: parts.server.value,
  podCidrs: parts.podCidrs.value,
  serviceCidrs: parts.serviceCidrs.value,
  nodeCidrs: parts.nodeCidrs.value,
  ipam: parts.ipam.value,
  calico: calicoApi(observed.groups),
  minor: parts.minor.value,
  hasMcs: observed.groups.has('multicluster.x-k8s.io'),
  apiServerIps: apiServerIpsOf(observed),
  nodeIps: observed.nodes.flatMap(({ addresses }) => canonical(addresses)),
  takenPorts: takenPortsOf(observed),
  dns: observed.dns,
});

function nameOf({ value, source }: Found<string>, context: string): Sought<string> {
  if (value === 'global' || value === 'gl' || value.startsWith('gl-'))
    return notFound(`the name "${value}" is reserved for global Services: set --cluster-name ${context}=NAME`);
  // Names of Services begin with it, and need room for a namespace and a name: `<name>-<namespace>-73736d-<service>`.
  if (!isServiceName(value) || value.length > 40)
    return notFound(
      `"${value}" can't begin the names of Services: set --cluster-name ${context}=NAME with at most 40 ` +
        'lower-case letters, digits and hyphens',
    );
  return found(value, source);
}

function serverOf({ observed, answers, given }: Clues): Sought<string> {
  const { context, server, joinServer, viaProxy } = observed;
  const advice = `set --server ${context}=https://HOST:PORT, as Pods of the other clusters reach it`;
  const answer = answerOf(answers.server, given.server, '--server');
  if (answer !== undefined) {
    const isUrl = URL.canParse(answer.value) && new URL(answer.value).protocol === 'https:';
    return isUrl
      ? found(answer.value, answer.source)
      : notFound(`${answer.source}: ${answer.value} is not a valid https URL: ${advice}`);
  }
  if (joinServer !== undefined && isForOthers(joinServer))
    return found(joinServer, 'ConfigMap kube-public/cluster-info');
  if (!viaProxy && isForOthers(server)) return found(server, 'the kubeconfig');
  return notFound(`${server} in the kubeconfig may not be reached from elsewhere: ${advice}`);
}

function ipamOf({ observed, answers, given }: Clues): Sought<Ipam> {
  const { context, nodes, ipamType, hasBlocks } = observed;
  const advice = `set --ipam ${context}=podCIDRs or --ipam ${context}=calico-blocks, or use --no-wireguard`;
  const answer = answerOf(answers.ipam, given.ipam, '--ipam');
  if (answer !== undefined)
    return answer.value === 'podCIDRs' || answer.value === 'calico-blocks'
      ? found(answer.value, answer.source)
      : notFound(`${answer.source}: the IPAM ${answer.value} is not known: ${advice}`);
  const installation = 'Installation default';
  if (ipamType === 'Calico') return found('calico-blocks', installation);
  if (ipamType === 'HostLocal') return found('podCIDRs', installation);
  if (ipamType !== undefined) return notFound(`the IPAM ${ipamType} is not known: ${advice}`);
  if (hasBlocks) return found('calico-blocks', "Calico's IPAMBlocks");
  if (nodes.some((node) => node.podCidrs.length > 0)) return found('podCIDRs', 'Node.spec.podCIDRs');
  return notFound(`which node has which Pod addresses is not known, as no Node has spec.podCIDRs: ${advice}`);
}

function minorOf({ version }: Observed): Sought<number> {
  const minor = Number(/^v1\.(\d+)/.exec(version)?.[1] ?? 0);
  return minor < 27
    ? notFound(`Kubernetes ${version} is not supported: upgrade to v1.27 or later`)
    : found(minor, 'its API server');
}

/** An older CoreDNS refuses a Corefile with `multicluster`. */
function dnsOf({ dnsImage: image }: Observed): Sought<string> {
  const advice = 'clusterset.local needs 1.12.2: upgrade it, or use --no-coredns, and see docs/mcs.md';
  if (image === undefined) return notFound(`there is no Deployment kube-system/coredns, but ${advice}`);
  const [, major, minor, patch] = /:v?(\d+)\.(\d+)\.(\d+)/.exec(image)?.map(Number) ?? [];
  if (major === undefined) return notFound(`the version of CoreDNS, ${image}, is not known, but ${advice}`);
  const isOld = major * 1e6 + minor! * 1e3 + patch! < 1_012_002;
  const version = `${major}.${minor}.${patch}`;
  return isOld ? notFound(`CoreDNS is ${version}, but ${advice}`) : found(version, 'Deployment kube-system/coredns');
}

/** Whether Pods elsewhere could reach it. */
function isForOthers(server: string): boolean {
  if (!URL.canParse(server)) return false;
  const { protocol, hostname } = new URL(server);
  return protocol === 'https:' && !isLoopbackHost(hostname.replaceAll(/[[\]]/g, ''));
}

function cniOf(groups: ReadonlySet<string>): string {
  if (calicoApi(groups) !== undefined) return 'Calico';
  return groups.has('cilium.io') ? 'Cilium' : 'other';
}

/** Their own addresses; and those of Calico's tunnels, if they are on Nodes that have one. */
function apiServerIpsOf({ apiServerIps, nodes }: Observed): readonly string[] {
  const on = nodes.filter(({ addresses }) => addresses.some((address) => apiServerIps.includes(address)));
  const ips = canonical([...apiServerIps, ...on.flatMap(({ tunnelIps }) => tunnelIps)]);
  return [...new Set(ips)].toSorted(compareIps);
}

/** Of Calico's own WireGuard, with its defaults. */
function takenPortsOf({ felix }: Observed): readonly number[] {
  return [
    ...(felix?.wireguardEnabled === true ? [felix.wireguardListeningPort ?? 51_820] : []),
    ...(felix?.wireguardEnabledV6 === true ? [felix.wireguardListeningPortV6 ?? 51_821] : []),
  ];
}
