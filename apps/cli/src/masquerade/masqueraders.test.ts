import { mustParseCidr } from '@kube-semaphore/net';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import type { NodeFacts, Read } from '../clusters/objects.ts';
import { headingOf, type Masquerader, masqueradeText, type Packets, replaces } from './masquerader.ts';
import { masqueradersOf } from './masqueraders.ts';
import { daemonSetList, type MasqueradeObjects } from './objects.ts';

const known = <T>(value: T): Read<T> => ({ known: true, value });
const forbidden = { known: false, why: 'c1: forbidden' } as const;

type Parts = { readonly namespace?: string; readonly container?: object; readonly volumes?: readonly object[] };

/** Of the namespace kube-system, with one container. */
const daemonSet = (name: string, { namespace = 'kube-system', container = {}, volumes = [] }: Parts = {}) =>
  daemonSetList.parse({
    items: [{ metadata: { namespace, name }, spec: { template: { spec: { containers: [container], volumes } } } }],
  }).items[0]!;

const envOf = (env: Readonly<Record<string, string>>) => ({
  container: {
    env: [{ name: 'MY_NODE', valueFrom: {} }, ...Object.entries(env).map(([name, value]) => ({ name, value }))],
  },
});

type Maps = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A cluster with these objects. */
const withObjects = (
  daemonSets: readonly ReturnType<typeof daemonSet>[],
  configMaps: Maps = {},
  rest: Partial<MasqueradeObjects> = {},
): MasqueradeObjects => ({
  cluster: 'c1',
  daemonSets: known(daemonSets),
  configMaps: new Map(Object.entries(configMaps).map(([name, data]) => [name, known(data)])),
  nodes: known([]),
  pools: known([]),
  ...rest,
});

// As its kube-flannel.yml has it.
const flannel = (netConf: object, args = ['--ip-masq', '--kube-subnet-mgr']) =>
  withObjects(
    [
      daemonSet('kube-flannel-ds', {
        namespace: 'kube-flannel',
        container: { command: ['/opt/bin/flanneld'], args },
        volumes: [{ name: 'run', hostPath: { path: '/run/flannel' } }, { configMap: { name: 'kube-flannel-cfg' } }],
      }),
    ],
    { 'kube-flannel/kube-flannel-cfg': { 'cni-conf.json': '{}', 'net-conf.json': JSON.stringify(netConf) } },
  );

const kindnet = (subnet: string) => withObjects([daemonSet('kindnet', envOf({ POD_SUBNET: subnet }))]);
const aws = (env: Readonly<Record<string, string>>) => withObjects([daemonSet('aws-node', envOf(env))]);

// As its ip-masq-agent.yaml has it.
const agent = (config: string | undefined, args: readonly string[] = []) =>
  withObjects(
    [
      daemonSet('ip-masq-agent', {
        container: { image: 'registry.k8s.io/networking/ip-masq-agent:v2.8.0', args },
        volumes: [
          { configMap: { name: 'ip-masq-agent', optional: true, items: [{ key: 'config', path: 'ip-masq-agent' }] } },
        ],
      }),
    ],
    config === undefined ? {} : { 'kube-system/ip-masq-agent': { config } },
  );

const source = (name: string, key: string) => ({ configMap: { name, optional: true, items: [{ key, path: key }] } });

const azure = (maps: Maps) =>
  withObjects(
    [
      daemonSet('azure-ip-masq-agent', {
        container: { image: 'mcr.microsoft.com/aks/ip-masq-agent-v2:v0.1.15' },
        volumes: [
          {
            projected: {
              sources: [
                source('azure-ip-masq-agent-config-reconciled', 'ip-masq-agent-reconciled'),
                source('azure-ip-masq-agent-config', 'ip-masq-agent'),
              ],
            },
          },
        ],
      }),
    ],
    maps,
  );

const ciliumConfig = 'kube-system/cilium-config';
const cilium = (config: Readonly<Record<string, string>>, maps: Maps = {}) =>
  withObjects([daemonSet('cilium')], { [ciliumConfig]: { 'enable-ipv6': 'false', ...config }, ...maps });
const bpf = { 'enable-bpf-masquerade': 'true' };

const proxy = (config: string) =>
  withObjects([daemonSet('kube-proxy')], { 'kube-system/kube-proxy': { 'config.conf': config } });

