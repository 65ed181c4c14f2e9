import { isServiceName } from '@kube-semaphore/naming';
import {
  type Cidr,
  compareCidrs,
  compareIps,
  contains,
  containsCidr,
  isLoopbackHost,
  isPublic,
  parseCidr,
  parseIp,
  rangeProblem,
  widthProblem,
} from '@kube-semaphore/net';
import { calicoApi } from '../clusters/calico.ts';
import type { Answers } from './answers.ts';
import { type Choices, CHOICES_FILE } from './choices.ts';
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

type Found<T> = { readonly value: T; readonly source: string };

/** Nodes come and go, but mostly within networks of at most this size. */
const NETWORK_BITS = { 4: 16, 6: 48 } as const;

/**
 * Decides what a cluster is like, as far as the choices need it.
 *
 * @param named its name, and where that is from
 * @param given which of its answers are of this run
 * @param apply its CoreDNS will change
 */
export function findingsOf(
  observed: Observed,
  { named, ...given }: Answers & { readonly named: Found<string> },
  {
    wireguard = true,
    mcs = false,
    coredns = true,
    answers = {},
    apply = false,
  }: Choices & { readonly apply?: boolean },
): Findings {
  const { context, version, groups, nodes } = observed;
  const problems: string[] = [];
  const problem = (text: string): undefined => void problems.push(`${context}: ${text}`);

  const name = nameOf();
  const server = serverOf();
  const podCidrs = podCidrsOf();
  const serviceCidrs = serviceCidrsOf();
  const nodeCidrs = nodeCidrsOf();
  const calico = calicoApi(groups);
  const ipam = wireguard ? ipamOf() : ({ value: 'podCIDRs', source: '--no-wireguard' } as const);
  const minor = Number(/^v1\.(\d+)/.exec(version)?.[1] ?? 0);
  if (minor < 27) problem(`Kubernetes ${version} is not supported: upgrade to v1.27 or later`);
  const apiServerIps = apiServerIpsOf(observed);
  const takenPorts = takenPortsOf(observed);
  if (wireguard && ipam?.value === 'podCIDRs' && podCidrs !== undefined) checkNodes(podCidrs);

  const dns = mcs && coredns && apply && observed.dns.kind === 'CoreDNS' ? dnsOf() : undefined;

  const families = [...new Set(podCidrs?.value.map(({ family }) => family))];
  const findings: Finding[] = [
    finding('name', name),
    { what: 'Kubernetes', found: version, source: 'its API server' },
    finding('API server', server),
    ...(apiServerIps.length > 0
      ? [{ what: 'calls Pods from', found: apiServerIps.join(', '), source: 'endpoints of its API servers' }]
      : []),
    finding('Pods', podCidrs, cidrList),
    finding('Services', serviceCidrs, cidrList),
    finding('nodes', nodeCidrs, cidrList),
    { what: 'families', found: families.map((family) => `IPv${family}`).join(', ') || '?', source: 'the Pods' },
    { what: 'CNI', found: cniOf(groups), source: 'its API groups' },
    ...(wireguard ? [finding('IPAM', ipam)] : []),
    ...(coredns ? [{ what: 'DNS', found: observed.dns.servers.join(', ') || 'other', source: 'its ConfigMaps' }] : []),
    ...(dns === undefined ? [] : [finding('CoreDNS', dns)]),
    ...(takenPorts.length > 0
      ? [{ what: 'ports in use', found: takenPorts.join(', '), source: 'FelixConfiguration default' }]
      : []),
  ];
  if (problems.length > 0 || !name || !server || !podCidrs || !serviceCidrs || !nodeCidrs || !ipam)
    return { context, findings, problems };
  const cluster = {
    context,
    name: name.value,
    uid: observed.uid,
    server: server.value,
    podCidrs: podCidrs.value,
    serviceCidrs: serviceCidrs.value,
    nodeCidrs: nodeCidrs.value,
    ipam: ipam.value,
    calico,
    minor,
    hasMcs: groups.has('multicluster.x-k8s.io'),
    apiServerIps,
    nodeIps: nodes.flatMap(({ addresses }) => canonical(addresses)),
    takenPorts,
    dns: observed.dns,
  };
  return { context, findings, problems, cluster };

  function nameOf(): Found<string> | undefined {
    const { value } = named;
    if (value === 'global' || value === 'gl' || value.startsWith('gl-'))
      return problem(`the name "${value}" is reserved for global Services: set --cluster-name ${context}=NAME`);
    // Names of Services begin with it, and need room for a namespace and a name: `<name>-<namespace>-73736d-<service>`.
    if (!isServiceName(value) || value.length > 40)
      return problem(
        `"${value}" can't begin the names of Services: set --cluster-name ${context}=NAME with at most 40 ` +
          'lower-case letters, digits and hyphens',
      );
    return named;
  }

  /** Of this run or an earlier one. */
  function answerOf<T>(answer: T | false | undefined, key: keyof Answers, flag: string): Found<T> | undefined {
    if (answer === undefined || answer === false) return undefined;
    return { value: answer, source: given[key] === undefined ? CHOICES_FILE : flag };
  }

  function serverOf(): Found<string> | undefined {
    const advice = `set --server ${context}=https://HOST:PORT, as Pods of the other clusters reach it`;
    const answer = answerOf(answers.server, 'server', '--server');
    if (answer !== undefined) {
      const isUrl = URL.canParse(answer.value) && new URL(answer.value).protocol === 'https:';
      return isUrl ? answer : problem(`${answer.source}: ${answer.value} is not a valid https URL: ${advice}`);
    }
    const candidates = [
      ...(observed.joinServer === undefined
        ? []
        : [{ value: observed.joinServer, source: 'ConfigMap kube-public/cluster-info' }]),
      ...(observed.viaProxy ? [] : [{ value: observed.server, source: 'the kubeconfig' }]),
    ];
    const found = candidates.find(({ value }) => isForOthers(value));
    return found ?? problem(`${observed.server} in the kubeconfig may not be reached from elsewhere: ${advice}`);
  }

  function podCidrsOf(): Found<readonly Cidr[]> | undefined {
    const pools = observed.pools
      .filter(({ disabled, allowedUses }) => disabled !== true && (allowedUses?.includes('Workload') ?? true))
      .map(({ cidr }) => cidr);
    const own = nodes.flatMap((node) => node.podCidrs);
    const some =
      own.length === 0 ? '' : ` (its Nodes have ${own.slice(0, 3).join(', ')}${own.length > 3 ? ', …' : ''})`;
    const answer = answerOf(answers.podCidrs, 'podCidrs', '--pod-cidr');
    const found = firstOf('--pod-cidr', `the range of all Pods is not known${some}`, [
      answer,
      { value: pools, source: "Calico's IPPools" },
      { value: observed.podSubnet?.split(',') ?? [], source: 'ConfigMap kube-system/kubeadm-config' },
    ]);
    return found && checkedRanges(found, { isGiven: answer !== undefined, whose: 'Pods', flag: '--pod-cidr' });
  }

  /** A cluster may not choose what others let in and route to it: its ranges are checked, and public ones need a flag. */
  function checkedRanges(
    { value, source }: Found<readonly Cidr[]>,
    { isGiven, whose, flag }: { readonly isGiven: boolean; readonly whose: string; readonly flag: string },
  ): Found<readonly Cidr[]> | undefined {
    const advice = `set ${flag} ${context}=CIDR`;
    const reason = value.map(rangeProblem).find((each) => each !== undefined) ?? widthProblem(value);
    if (reason !== undefined) return problem(`${source}: ${reason}: ${advice}`);
    const open = isGiven ? undefined : value.find(isPublic);
    if (open === undefined) return { value, source };
    return problem(`${source}: ${open.text} is a public range: if its ${whose} really have such addresses, ${advice}`);
  }

  function serviceCidrsOf(): Found<readonly Cidr[]> | undefined {
    return firstOf('--service-cidr', 'the range of Services is not known', [
      answerOf(answers.serviceCidrs, 'serviceCidrs', '--service-cidr'),
      { value: observed.serviceCidrs ?? [], source: 'ServiceCIDRs' },
      { value: observed.serviceSubnet?.split(',') ?? [], source: 'ConfigMap kube-system/kubeadm-config' },
    ]);
  }

  /** Around the nodes that it has now: limits for these alone would refuse those that a cluster gets later. */
  function nodeCidrsOf(): Found<readonly Cidr[]> | undefined {
    const answer = answerOf(answers.nodeCidrs, 'nodeCidrs', '--node-cidr');
    const around = canonical(nodes.flatMap(({ internalIps }) => internalIps)).map(
      (ip) => `${ip}/${NETWORK_BITS[ip.includes(':') ? 6 : 4]}`,
    );
    const found = firstOf('--node-cidr', 'the range of its nodes is not known, as no Node has an InternalIP', [
      answer,
      { value: around, source: 'around InternalIPs of its Nodes' },
    ]);
    if (found === undefined) return undefined;
    const outside = nodes.find(({ internalIps }) =>
      canonical(internalIps).some((ip) => !found.value.some((cidr) => contains(cidr, ip))),
    );
    if (outside !== undefined)
      return problem(
        `Node ${outside.name} is at ${outside.internalIps.join(', ')}, which is outside ${cidrList(found.value)} ` +
          `(${found.source}): set --node-cidr ${context}=CIDR`,
      );
    return checkedRanges(found, { isGiven: answer !== undefined, whose: 'nodes', flag: '--node-cidr' });
  }

  function firstOf(
    flag: string,
    missing: string,
    candidates: readonly (Found<readonly string[]> | undefined)[],
  ): Found<readonly Cidr[]> | undefined {
    const found = candidates.find((each) => each !== undefined && each.value.length > 0);
    if (found === undefined) return problem(`${missing}: set ${flag} ${context}=CIDR`);
    const parsed = found.value.map((raw) => parseCidr(raw.trim()));
    const bad = parsed.find(({ ok }) => !ok);
    if (bad?.ok === false) return problem(`${found.source}: ${bad.reason}: set ${flag} ${context}=CIDR`);
    const cidrs = new Map(parsed.flatMap((each) => (each.ok ? [[each.value.text, each.value] as const] : [])));
    return { value: [...cidrs.values()].toSorted((a, b) => compareCidrs(a.text, b.text)), source: found.source };
  }

  function ipamOf(): Found<Ipam> | undefined {
    const advice = `set --ipam ${context}=podCIDRs or --ipam ${context}=calico-blocks, or use --no-wireguard`;
    const answer = answerOf(answers.ipam, 'ipam', '--ipam');
    if (answer !== undefined)
      return answer.value === 'podCIDRs' || answer.value === 'calico-blocks'
        ? { value: answer.value, source: answer.source }
        : problem(`${answer.source}: the IPAM ${answer.value} is not known: ${advice}`);
    const { ipamType, hasBlocks } = observed;
    const installation = 'Installation default';
    if (ipamType === 'Calico') return { value: 'calico-blocks', source: installation };
    if (ipamType === 'HostLocal') return { value: 'podCIDRs', source: installation };
    if (ipamType !== undefined) return problem(`the IPAM ${ipamType} is not known: ${advice}`);
    if (hasBlocks) return { value: 'calico-blocks', source: "Calico's IPAMBlocks" };
    if (nodes.some((node) => node.podCidrs.length > 0)) return { value: 'podCIDRs', source: 'Node.spec.podCIDRs' };
    return problem(`which node has which Pod addresses is not known, as no Node has spec.podCIDRs: ${advice}`);
  }

  /** An older CoreDNS refuses a Corefile with `multicluster`. */
  function dnsOf(): Found<string> | undefined {
    const { dnsImage: image } = observed;
    const advice = 'clusterset.local needs 1.12.2: upgrade it, or use --no-coredns, and see docs/mcs.md';
    if (image === undefined) return problem(`there is no Deployment kube-system/coredns, but ${advice}`);
    const [, major, minor, patch] = /:v?(\d+)\.(\d+)\.(\d+)/.exec(image)?.map(Number) ?? [];
    if (major === undefined) return problem(`the version of CoreDNS, ${image}, is not known, but ${advice}`);
    const isOld = major * 1e6 + minor! * 1e3 + patch! < 1_012_002;
    const version = `${major}.${minor}.${patch}`;
    return isOld
      ? problem(`CoreDNS is ${version}, but ${advice}`)
      : { value: version, source: 'Deployment kube-system/coredns' };
  }

  function checkNodes({ value, source }: Found<readonly Cidr[]>): void {
    for (const node of nodes) {
      const outside = node.podCidrs.find((raw) => {
        const cidr = parseCidr(raw);
        return cidr.ok && !value.some((range) => containsCidr(range, cidr.value));
      });
      if (outside === undefined) continue;
      problem(
        `Node ${node.name} has ${outside}, which is outside ${cidrList(value)} (${source}): set --pod-cidr ${context}=CIDR`,
      );
      return;
    }
  }
}

const cidrList = (cidrs: readonly Cidr[]): string => cidrs.map(({ text }) => text).join(', ');

const finding = <T>(what: string, found: Found<T> | undefined, format: (value: T) => string = String): Finding =>
  found === undefined
    ? { what, found: '?', source: 'not found' }
    : { what, found: format(found.value), source: found.source };

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

/** The addresses among texts: a Node has host names, too. */
const canonical = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((raw) => {
    const ip = parseIp(raw);
    return ip.ok ? [ip.value] : [];
  });

/** Of Calico's own WireGuard, with its defaults. */
function takenPortsOf({ felix }: Observed): readonly number[] {
  return [
    ...(felix?.wireguardEnabled === true ? [felix.wireguardListeningPort ?? 51_820] : []),
    ...(felix?.wireguardEnabledV6 === true ? [felix.wireguardListeningPortV6 ?? 51_821] : []),
  ];
}
