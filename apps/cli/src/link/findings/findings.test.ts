import { describe, expect, it } from 'vitest';
import type { Answers } from '../answers.ts';
import { findingsOf } from './findings.ts';
import type { Observed } from './observe.ts';

const node = { name: 'n1', podCidrs: ['10.2.0.0/24'], addresses: [], internalIps: ['172.18.0.3'], tunnelIps: [] };
const withoutPods = { ...node, podCidrs: [] };

/** A cluster of kubeadm with Calico and HostLocal. */
const observed: Observed = {
  context: 'c1',
  server: 'https://127.0.0.1:40001',
  viaProxy: false,
  version: 'v1.34.1',
  uid: 'u1',
  groups: new Set(['projectcalico.org', 'crd.projectcalico.org', 'operator.tigera.io']),
  nodes: [node],
  apiServerIps: [],
  pools: [{ cidr: '10.2.0.0/16' }],
  hasBlocks: false,
  ipamType: 'HostLocal',
  felix: undefined,
  serviceCidrs: ['10.3.0.0/16'],
  podSubnet: '10.2.0.0/16',
  serviceSubnet: '10.3.0.0/16',
  joinServer: 'https://c1-control-plane:6443',
  dns: { kind: 'CoreDNS', servers: ['CoreDNS'], domain: 'cluster.local.' },
  dnsImage: 'registry.k8s.io/coredns/coredns:v1.12.2',
};

const find = (
  change: Partial<Observed> = {},
  { name = change.context ?? 'c1', ...answers }: Answers & { readonly name?: string } = {},
  wireguard = true,
) =>
  findingsOf(
    { ...observed, ...change },
    { named: { value: name, source: '--cluster-name' }, ...answers },
    { wireguard, answers },
  );

/** What is found of CoreDNS before it gets a zone for ServiceImports. */
const findDns = (dnsImage: string | undefined, choices: object = {}) => {
  const all = findingsOf(
    { ...observed, dnsImage },
    { named: { value: 'c1', source: 'the context' } },
    { mcs: true, apply: true, ...choices },
  );
  return [...all.findings.filter(({ what }) => what === 'CoreDNS').map(({ found }) => found), ...all.problems];
};

/** What was found, as `VALUE from SOURCE`. */
const foundAs = (what: string, change: Partial<Observed>, answers: Parameters<typeof find>[1] = {}) =>
  find(change, answers)
    .findings.filter((each) => each.what === what)
    .map(({ found, source }) => `${found} from ${source}`)
    .join();

const bare: Partial<Observed> = { groups: new Set(), pools: [], ipamType: undefined };