const node = (args: readonly string[] | undefined, podCidrs: readonly string[] = ['10.42.0.0/24']): NodeFacts => ({
  name: 'n1',
  podCidrs,
  addresses: [],
  internalIps: [],
  annotations: {
    'flannel.alpha.coreos.com/kube-subnet-manager': 'true',
    ...(args && { 'k3s.io/node-args': JSON.stringify(args) }),
  },
});
const nodes = (...found: readonly NodeFacts[]) => withObjects([], {}, { nodes: known(found) });

const natOutgoing = { cidr: '10.2.0.0/16', natOutgoing: true };
const pools = (...found: readonly object[]) =>
  withObjects([], {}, { pools: known(found as readonly (typeof natOutgoing)[]) });

const REMOTE = '10.4.0.0/16';
const IPV6 = 'fd00:4::/48';
const packets = (to: string, more: Partial<Packets> = {}): Packets => ({
  to: mustParseCidr(to),
  byService: true,
  ...more,
});

/** What becomes of packets, for each masquerader that does something to them. */
const fatesOf = (objects: MasqueradeObjects, to: string, more: Partial<Packets> = {}) =>
  masqueradersOf(objects).found.flatMap((each) => {
    const fate = replaces(each, packets(to, more));
    return fate === 'no' ? [] : [`${each.name} ${fate}`];
  });

