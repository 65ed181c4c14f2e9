import { type IpFamily, mustParseCidr } from '@kube-semaphore/net';
import { expect, it } from 'vitest';
import { linkedCluster } from '../../../test/support/linked-cluster.ts';
import { conflictsOf } from './conflicts.ts';
import { familiesBetween } from './families.ts';
import type { Cluster } from './findings.ts';
import type { KnownRemote } from '../files/kustomize.ts';

const cluster = (
  name: string,
  pods: readonly string[],
  services: readonly string[],
  change: Partial<Cluster> = {},
): Cluster =>
  linkedCluster(name, {
    server: '',
    podCidrs: pods.map(mustParseCidr),
    serviceCidrs: services.map(mustParseCidr),
    calico: undefined,
    ...change,
  });

const c1 = cluster('c1', ['10.2.0.0/16', 'fd00:2::/48'], ['10.3.0.0/16']);
const c2 = cluster('c2', ['10.4.0.0/16', '10.4.8.0/24'], ['10.5.0.0/16']);
const linked = (given?: readonly IpFamily[], known: ReadonlyMap<string, readonly KnownRemote[]> = new Map()) => ({
  known,
  families: familiesBetween(['c1', 'c2', 'c3'], given, known),
  sharedServiceCidrs: false,
});
const nothing = linked();

it('finds nothing in clusters that differ, also if Pods and nodes of one share a range', () => {
  const nodes = ['10.4.0.0/16', '10.5.0.0/16', '172.18.0.0/16'].map(mustParseCidr);
  const shared = { ...c2, nodeIps: ['10.4.0.7'], apiServerIps: ['10.4.0.8'], nodeCidrs: nodes };
  expect(conflictsOf([{ ...c1, nodeCidrs: nodes.slice(2) }, shared], nothing)).toEqual([]);
});

it.each([
  {
    name: 'one cluster by two contexts',
    clusters: [c1, { ...c2, uid: 'c1' }],
    want: 'the contexts c1 and c2 are the same cluster: use one of them',
  },
  {
    name: 'Pods of IPv6',
    clusters: [c1, cluster('c2', ['fd00:2:0:1::/64'], [])],
    want: 'c1 has fd00:2::/48 for Pods, which overlaps fd00:2:0:1::/64 for Pods of c2',
  },
  {
    name: 'Pods with Services elsewhere',
    clusters: [c1, cluster('c2', ['10.3.1.0/24'], [])],
    want: 'c1 has 10.3.0.0/16 for Services, which overlaps 10.3.1.0/24 for Pods of c2',
  },
  {
    name: 'Pods with Services of its own',
    clusters: [c1, cluster('c2', ['10.9.0.0/16'], ['10.9.1.0/24'])],
    want: 'c2 has 10.9.0.0/16 for Pods, which overlaps 10.9.1.0/24 for Services of c2',
  },
  {
    name: 'Pods with nodes elsewhere',
    clusters: [
      { ...c1, nodeIps: ['192.168.7.4', '192.168.0.7'], nodeCidrs: [mustParseCidr('192.168.0.0/16')] },
      cluster('c2', ['192.168.0.0/24'], []),
    ],
    want: 'c2 has 192.168.0.0/24 for Pods, which has the address 192.168.0.7 of a node of c1',
  },
  {
    name: 'Pods with API servers elsewhere',
    clusters: [{ ...c1, apiServerIps: ['192.168.0.9'] }, cluster('c2', ['192.168.0.0/24'], [])],
    want: 'c2 has 192.168.0.0/24 for Pods, which has the address 192.168.0.9 of an API server of c1',
  },
  {
    name: 'Pods with an API server that is reached elsewhere',
    clusters: [{ ...c1, server: 'https://192.168.0.9:6443' }, cluster('c2', ['192.168.0.0/24'], [])],
    want: 'c2 has 192.168.0.0/24 for Pods, which has the address 192.168.0.9 of an API server of c1',
  },
  {
    name: 'Pods where nodes elsewhere may come to be',
    clusters: [
      { ...c1, nodeIps: ['192.168.7.4'], nodeCidrs: [mustParseCidr('192.168.0.0/16')] },
      cluster('c2', ['192.168.0.0/24'], []),
    ],
    want: 'c1 has 192.168.0.0/16 for nodes, which overlaps 192.168.0.0/24 for Pods of c2: set --node-cidr c1=CIDR',
  },
])('finds $name', ({ clusters, want }) => {
  expect(conflictsOf(clusters, nothing)).toEqual([want]);
});