describe('what is found', () => {
  it('is enough to link a cluster of kubeadm', () => {
    expect(find()).toMatchObject({ problems: [], cluster: { name: 'c1', minor: 34, calico: 'projectcalico.org/v3' } });
  });

  it.each([
    { what: 'API server', change: {}, want: 'https://c1-control-plane:6443 from ConfigMap kube-public/cluster-info' },
    {
      what: 'API server',
      change: { joinServer: undefined, server: 'https://api.c1.example' },
      want: 'https://api.c1.example from the kubeconfig',
    },
    {
      what: 'Pods',
      change: {
        pools: [
          { cidr: 'fd00:2::/48' },
          { cidr: '10.2.0.0/16' },
          { cidr: '10.9.0.0/16', disabled: true },
          { cidr: '10.8.0.0/16', allowedUses: ['Tunnel'] },
        ],
      },
      want: "10.2.0.0/16, fd00:2::/48 from Calico's IPPools",
    },
    {
      what: 'families',
      change: { pools: [{ cidr: 'fd00:2::/48' }, { cidr: '10.2.0.0/16' }] },
      want: 'IPv4, IPv6 from the Pods',
    },
    { what: 'Pods', change: bare, want: '10.2.0.0/16 from ConfigMap kube-system/kubeadm-config' },
    { what: 'Services', change: {}, want: '10.3.0.0/16 from ServiceCIDRs' },
    {
      what: 'Services',
      change: { serviceCidrs: undefined },
      want: '10.3.0.0/16 from ConfigMap kube-system/kubeadm-config',
    },
    { what: 'nodes', change: {}, want: '172.18.0.0/16 from around InternalIPs of its Nodes' },
    {
      what: 'nodes',
      change: {
        nodes: ['10.9.0.3', '172.18.200.1', 'fd00:7::1', '172.18.0.4'].map((ip) => ({ ...node, internalIps: [ip] })),
      },
      want: '10.9.0.0/16, 172.18.0.0/16, fd00:7::/48 from around InternalIPs of its Nodes',
    },
    { what: 'IPAM', change: {}, want: 'podCIDRs from Installation default' },
    { what: 'IPAM', change: { ipamType: 'Calico' }, want: 'calico-blocks from Installation default' },
    { what: 'IPAM', change: { ipamType: undefined, hasBlocks: true }, want: "calico-blocks from Calico's IPAMBlocks" },
    { what: 'IPAM', change: bare, want: 'podCIDRs from Node.spec.podCIDRs' },
    { what: 'CNI', change: bare, want: 'other from its API groups' },
    {
      what: 'ports in use',
      change: { felix: { wireguardEnabled: true, wireguardEnabledV6: true, wireguardListeningPortV6: 7000 } },
      want: '51820, 7000 from FelixConfiguration default',
    },
  ])('$what: $want', ({ what, change, want }) => {
    expect(foundAs(what, change)).toBe(want);
  });

  it.each([
    { what: 'name', answers: { name: 'east' }, want: 'east from --cluster-name' },
    { what: 'API server', answers: { server: 'https://lb' }, want: 'https://lb from --server' },
    { what: 'Pods', answers: { podCidrs: ['10.0.0.0/8'] }, want: '10.0.0.0/8 from --pod-cidr' },
    { what: 'Pods', answers: { podCidrs: ['8.8.8.0/24'] }, want: '8.8.8.0/24 from --pod-cidr' },
    { what: 'Services', answers: { serviceCidrs: ['10.9.0.0/16'] }, want: '10.9.0.0/16 from --service-cidr' },
    {
      what: 'nodes',
      answers: { nodeCidrs: ['172.18.0.0/24', '8.8.8.0/24'] },
      want: '8.8.8.0/24, 172.18.0.0/24 from --node-cidr',
    },
    { what: 'IPAM', answers: { ipam: 'calico-blocks' }, want: 'calico-blocks from --ipam' },
  ])('is overridden by an answer: $want', ({ what, answers, want }) => {
    expect(foundAs(what, {}, answers)).toBe(want);
  });
});

const serverAdvice =
  'in the kubeconfig may not be reached from elsewhere: ' +
  'set --server c1=https://HOST:PORT, as Pods of the other clusters reach it';
const ipamAdvice = 'set --ipam c1=podCIDRs or --ipam c1=calico-blocks, or use --no-wireguard';