describe('masquerading', () => {
  it.each<{ name: string; objects: MasqueradeObjects; to?: string; more?: Partial<Packets>; want: readonly string[] }>([
    { name: 'nothing', objects: withObjects([daemonSet('semaphore-wireguard')]), want: [] },

    { name: 'flannel', objects: flannel({ Network: '10.244.0.0/16' }), want: ['flannel yes'] },
    { name: 'flannel with a network that has the range', objects: flannel({ Network: '10.0.0.0/8' }), want: [] },
    {
      name: 'flannel without --ip-masq',
      objects: flannel({ Network: '10.244.0.0/16' }, ['--kube-subnet-mgr']),
      want: [],
    },
    {
      name: 'flannel with --ip-masq=false',
      objects: flannel({ Network: '10.244.0.0/16' }, ['--ip-masq=false']),
      want: [],
    },
    {
      name: 'flannel in a shell',
      objects: flannel({ Network: '10.244.0.0/16' }, ['-c', 'exec /opt/bin/flanneld --ip-masq=true --kube-subnet-mgr']),
      want: ['flannel yes'],
    },
    { name: 'flannel for IPv4, IPv6', objects: flannel({ Network: '10.244.0.0/16' }), to: IPV6, want: [] },
    {
      name: 'flannel for both, IPv6',
      objects: flannel({ Network: '10.0.0.0/8', IPv6Network: 'fd00:1::/48', EnableIPv6: true }),
      to: IPV6,
      want: ['flannel yes'],
    },
    {
      name: 'flannel, of a sender elsewhere',
      objects: flannel({ Network: '10.244.0.0/16' }),
      more: { from: mustParseCidr('192.0.2.1/32') },
      want: [],
    },

    { name: 'k3s', objects: nodes(node(['server'])), want: ['k3s yes'] },
    { name: 'k3s, IPv6', objects: nodes(node(['server'])), to: IPV6, want: [] },
    {
      name: 'k3s with a wider range',
      objects: nodes(node(['agent']), node(['server', '--cluster-cidr', '10.0.0.0/8,fd00:1::/48'])),
      want: [],
    },
    {
      name: 'k3s with --flannel-ipv6-masq',
      objects: nodes(node(['server', '--cluster-cidr', '10.0.0.0/8,fd00:1::/48', '--flannel-ipv6-masq'])),
      to: IPV6,
      want: ['k3s yes'],
    },
    { name: 'k3s with another CNI', objects: nodes(node(['server', '--flannel-backend', 'none'])), want: [] },
    { name: 'flannel of an unknown origin', objects: nodes(node(undefined)), want: [] },

    { name: 'kindnet', objects: kindnet('10.244.0.0/16'), want: ['kindnet yes'] },
    { name: 'kindnet with the range', objects: kindnet('10.244.0.0/16, 10.4.0.0/16'), want: [] },
    { name: 'kindnet with a part of the range', objects: kindnet('10.244.0.0/16,10.4.0.0/17'), want: ['kindnet yes'] },
    { name: 'kindnet for IPv4, IPv6', objects: kindnet('10.244.0.0/16'), to: IPV6, want: [] },
    { name: 'kindnet for both, IPv6', objects: kindnet('10.244.0.0/16,fd00:1::/56'), to: IPV6, want: ['kindnet yes'] },

    { name: 'AWS', objects: aws({ AWS_VPC_K8S_CNI_EXTERNALSNAT: 'false' }), want: ['AWS VPC CNI perhaps'] },
    { name: 'AWS with external SNAT', objects: aws({ AWS_VPC_K8S_CNI_EXTERNALSNAT: 'True' }), want: [] },
    {
      name: 'AWS with the range',
      objects: aws({ AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS: '192.0.2.0/24, 10.4.0.0/16' }),
      want: [],
    },
    { name: 'AWS, IPv6', objects: aws({}), to: IPV6, want: [] },
    { name: 'AWS for IPv6', objects: aws({ ENABLE_IPv6: 'true' }), want: [] },

    { name: 'the agent without a file', objects: agent(undefined), want: [] },
    {
      name: 'the agent without a file, beyond',
      objects: agent(undefined),
      to: '100.64.0.0/16',
      want: ['ip-masq-agent yes'],
    },
    {
      name: 'the agent that spares what is reserved',
      objects: agent(undefined, ['--nomasq-all-reserved-ranges']),
      to: '100.64.0.0/16',
      want: [],
    },
    {
      name: 'the agent with a list',
      objects: agent('nonMasqueradeCIDRs:\n- 10.244.0.0/16\nresyncInterval: 60s\n'),
      want: ['ip-masq-agent yes'],
    },
    { name: 'the agent with the range', objects: agent('{"nonMasqueradeCIDRs":["10.4.0.0/15"]}'), want: [] },
    { name: 'the agent with a file without a list', objects: agent('masqLinkLocal: true'), want: [] },
    { name: 'the agent, IPv6', objects: agent('nonMasqueradeCIDRs: []'), to: IPV6, want: [] },
    {
      name: 'the agent with --enable-ipv6, IPv6',
      objects: agent('nonMasqueradeCIDRs: ["fd00:1::/48"]', ['--enable-ipv6=true']),
      to: IPV6,
      want: ['ip-masq-agent yes'],
    },

    {
      name: 'the agent of Azure',
      objects: azure({
        'kube-system/azure-ip-masq-agent-config-reconciled': {
          'ip-masq-agent-reconciled': 'nonMasqueradeCIDRs:\n  - 10.244.0.0/16\nmasqLinkLocal: true',
        },
      }),
      want: ['ip-masq-agent yes'],
    },
    {
      name: 'the agent of Azure with the range in a second file',
      objects: azure({
        'kube-system/azure-ip-masq-agent-config-reconciled': {
          'ip-masq-agent-reconciled': 'nonMasqueradeCIDRs: [10.244.0.0/16]',
        },
        'kube-system/azure-ip-masq-agent-config': { 'ip-masq-agent': 'nonMasqueradeCIDRs: [10.4.0.0/16]' },
      }),
      want: [],
    },
    {
      name: 'the agent of Azure with an empty file',
      objects: azure({ 'kube-system/azure-ip-masq-agent-config': { 'ip-masq-agent': 'masqLinkLocal: true' } }),
      want: ['ip-masq-agent yes'],
    },

    { name: 'Cilium', objects: cilium({}), want: ['Cilium yes'] },
    { name: 'Cilium without masquerading', objects: cilium({ 'enable-ipv4-masquerade': 'false' }), want: [] },
    { name: 'Cilium with the range', objects: cilium({ 'ipv4-native-routing-cidr': '10.0.0.0/8' }), want: [] },
    { name: 'Cilium, IPv6', objects: cilium({}), to: IPV6, want: [] },
    { name: 'Cilium for both, IPv6', objects: cilium({ 'enable-ipv6': 'true' }), to: IPV6, want: ['Cilium yes'] },
    {
      name: 'Cilium for some devices',
      objects: cilium({ 'egress-masquerade-interfaces': 'eth+ ens5' }),
      more: { device: 'wireguard.c2' },
      want: [],
    },
    {
      name: 'Cilium for the device',
      objects: cilium({ 'egress-masquerade-interfaces': 'eth+ wire+' }),
      more: { device: 'wireguard.c2' },
      want: ['Cilium yes'],
    },
    {
      name: 'Cilium for some devices, without a tunnel',
      objects: cilium({ 'egress-masquerade-interfaces': 'eth+' }),
      want: ['Cilium perhaps'],
    },
    { name: 'Cilium in eBPF', objects: cilium(bpf), want: ['Cilium perhaps'] },
    {
      name: 'Cilium in eBPF with the range',
      objects: cilium({ ...bpf, 'ipv4-native-routing-cidr': REMOTE }),
      want: [],
    },
    { name: 'Cilium on ENIs', objects: cilium({ ipam: 'eni' }), want: ['Cilium perhaps'] },
    {
      name: 'Cilium by sources of routes',
      objects: cilium({ 'enable-masquerade-to-route-source': 'true' }),
      want: ['Cilium perhaps'],
    },
    { name: "Cilium's agent without a file", objects: cilium({ ...bpf, 'enable-ip-masq-agent': 'true' }), want: [] },
    {
      name: "Cilium's agent with a list",
      objects: cilium(
        { ...bpf, 'enable-ip-masq-agent': 'true' },
        { 'kube-system/ip-masq-agent': { config: '{"nonMasqueradeCIDRs":["10.244.0.0/16"]}' } },
      ),
      want: ['Cilium perhaps'],
    },

    { name: 'kube-proxy', objects: proxy('mode: ""\niptables:\n  masqueradeAll: false\n'), want: [] },
    {
      name: 'kube-proxy with masqueradeAll',
      objects: proxy('mode: ipvs\niptables:\n  masqueradeAll: true\n'),
      want: ['kube-proxy yes'],
    },
    {
      name: 'kube-proxy with masqueradeAll, to an address of a Pod',
      objects: proxy('iptables:\n  masqueradeAll: true\n'),
      more: { byService: false },
      want: [],
    },
    {
      name: 'kube-proxy with masqueradeAll of another mode',
      objects: proxy('mode: nftables\niptables:\n  masqueradeAll: true\nnftables:\n  masqueradeAll: false\n'),
      want: [],
    },

    { name: 'Calico', objects: pools(natOutgoing), want: ['Calico yes'] },
    {
      name: 'Calico with a pool of the range',
      objects: pools(natOutgoing, { cidr: REMOTE, disabled: true }),
      want: [],
    },
    { name: 'Calico without natOutgoing', objects: pools({ cidr: '10.2.0.0/16' }), want: [] },
    {
      name: 'Calico, of a sender in no such pool',
      objects: pools(natOutgoing, { cidr: '10.3.0.0/16' }),
      more: { from: mustParseCidr('10.3.0.7/32') },
      want: [],
    },
  ])('by $name: $want', ({ objects, to = REMOTE, more = {}, want }) => {
    expect(fatesOf(objects, to, more)).toEqual(want);
    expect(masqueradersOf(objects).unknown).toEqual([]);
  });

  it.each<{ name: string; objects: MasqueradeObjects; want: readonly string[] }>([
    { name: 'DaemonSets', objects: { ...withObjects([]), daemonSets: forbidden }, want: ['c1: forbidden'] },
    { name: 'Nodes', objects: { ...withObjects([]), nodes: forbidden }, want: ['c1: forbidden'] },
    { name: 'pools', objects: { ...withObjects([]), pools: forbidden }, want: ['c1: forbidden'] },
    {
      name: 'ConfigMaps',
      objects: { ...agent(''), configMaps: new Map([['kube-system/ip-masq-agent', forbidden]]) },
      want: ['c1: forbidden'],
    },
    {
      name: 'the config of Cilium',
      objects: { ...cilium({}), configMaps: new Map([[ciliumConfig, forbidden]]) },
      want: ['c1: forbidden'],
    },
    {
      name: 'the file of the agent in Cilium',
      objects: cilium(
        { ...bpf, 'enable-ip-masq-agent': 'true' },
        { 'kube-system/ip-masq-agent': { config: '{"nonMasqueradeCIDRs":["10.4"]}' } },
      ),
      want: [
        'c1: the ConfigMap kube-system/ip-masq-agent: the agent refuses its file: "10.4" is not a valid CIDR: it has no prefix length',
      ],
    },
    {
      name: 'a Cilium without its ConfigMap',
      objects: withObjects([daemonSet('cilium')]),
      want: ['c1: there is no ConfigMap kube-system/cilium-config'],
    },
    {
      name: 'a network of flannel that is not valid',
      objects: flannel({ Network: '10.244.0.0' }),
      want: ['c1: net-conf.json of the ConfigMap kube-flannel/kube-flannel-cfg is not valid'],
    },
    {
      name: 'a flannel without a ConfigMap',
      objects: withObjects([daemonSet('canal', { container: { args: ['--ip-masq'] } })]),
      want: ['c1: the DaemonSet kube-system/canal has no ConfigMap with net-conf.json'],
    },
    {
      name: 'another kindnet',
      objects: withObjects([daemonSet('kindnet')]),
      want: ['c1: the DaemonSet kube-system/kindnet has no POD_SUBNET, as that of kind has'],
    },
    {
      name: 'a file of flannel on the nodes of k3s',
      objects: nodes(node(['server', '--flannel-conf', '/etc/flannel.json'])),
      want: ["c1: k3s has --flannel-conf, and the Network in that file of its nodes isn't known"],
    },
    {
      name: 'k3s with servers that are no Nodes',
      objects: nodes(node(['agent'])),
      want: ["c1: the --cluster-cidr of k3s isn't known"],
    },
    {
      name: 'a range that the agent refuses',
      objects: agent('nonMasqueradeCIDRs: [10.4.1.0/16]'),
      want: [
        'c1: the ConfigMap kube-system/ip-masq-agent: the agent refuses its file: the block of 10.4.1.0/16 begins at 10.4.0.0/16',
      ],
    },
    {
      name: 'a range of a family that the agent refuses',
      objects: agent('nonMasqueradeCIDRs: ["fd00::/48"]'),
      want: [
        'c1: the ConfigMap kube-system/ip-masq-agent: the agent refuses its file: it has fd00::/48, and no flag --enable-ipv6',
      ],
    },
    {
      name: 'more ranges than the agent takes',
      objects: agent('nonMasqueradeCIDRs: [10.4.0.0/16, 10.5.0.0/16]\ncidrLimit: 1'),
      want: ['c1: the ConfigMap kube-system/ip-masq-agent: the agent refuses more than 1 ranges, and it has 2'],
    },
    {
      name: 'a file that is no YAML',
      objects: agent('{'),
      want: ['c1: the ConfigMap kube-system/ip-masq-agent: its file is not what the agent reads'],
    },
    {
      name: 'a kube-proxy whose configuration is not valid',
      objects: proxy('iptables: 7'),
      want: ['c1: config.conf of the ConfigMap kube-system/kube-proxy is not valid'],
    },
  ])('is unknown, and not missing, because of $name', ({ objects, want }) => {
    const { found, unknown } = masqueradersOf(objects);
    expect(found).toEqual([]);
    expect(unknown.map(({ why }) => why)).toEqual(want);
  });

  it.each<{ name: string; objects: MasqueradeObjects; to?: string; want: string }>([
    {
      name: 'flannel',
      objects: flannel({ Network: '10.244.0.0/16' }),
      want: "Network in net-conf.json of the ConfigMap kube-flannel/kube-flannel-cfg doesn't have it",
    },
    { name: 'k3s', objects: nodes(node(['server'])), want: "Network of its flannel, 10.42.0.0/16, doesn't have it" },
    {
      name: 'AWS VPC CNI',
      objects: aws({}),
      to: 'packets to c2, unless the VPC has it',
      want: "AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS of the DaemonSet kube-system/aws-node doesn't have it",
    },
    {
      name: 'ip-masq-agent',
      objects: azure({}),
      want: "nonMasqueradeCIDRs of the ConfigMap kube-system/azure-ip-masq-agent-config doesn't have it",
    },
    {
      name: 'Cilium',
      objects: cilium({ 'egress-masquerade-interfaces': 'eth+' }),
      to: `packets to c2, unless they don't leave by "eth+"`,
      want: "ipv4-native-routing-cidr of the ConfigMap kube-system/cilium-config doesn't have it",
    },
    {
      name: 'kube-proxy',
      objects: proxy('iptables:\n  masqueradeAll: true\n'),
      to: 'packets to ClusterIPs of c2',
      want: 'iptables.masqueradeAll in config.conf of the ConfigMap kube-system/kube-proxy is true',
    },
  ])('of $name is told with its setting', ({ name, objects, to = 'packets to c2', want }) => {
    const texts = masqueradersOf(objects).found.map((each) => masqueradeText(each, 'c2'));
    expect(texts).toEqual([`${name} replaces the address of Pods in ${to}: ${want}`]);
  });

  it('by each of them has a heading in docs/wireguard.md', () => {
    const everywhere = [
      flannel({ Network: '10.244.0.0/16' }),
      nodes(node(['server'])),
      kindnet('10.244.0.0/16'),
      aws({}),
      agent(undefined),
      cilium({}),
      proxy('iptables:\n  masqueradeAll: true\n'),
      pools(natOutgoing),
    ];
    const found: readonly Masquerader[] = everywhere.flatMap((objects) => masqueradersOf(objects).found);
    const headings = Array.from(docPage('wireguard.md').matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
      heading.toLowerCase().replaceAll(' ', '-'),
    );
    expect(found).toHaveLength(everywhere.length);
    expect(headings).toEqual(expect.arrayContaining(found.map(({ name }) => headingOf(name))));
  });
});
