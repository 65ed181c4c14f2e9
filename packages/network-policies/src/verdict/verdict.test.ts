import { Codec, type customResourceKind, networkPolicyWithTimesKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { calicoSink } from '../sinks/calico-sink.ts';
import { ciliumSink } from '../sinks/cilium-sink.ts';
import { sourceOf, writtenCompanion } from '../companions/companion.ts';
import { companionsAsPolicies, ruleText, sideVerdict } from './verdict.ts';
import type { FlowPod, SideInput } from './flow.ts';

const K = 'cluster.clusterset.k8s.io';
const codec = new Codec(networkPolicyWithTimesKind);

const policy = (name: string, spec: object, metadata: object = {}) =>
  codec.objectFromJson({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: 'alpha', name, uid: name, generation: 3, ...metadata },
    spec: { podSelector: { matchLabels: { app: 'db' } }, policyTypes: ['Ingress'], ...spec },
  });

const companion = (name: string, ip: string, { generation = 3, remote = 'c2', ports: numbers = [5432] } = {}) => {
  const podSelector = { matchLabels: { app: 'db' }, matchExpressions: [] };
  const rules = numbers.map((port) => ({
    text: 'x',
    ports: [{ protocol: 'TCP', port, endPort: 0 }],
    cidrs: [`${ip}/32`],
  }));
  const source = { namespace: 'alpha', name, uid: name, generation, podSelector };
  const { metadata, spec } = writtenCompanion(source, {
    name: `${name}-${remote}`,
    remote,
    direction: 'ingress',
    rules,
  });
  return policy(`${name}-${remote}`, spec, metadata);
};

const db: FlowPod = {
  namespace: 'alpha',
  name: 'db',
  labels: { app: 'db' },
  namespaceLabels: { team: 'a' },
  namedPorts: [{ name: 'sql', protocol: 'TCP', port: 5432 }],
  hostNetwork: false,
  finished: false,
};

const web: FlowPod = {
  ...db,
  namespace: 'beta',
  name: 'web',
  labels: { app: 'web' },
  namespaceLabels: { [K]: 'c2', tier: 'shop' },
  namedPorts: [{ name: 'http', protocol: 'TCP', port: 8080 }],
};

const c2 = { name: 'c2', id: 'c2', labels: {}, refusal: undefined };
const ip = '10.2.0.20';

const input: SideInput = {
  direction: 'ingress',
  subject: db,
  peer: { ip, pod: web, remote: c2 },
  port: { port: 5432, protocol: 'TCP' },
  policies: [],
  key: K,
};

const selector = { [K]: 'c2', tier: 'shop' };
const allow = (namespaceLabels: object = selector, app = 'web', port: number | string = 5432) => ({
  ingress: [
    {
      from: [{ namespaceSelector: { matchLabels: namespaceLabels }, podSelector: { matchLabels: { app } } }],
      ports: [{ protocol: 'TCP', port }],
    },
  ],
});

const verdict = (changes: Partial<SideInput>) => sideVerdict({ ...input, ...changes });

const ONE = 'rule 1, peer 1: it allows this, but';
const LIMIT = '-max-addresses-per-source is';