describe('what is missing or wrong', () => {
  it.each([
    {
      change: { context: 'kind_c1' },
      want:
        'kind_c1: "kind_c1" can\'t begin the names of Services: set --cluster-name kind_c1=NAME ' +
        'with at most 40 lower-case letters, digits and hyphens',
    },
    {
      change: { context: 'gl-1' },
      want: 'gl-1: the name "gl-1" is reserved for global Services: set --cluster-name gl-1=NAME',
    },
    {
      change: { joinServer: undefined, server: 'https://[::1]:6443' },
      want: `c1: https://[::1]:6443 ${serverAdvice}`,
    },
    {
      change: { joinServer: undefined, server: 'https://api.c1.example', viaProxy: true },
      want: `c1: https://api.c1.example ${serverAdvice}`,
    },
    {
      change: { ...bare, podSubnet: undefined },
      want: 'c1: the range of all Pods is not known (its Nodes have 10.2.0.0/24): set --pod-cidr c1=CIDR',
    },
    {
      change: { serviceCidrs: undefined, serviceSubnet: undefined },
      want: 'c1: the range of Services is not known: set --service-cidr c1=CIDR',
    },
    {
      change: { ipamType: 'AmazonVPC' },
      want: `c1: the IPAM AmazonVPC is not known: ${ipamAdvice}`,
    },
    {
      change: { ...bare, nodes: [withoutPods] },
      want: `c1: which node has which Pod addresses is not known, as no Node has spec.podCIDRs: ${ipamAdvice}`,
    },
    {
      change: { pools: [{ cidr: '169.254.0.0/16' }], nodes: [withoutPods] },
      want: "c1: Calico's IPPools: 169.254.0.0/16 is link-local: no Pod or node has an address there: set --pod-cidr c1=CIDR",
    },
    {
      change: { pools: [{ cidr: '10.0.0.0/8' }, { cidr: '11.0.0.0/8' }, { cidr: '12.0.0.0/8' }] },
      want: "c1: Calico's IPPools: the ranges of IPv4 together are too wide for one cluster: set --pod-cidr c1=CIDR",
    },
    {
      change: { pools: [{ cidr: '8.8.8.0/24' }], nodes: [withoutPods] },
      want: "c1: Calico's IPPools: 8.8.8.0/24 is a public range: if its Pods really have such addresses, set --pod-cidr c1=CIDR",
    },
    {
      change: { nodes: [{ ...node, internalIps: [] }] },
      want: 'c1: the range of its nodes is not known, as no Node has an InternalIP: set --node-cidr c1=CIDR',
    },
    {
      change: { nodes: [node, { ...node, internalIps: ['8.8.8.8'] }] },
      want:
        'c1: around InternalIPs of its Nodes: 8.8.0.0/16 is a public range: ' +
        'if its nodes really have such addresses, set --node-cidr c1=CIDR',
    },
    {
      change: { nodes: [{ ...node, internalIps: ['169.254.169.254'] }] },
      want:
        'c1: around InternalIPs of its Nodes: 169.254.0.0/16 is link-local: no Pod or node has an address there: ' +
        'set --node-cidr c1=CIDR',
    },
    { change: { version: 'v1.26.4' }, want: 'c1: Kubernetes v1.26.4 is not supported: upgrade to v1.27 or later' },
  ])('is named with the flag: $want', ({ change, want }) => {
    expect(find(change)).toMatchObject({ problems: [want] });
    expect(find(change)).not.toHaveProperty('cluster');
  });

  it.each([
    { answers: { server: 'http://lb' }, want: '--server: http://lb is not a valid https URL' },
    {
      answers: { podCidrs: ['0.0.0.0/0'] },
      want: '--pod-cidr: 0.0.0.0/0 is too wide for one cluster: it may have a prefix of 8 bits or more',
    },
    {
      answers: { podCidrs: ['10.2.0.0'] },
      want: '--pod-cidr: "10.2.0.0" is not a valid CIDR: it has no prefix length',
    },
    {
      answers: { nodeCidrs: ['0.0.0.0/0'] },
      want: '--node-cidr: 0.0.0.0/0 is too wide for one cluster: it may have a prefix of 8 bits or more',
    },
    { answers: { ipam: 'x' }, want: '--ipam: the IPAM x is not known' },
  ])('is an answer: $want', ({ answers, want }) => {
    expect(find({}, answers).problems).toEqual([expect.stringContaining(`c1: ${want}: set `) as unknown]);
  });

  it('is a range of nodes without one of them', () => {
    const nodes = [node, { ...node, name: 'n2', internalIps: ['172.18.1.3'] }];
    expect(find({ nodes }, { nodeCidrs: ['172.18.0.0/24'] }).problems).toEqual([
      'c1: Node n2 is at 172.18.1.3, which is outside 172.18.0.0/24 (--node-cidr): set --node-cidr c1=CIDR',
    ]);
  });

  it('is not the IPAM, without tunnels', () => {
    expect(find({ ...bare, nodes: [withoutPods] }, {}, false).problems).toEqual([]);
  });
});

describe('CoreDNS, when it gets a zone for ServiceImports,', () => {
  const advice = 'clusterset.local needs 1.12.2: upgrade it, or use --no-coredns, and see docs/mcs.md';

  it.each([
    { image: 'registry.k8s.io/coredns/coredns:v1.12.2', want: ['1.12.2'] },
    { image: 'r.example:5000/coredns:2.0.0-vendor.1', want: ['2.0.0'] },
    { image: 'coredns/coredns:1.12.1', want: [`c1: CoreDNS is 1.12.1, but ${advice}`] },
    {
      image: 'r.example:5000/dns',
      want: [`c1: the version of CoreDNS, r.example:5000/dns, is not known, but ${advice}`],
    },
    { image: undefined, want: [`c1: there is no Deployment kube-system/coredns, but ${advice}`] },
  ])('must know it: $image', ({ image, want }) => {
    expect(findDns(image)).toEqual(want);
  });

  it.each([{ mcs: false }, { coredns: false }, { apply: false }])('is not looked at with %j', (choices) => {
    expect(findDns(undefined, choices)).toEqual([]);
  });
});