it('allows equal ranges of Services, and only these, if the user does', () => {
  const other = cluster('c2', ['10.3.0.0/24'], ['10.3.0.0/16']);
  expect(conflictsOf([c1, other], { ...nothing, sharedServiceCidrs: true })).toEqual([
    'c1 has 10.3.0.0/16 for Services, which overlaps 10.3.0.0/24 for Pods of c2',
    'c2 has 10.3.0.0/24 for Pods, which overlaps 10.3.0.0/16 for Services of c2',
  ]);
});

it('compares with remotes that the folder has, but not with an older entry of the same cluster', () => {
  const known = new Map([
    [
      'c1',
      [
        { name: 'c2', podCidrs: [mustParseCidr('10.2.0.0/16')], nodeCidrs: [] },
        { name: 'c1-a', podCidrs: [mustParseCidr('10.4.8.0/24')], nodeCidrs: [] },
        { name: 'c9', server: 'https://[fd00:2::9]:6443', podCidrs: [], nodeCidrs: [mustParseCidr('10.4.0.0/20')] },
      ],
    ],
  ]);
  expect(conflictsOf([c1, c2], { ...nothing, known })).toEqual([
    'the name c1-a begins with c1-, so names of their mirrors can be equal: set --cluster-name CONTEXT=NAME for one of them',
    'c1 has fd00:2::/48 for Pods, which has the address fd00:2::9 of an API server of c9',
    'c2 has 10.4.0.0/16 for Pods, which overlaps 10.4.8.0/24 for Pods of c1-a',
    'c2 has 10.4.8.0/24 for Pods, which overlaps 10.4.8.0/24 for Pods of c1-a',
    ...['10.4.0.0/16 for Pods of c2', '10.4.8.0/24 for Pods of c2', '10.4.8.0/24 for Pods of c1-a'].map(
      (pods) => `c9 has 10.4.0.0/20 for nodes, which overlaps ${pods}: link c9, too, and set --node-cidr for it`,
    ),
  ]);
});

const dual = (name: string, ipv6: string): Cluster => cluster(name, ['10.2.0.0/16', ipv6], ['10.96.0.0/16']);

it('names the family that clusters with equal ranges can use', () => {
  expect(conflictsOf([c1, dual('c2', 'fd00:4::/48')], nothing)).toEqual([
    'c1 has 10.2.0.0/16 for Pods, which overlaps 10.2.0.0/16 for Pods of c2: --families ipv6 links them without it',
  ]);
});

it.each([
  {
    name: 'a flag',
    options: linked([6]),
  },
  {
    name: 'files of an earlier run',
    options: linked(undefined, new Map([['c2', [{ name: 'c1', families: [6], podCidrs: [], nodeCidrs: [] }]]])),
  },
])('allows equal ranges in the family that $name leaves out, of Pods and of Services', ({ options }) => {
  const shared = cluster('c1', ['10.2.0.0/16', 'fd00:2::/48'], ['10.96.0.0/16', 'fd00:3::/112']);
  expect(conflictsOf([shared, dual('c2', 'fd00:4::/48')], options)).toEqual([]);
});

it('compares two clusters if a third one uses both', () => {
  const known = new Map([
    ['c1', [{ name: 'c2', families: [6] as const, podCidrs: [], nodeCidrs: [] }]],
    ['c3', []],
  ]);
  const third = cluster('c3', ['10.9.0.0/16'], []);
  const [problem, ...others] = conflictsOf([c1, dual('c2', 'fd00:4::/48'), third], linked(undefined, known));
  expect(problem).toContain('c1 has 10.2.0.0/16 for Pods, which overlaps 10.2.0.0/16 for Pods of c2');
  expect(others).toEqual([]);
});

it('refuses a family that the Pods of a cluster lack, and Pods around a node of the other one', () => {
  const one = { ...dual('c1', 'fd00:2::/48'), nodeIps: ['10.4.0.7'] };
  expect(conflictsOf([one, cluster('c2', ['10.4.0.0/16'], [])], linked([6]))).toEqual([
    'c2 has no range of ipv6 for Pods: set other --families',
    'c2 has 10.4.0.0/16 for Pods, which has the address 10.4.0.7 of a node of c1',
  ]);
});