describe('sideVerdict', () => {
  it('allows what no policy isolates', () => {
    const elsewhere = policy('other', {}, { namespace: 'gamma' });
    const other = policy('web', { podSelector: { matchLabels: { app: 'web' } } });
    const egress = policy('egress', { policyTypes: ['Egress'] });
    expect(verdict({ policies: [elsewhere, other, egress] })).toMatchObject({ allowed: true, isolatedBy: [] });
  });

  it('allows what a companion has the address of, and names the rule of the user', () => {
    const { metadata, ...rest } = companion('db', ip);
    const managedFields = [{ time: 0 }, { time: 2_000 }, { time: 1_000 }];
    const written = { metadata: { ...metadata, managedFields }, ...rest };
    const policies = [policy('deny', {}), policy('db', allow()), written];
    expect(verdict({ policies })).toEqual({
      allowed: true,
      isolatedBy: ['alpha/db', 'alpha/deny'],
      by: {
        networkPolicy: 'alpha/db',
        rule: 1,
        peer: 1,
        companion: {
          name: 'alpha/db-c2',
          generation: '3',
          generationNow: '3',
          writtenAt: '1970-01-01T00:00:02.000Z',
        },
      },
      misses: [],
    });
  });

  it.each([
    ['Calico', calicoSink('crd.projectcalico.org/v1')],
    ['Cilium', ciliumSink],
  ])('allows what a companion of %s has the address of', (_, sink) => {
    const source = sourceOf(policy('db', allow()));
    const parts = sink.partsOf(source, {
      name: 'db-c2',
      remote: 'c2',
      direction: 'ingress',
      rules: [{ text: 'x', ports: [{ protocol: 'TCP', port: 5432, endPort: 0 }], cidrs: [`${ip}/32`] }],
    });
    const objects = parts.flatMap(({ resource, to }) => {
      const { group, version, kind } = resource as ReturnType<typeof customResourceKind>;
      const object = new Codec(resource as ReturnType<typeof customResourceKind>).objectFromJson({
        apiVersion: `${group}/${version}`,
        kind,
        ...to,
      });
      return sink.read(resource, object) ?? [];
    });
    const policies = [policy('db', allow()), policy('deny', {})];
    const companions = companionsAsPolicies(policies, objects);
    expect(verdict({ policies: [...policies, ...companions] })).toMatchObject({
      allowed: true,
      by: { networkPolicy: 'alpha/db', rule: 1, peer: 1, companion: { name: `alpha/${sink.policyName('db-c2')}` } },
    });
    expect(verdict({ policies: [...policies, ...companions], port: { port: 5433, protocol: 'TCP' } }).allowed).toBe(
      false,
    );
    expect(companionsAsPolicies([], objects)).toEqual([]);
    const another = { ...input.peer, ip: '10.2.0.21' };
    expect(verdict({ policies: [policies[0]!, ...companions], peer: another, maxAddressesPerSource: 1 })).toMatchObject(
      {
        misses: [{ detail: `${ONE} gets no more addresses of other clusters: it has 1, and ${LIMIT} 1` }],
      },
    );
  });

  it.each<{ name: string; policies: SideInput['policies']; peer?: Partial<SideInput['peer']>; want: object }>([
    {
      name: 'the policy was tightened, and its companion is behind',
      policies: [policy('db', allow(selector, 'api')), companion('db', ip, { generation: 2 })],
      want: { detail: 'rule 1, peer 1: the labels of the Pod do not match app=api', companion: { generation: '2' } },
    },
    {
      name: 'the labels of the Pod changed a moment ago',
      policies: [policy('db', allow()), companion('db', ip)],
      peer: { pod: { ...web, labels: { app: 'api' } } },
      want: { detail: 'rule 1, peer 1: the labels of the Pod do not match app=web', companion: { generation: '3' } },
    },
    {
      name: 'the policy has no rule any more',
      policies: [policy('db', {}), companion('db', ip)],
      want: { detail: 'it has no rule for ingress' },
    },
    {
      name: 'the policy is gone',
      policies: [companion('db', ip)],
      want: { detail: 'it is gone', companion: { generation: '3', generationNow: undefined } },
    },
    {
      name: 'the address is of no known Pod',
      policies: [policy('db', allow()), companion('db', ip)],
      peer: { pod: undefined, remote: undefined },
      want: { detail: 'which of its rules means 10.2.0.20 is not known' },
    },
  ])('names no rule of the user if only a companion allows a flow: $name', ({ policies, peer, want }) => {
    const found = verdict({ policies, peer: { ...input.peer, ...peer } });
    expect(found).toMatchObject({ allowed: true, by: { networkPolicy: 'alpha/db', ...want } });
    expect(found.by?.rule).toBe(undefined);
    expect(ruleText(found.by!)).toBe('a companion alone, and not by alpha/db');
  });

  it('names a rule for everybody, without a peer', () => {
    const { by } = verdict({ policies: [policy('db', { ingress: [{}] })] });
    expect(by).toEqual({ networkPolicy: 'alpha/db', rule: 1, peer: undefined, companion: undefined });
  });

  it('ignores policies on a Pod with hostNetwork', () => {
    const found = verdict({ subject: { ...db, hostNetwork: true }, policies: [policy('db', {})] });
    expect(found).toMatchObject({ allowed: true, isolatedBy: ['alpha/db'] });
  });

  it.each([
    { name: 'a block', peer: { ipBlock: { cidr: '10.2.0.0/16' } }, want: true },
    {
      name: 'an exception of a block',
      peer: { ipBlock: { cidr: '10.2.0.0/16', except: ['10.2.0.0/24'] } },
      want: false,
    },
    { name: 'a selector', peer: { namespaceSelector: {} }, want: false },
  ])('knows a Pod of another cluster by $name: $want', ({ peer, want }) => {
    expect(verdict({ policies: [policy('db', { ingress: [{ from: [peer] }] })] }).allowed).toBe(want);
  });

  it.each([
    { name: 'no namespaceSelector, as the namespace of the policy', from: { podSelector: {} }, want: false },
    { name: 'an empty namespaceSelector, as every namespace', from: { namespaceSelector: {} }, want: true },
    { name: 'labels', from: { namespaceSelector: { matchLabels: { tier: 'shop' } } }, want: true },
    { name: 'other labels', from: { namespaceSelector: {}, podSelector: { matchLabels: { app: 'x' } } }, want: false },
  ])('selects a Pod of the same cluster by $name', ({ from, want }) => {
    const peer = { ip, pod: web, remote: undefined };
    expect(verdict({ peer, policies: [policy('db', { ingress: [{ from: [from] }] })] }).allowed).toBe(want);
  });

  it.each([
    { port: { protocol: 'TCP', port: 5432 }, want: true },
    { port: { protocol: 'UDP', port: 5432 }, want: false },
    { port: { protocol: 'TCP' }, want: true },
    { port: { protocol: 'TCP', port: 5400, endPort: 5500 }, want: true },
    { port: { protocol: 'TCP', port: 5400, endPort: 5431 }, want: false },
    { port: { protocol: 'TCP', port: 'sql' }, want: true },
    { port: { protocol: 'TCP', port: 'http' }, want: false },
  ])('compares the port 5432/TCP with $port', ({ port, want }) => {
    expect(verdict({ policies: [policy('db', { ingress: [{ ports: [port] }] })] }).allowed).toBe(want);
  });

  it.each<{
    name: string;
    policies: SideInput['policies'];
    peer?: Partial<SideInput['peer']>;
    limit?: number;
    want: string;
  }>([
    {
      name: 'a companion that is not there',
      policies: [policy('db', allow()), companion('db', '10.3.0.1', { remote: 'c3' })],
      want: 'rule 1, peer 1: it allows this, but has no companion for c2: is -network-policies on?',
    },
    {
      name: 'a companion of an older version',
      policies: [policy('db', allow()), companion('db', '10.2.0.9', { generation: 2 })],
      want: 'rule 1, peer 1: it allows this, but its companion for c2 is of generation 2, and the policy of 3',
    },
    {
      name: 'an address that a companion lacks',
      policies: [policy('db', allow()), companion('db', '10.2.0.9')],
      want: 'rule 1, peer 1: it allows this, but its companion for c2 does not have 10.2.0.20 yet',
    },
    {
      name: 'a limit that is reached, on any port and in any cluster',
      policies: [
        policy('db', allow()),
        companion('db', '10.2.0.9', { ports: [5432, 5433] }),
        companion('db', '10.3.0.1', { remote: 'c3' }),
        companion('other', '10.2.0.9'),
      ],
      limit: 2,
      want: `${ONE} gets no more addresses of other clusters: it has 2, and ${LIMIT} 2`,
    },
    {
      name: 'a limit that other clusters reached alone',
      policies: [policy('db', allow()), companion('db', '10.3.0.1', { remote: 'c3' })],
      limit: 1,
      want: `${ONE} gets no more addresses of other clusters: it has 1, and ${LIMIT} 1`,
    },
    {
      name: 'an address that a companion lacks below the limit',
      policies: [policy('db', allow()), companion('db', '10.2.0.9', { ports: [5432, 5433] })],
      limit: 2,
      want: `${ONE} its companion for c2 does not have 10.2.0.20 yet`,
    },
    {
      name: 'a Pod that -remote-pod-selector excludes',
      policies: [policy('db', allow()), companion('db', '10.2.0.9')],
      peer: { remote: { ...c2, excludedBy: 'shared=yes' } },
      want: 'rule 1, peer 1: the Pod does not match -remote-pod-selector shared=yes',
    },
    {
      name: 'other labels rather than -remote-pod-selector',
      policies: [policy('db', allow(selector, 'api'))],
      peer: { remote: { ...c2, excludedBy: 'shared=yes' } },
      want: 'rule 1, peer 1: the labels of the Pod do not match app=api',
    },
    {
      name: 'an address that no known Pod has',
      policies: [policy('db', allow())],
      peer: { pod: undefined, remote: undefined },
      want: 'rule 1, peer 1: it selects Pods, and 10.2.0.20 is no known Pod',
    },
    {
      name: 'an address that is not allowed',
      policies: [policy('db', allow())],
      peer: { remote: { ...c2, refusal: '10.2.0.20 is outside of allowedPodCIDRs' } },
      want: 'rule 1, peer 1: it allows this, but not the address: 10.2.0.20 is outside of allowedPodCIDRs',
    },
    {
      name: 'another port',
      policies: [policy('db', allow(selector, 'web', 8080))],
      want: 'rule 1, peer 1: it allows 8080/TCP, not 5432/TCP',
    },
    {
      name: 'other labels of Pods',
      policies: [policy('db', allow(selector, 'api'))],
      want: 'rule 1, peer 1: the labels of the Pod do not match app=api',
    },
    {
      name: 'other labels of the namespace',
      policies: [policy('db', allow({ [K]: 'c2', tier: 'bank' }))],
      want: `rule 1, peer 1: the namespace beta does not match ${K}=c2,tier=bank`,
    },
    {
      name: 'another cluster',
      policies: [policy('db', allow({ [K]: 'c3' }))],
      want: 'rule 1, peer 1: it names other clusters than c2',
    },
    {
      name: 'a label that the config gives to other clusters',
      policies: [policy('db', allow({ [K]: 'c2', 'labels.policy.semaphore.uw.io/region': 'eu' }))],
      peer: { remote: { ...c2, labels: { 'labels.policy.semaphore.uw.io/region': 'us' } } },
      want: 'rule 1, peer 1: it names other clusters than c2',
    },
    {
      name: 'no cluster',
      policies: [policy('db', allow({ tier: 'shop' }))],
      want: `rule 1, peer 1: its namespaceSelector does not name ${K}, so it selects no Pod of another cluster`,
    },
    {
      name: 'a Pod with hostNetwork',
      policies: [policy('db', allow())],
      peer: { pod: { ...web, hostNetwork: true } },
      want: 'rule 1, peer 1: it selects no Pod that uses the network of its node',
    },
    {
      name: 'a cluster without a known id',
      policies: [policy('db', allow())],
      peer: { remote: { ...c2, id: undefined } },
      want: 'rule 1, peer 1: it names clusters, and which is c2 is not known: set -local-cluster-name',
    },
    { name: 'no rule', policies: [policy('db', {})], want: 'it has no rule for ingress' },
    {
      name: 'the nearest of several',
      policies: [policy('db', { ingress: [...allow({ [K]: 'c3' }).ingress, ...allow(selector, 'web', 8080).ingress] })],
      want: 'rule 2, peer 1: it allows 8080/TCP, not 5432/TCP',
    },
  ])('names $name', ({ policies, peer, limit, want }) => {
    const found = verdict({ policies, peer: { ...input.peer, ...peer }, maxAddressesPerSource: limit });
    expect(found).toMatchObject({
      allowed: false,
      by: undefined,
      misses: [{ networkPolicy: 'alpha/db', detail: want }],
    });
  });
});
