import { clusterPolicyKinds, Codec } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import type { CalicoObjects } from '../../clusters/calico.ts';
import { type NamedClusterPolicy, namedClusterPolicy } from '../../clusters/cluster-policies.ts';
import { tieredVerdict } from './tiered-verdict.ts';

const [CLUSTER, ADMIN, BASELINE] = clusterPolicyKinds;

function policy(kind: (typeof clusterPolicyKinds)[number], name: string, spec: object): NamedClusterPolicy {
  const metadata = { name };
  const apiVersion = `${kind.group}/${kind.version}`;
  const object = { apiVersion, kind: kind.kind, metadata, spec: { subject: { namespaces: {} }, ...spec } };
  return namedClusterPolicy(kind, new Codec<(typeof clusterPolicyKinds)[number]>(kind).objectFromJson(object));
}

const silent = { allowed: true, isolatedBy: [], by: undefined, misses: [] };
const allowing = { ...silent, by: { networkPolicy: 'shop/cart', rule: 1, peer: 1, companion: undefined } };
const isolating = { ...silent, allowed: false };

type Given = {
  readonly policies: readonly NamedClusterPolicy[];
  readonly kubernetes?: Parameters<typeof tieredVerdict>[1];
  readonly objects?: Partial<CalicoObjects>;
  readonly direction?: 'egress' | 'ingress';
  readonly hostNetwork?: boolean;
  readonly protocol?: string;
};

/** Of a packet between shop/cart and 10.4.0.9 of another cluster, for port 8080. */
function verdict({ policies, kubernetes = silent, objects, ...given }: Given): string {
  const { direction = 'egress', hostNetwork = false, protocol = 'TCP' } = given;
  const { result, detail } = tieredVerdict(
    {
      direction,
      subject: {
        namespace: 'shop',
        name: 'cart',
        labels: { app: 'cart' },
        namespaceLabels: { team: 'a' },
        namedPorts: [
          { name: 'http', protocol: 'TCP', port: 8080 },
          { name: 'metrics', protocol: 'TCP', port: 9090 },
        ],
        hostNetwork,
        finished: false,
        ip: '10.2.0.7',
        serviceAccount: 'default',
      },
      peerIp: '10.4.0.9',
      port: { port: 8080, protocol },
      objects: { policies: [], sets: [], tiers: [], ...objects },
      clusterPolicies: policies,
    },
    kubernetes,
  );
  return `${result} ${detail}`;
}

const there = { networks: ['10.4.0.0/16'] };
const nodes = { nodes: { matchLabels: { a: 'b' } } };
const rule = (action: string, ...to: readonly object[]) => ({ action, to: to.length === 0 ? [there] : to });
const allow = rule('Allow');
const accept = rule('Accept');
const deny = rule('Deny');
const pass = rule('Pass');

const admin = (name: string, priority: number, ...egress: readonly object[]) =>
  policy(ADMIN, name, { priority, egress });
const baseline = (...egress: readonly object[]) => policy(BASELINE, 'default', { egress });
const cluster = (name: string, tier: string, ...egress: readonly object[]) =>
  policy(CLUSTER, name, { tier, priority: 1, egress });

const tiers = (...names: readonly [string, number][]) =>
  names.map(([name, order]) => ({ name, order, defaultAction: 'Pass' }));
const calicoPolicy = (tier: string, action: 'Allow' | 'Deny') => ({
  resource: 'globalnetworkpolicies.crd.projectcalico.org',
  namespace: undefined,
  name: 'g',
  spec: { tier, egress: [{ action }] },
});
const set = { namespace: undefined, name: 's', labels: {}, nets: ['10.4.0.9/32'] };
const withSet = { sets: [set], tiers: tiers(['adminnetworkpolicy', 1000]) };
/** Calico's sets have no labels of a namespace. */
const bySet = { namespaces: { matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] } };

const BY_NONE = 'allowed by no policy';
const UNENFORCED = 'unknown AdminNetworkPolicy a: whether the network enforces it is not known';
const DENIED = 'denied by AdminNetworkPolicy a, rule 1';

describe('the verdict of policies for the whole cluster', () => {
  it.each<{ name: string; subject: object; want: string }>([
    { name: 'all namespaces', subject: { namespaces: {} }, want: DENIED },
    { name: 'its namespace', subject: { namespaces: { matchLabels: { team: 'a' } } }, want: DENIED },
    { name: 'another namespace', subject: { namespaces: { matchLabels: { team: 'b' } } }, want: BY_NONE },
    {
      name: 'the Pod',
      subject: { pods: { namespaceSelector: {}, podSelector: { matchLabels: { app: 'cart' } } } },
      want: DENIED,
    },
    {
      name: 'another Pod',
      subject: { pods: { namespaceSelector: {}, podSelector: { matchLabels: { app: 'web' } } } },
      want: BY_NONE,
    },
    {
      name: 'the Pod in another namespace',
      subject: { pods: { namespaceSelector: { matchLabels: { team: 'b' } }, podSelector: {} } },
      want: BY_NONE,
    },
    {
      name: 'a kind of subject that is not evaluated',
      subject: { accounts: {} },
      want: 'unknown AdminNetworkPolicy a: its subject is not evaluated',
    },
  ])('is by those whose subject is $name', ({ subject, want }) => {
    expect(verdict({ policies: [policy(ADMIN, 'a', { subject, egress: [deny] })] })).toBe(want);
  });

  it('is by none for a Pod in the network of its node, or in the other direction', () => {
    expect(verdict({ policies: [admin('a', 1, deny)], hostNetwork: true })).toBe(BY_NONE);
    expect(verdict({ policies: [admin('a', 1, deny)], direction: 'ingress' })).toBe(BY_NONE);
  });

  it.each<{ name: string; peers: readonly object[]; want: string }>([
    { name: 'its network', peers: [there], want: DENIED },
    { name: 'another network', peers: [{ networks: ['10.5.0.0/16', '::/0'] }], want: BY_NONE },
    { name: 'one of several', peers: [{ networks: ['10.5.0.0/16'] }, there], want: DENIED },
    { name: 'namespaces, which other clusters are not in', peers: [{ namespaces: {} }], want: BY_NONE },
    {
      name: 'Pods, which those of other clusters are not',
      peers: [{ pods: { namespaceSelector: {}, podSelector: {} } }],
      want: BY_NONE,
    },
    { name: 'nodes', peers: [nodes], want: 'unknown AdminNetworkPolicy a, rule 1: its peer 1 is not evaluated' },
    {
      name: 'names',
      peers: [{ namespaces: {} }, { domainNames: ['*.example.com'] }],
      want: 'unknown AdminNetworkPolicy a, rule 1: its peer 2 is not evaluated',
    },
  ])('is by peers: $name', ({ peers, want }) => {
    expect(verdict({ policies: [admin('a', 1, rule('Deny', ...peers))] })).toBe(want);
  });

  it.each<{ name: string; ports?: readonly object[]; protocols?: readonly object[]; want: string }>([
    { name: 'a number', ports: [{ portNumber: { protocol: 'TCP', port: 8080 } }], want: DENIED },
    { name: 'a number of TCP', ports: [{ portNumber: { port: 8080 } }], want: DENIED },
    { name: 'another number', ports: [{ portNumber: { protocol: 'TCP', port: 80 } }], want: BY_NONE },
    { name: 'another protocol', ports: [{ portNumber: { protocol: 'UDP', port: 8080 } }], want: BY_NONE },
    { name: 'a range', ports: [{ portRange: { protocol: 'TCP', start: 8000, end: 8080 } }], want: DENIED },
    { name: 'a range that ends before', ports: [{ portRange: { start: 1, end: 8079 } }], want: BY_NONE },
    { name: 'a name, which an address does not have', ports: [{ namedPort: 'http' }], want: BY_NONE },
    {
      name: 'what is not evaluated',
      ports: [{ service: 'x' }],
      want: 'unknown AdminNetworkPolicy a, rule 1: its port is not evaluated',
    },
    {
      name: 'one of several',
      protocols: [{ udp: { destinationPort: { number: 8080 } } }, { tcp: { destinationPort: { number: 8080 } } }],
      want: DENIED,
    },
    {
      name: 'a range of a protocol',
      protocols: [{ tcp: { destinationPort: { range: { start: 8080, end: 8081 } } } }],
      want: DENIED,
    },
    {
      name: 'another range of a protocol',
      protocols: [{ tcp: { destinationPort: { range: { start: 8081, end: 8082 } } } }],
      want: BY_NONE,
    },
    { name: 'SCTP', protocols: [{ sctp: { destinationPort: { number: 8080 } } }], want: BY_NONE },
    {
      name: 'an attribute that is not evaluated',
      protocols: [{ tcp: { flags: 'SYN' } }],
      want: 'unknown AdminNetworkPolicy a, rule 1: its port is not evaluated',
    },
  ])('is by ports: $name', ({ ports, protocols, want }) => {
    expect(verdict({ policies: [admin('a', 1, { ...deny, ports, protocols })] })).toBe(want);
  });

  it.each([
    { name: 'http', protocol: 'TCP', want: DENIED },
    { name: 'http', protocol: 'UDP', want: BY_NONE },
    { name: 'metrics', protocol: 'TCP', want: BY_NONE },
  ])('is by the names of ports of the called Pod: $name of $protocol', ({ name, protocol, want }) => {
    const ingress = [{ action: 'Deny', from: [bySet], ports: [{ namedPort: name }] }];
    const policies = [policy(ADMIN, 'a', { ingress })];
    expect(verdict({ policies, objects: withSet, protocol, direction: 'ingress' })).toBe(want);
  });

  it.each<{ name: string; given: Given; want: string }>([
    {
      name: 'the lowest priority first',
      given: { policies: [admin('a', 20, deny), admin('b', 10, allow)] },
      want: 'allowed by AdminNetworkPolicy b, rule 1',
    },
    {
      name: 'the first rule of a policy',
      given: { policies: [admin('a', 1, rule('Deny', { networks: ['10.5.0.0/16'] }), allow, deny)] },
      want: 'allowed by AdminNetworkPolicy a, rule 2',
    },
    {
      name: 'Allow before NetworkPolicies',
      given: { policies: [admin('a', 1, allow)], kubernetes: isolating },
      want: 'allowed by AdminNetworkPolicy a, rule 1',
    },
    {
      name: 'Deny before NetworkPolicies',
      given: { policies: [admin('a', 1, deny)], kubernetes: allowing },
      want: DENIED,
    },
    {
      name: 'NetworkPolicies after Pass, which skips the tier',
      given: { policies: [admin('a', 1, pass), admin('b', 2, allow)], kubernetes: isolating },
      want: 'denied as no rule of NetworkPolicies allows it',
    },
    {
      name: 'NetworkPolicies before the baseline, if any selects the Pod',
      given: { policies: [baseline(deny)], kubernetes: allowing },
      want: 'allowed by NetworkPolicies',
    },
    {
      name: 'NetworkPolicies that allow nothing before the baseline',
      given: { policies: [baseline(allow)], kubernetes: isolating },
      want: 'denied as no rule of NetworkPolicies allows it',
    },
    {
      name: 'the baseline without NetworkPolicies, after Pass',
      given: { policies: [admin('a', 1, pass), baseline(deny)] },
      want: 'denied by BaselineAdminNetworkPolicy default, rule 1',
    },
    {
      name: 'none after the baseline',
      given: { policies: [baseline(rule('Deny', { namespaces: {} }))] },
      want: BY_NONE,
    },
    {
      name: 'ClusterNetworkPolicies of both tiers',
      given: { policies: [cluster('b', 'Baseline', deny), cluster('a', 'Admin', accept)], kubernetes: isolating },
      want: 'allowed by ClusterNetworkPolicy a, rule 1',
    },
    {
      name: 'ClusterNetworkPolicies of the baseline',
      given: { policies: [cluster('b', 'Baseline', deny), cluster('a', 'Admin', pass)] },
      want: 'denied by ClusterNetworkPolicy b, rule 1',
    },
  ])('is by tiers and priorities: $name', ({ given, want }) => {
    expect(verdict(given)).toBe(want);
  });

  it.each<{ name: string; policies: readonly NamedClusterPolicy[]; want: string }>([
    {
      name: 'policies of one priority that disagree',
      policies: [admin('a', 1, allow), admin('b', 1, deny)],
      want: 'unknown AdminNetworkPolicy a and AdminNetworkPolicy b have the same order',
    },
    { name: 'policies of one priority that agree', policies: [admin('a', 1, deny), admin('b', 1, deny)], want: DENIED },
    {
      name: 'peers that decide, of which a network may deny all others, too',
      policies: [admin('a', 1, { ...rule('Pass', nodes), ports: [{ portNumber: { port: 1 } }] })],
      want: 'unknown AdminNetworkPolicy a, rule 1: its peer 1 is not evaluated',
    },
    {
      name: 'peers for which a network may ignore the rule',
      policies: [admin('a', 1, rule('Allow', there, nodes)), baseline(deny)],
      want: 'unknown AdminNetworkPolicy a, rule 1: its peer 2 is not evaluated',
    },
    {
      name: 'peers that only others are allowed by',
      policies: [admin('a', 1, { ...rule('Allow', nodes), ports: [{ portNumber: { port: 1 } }] })],
      want: BY_NONE,
    },
    {
      name: 'peers that change nothing',
      policies: [admin('a', 1, rule('Deny', nodes), deny)],
      want: DENIED,
    },
    {
      name: 'two versions of the API that disagree',
      policies: [admin('a', 1, allow), cluster('b', 'Admin', deny)],
      want: `${UNENFORCED}; ClusterNetworkPolicy b: whether the network enforces it is not known`,
    },
    {
      name: 'two versions of the API of which one is about other packets',
      policies: [admin('a', 1, rule('Deny', { namespaces: {} })), cluster('b', 'Admin', accept)],
      want: BY_NONE,
    },
  ])('is unknown only by what matters: $name', ({ policies, want }) => {
    expect(verdict({ policies })).toBe(want);
  });

  it.each<{ name: string; given: Given; want: string }>([
    {
      name: 'one of an earlier tier of Calico first',
      given: {
        policies: [admin('a', 1, deny)],
        objects: { policies: [calicoPolicy('x', 'Allow')], tiers: tiers(['x', 1], ['adminnetworkpolicy', 1000]) },
      },
      want: 'allowed by GlobalNetworkPolicy g, rule 1',
    },
    {
      name: 'one of a later tier of Calico after',
      given: {
        policies: [cluster('a', 'Admin', deny)],
        objects: { policies: [calicoPolicy('x', 'Allow')], tiers: tiers(['x', 2000], ['kube-admin', 1000]) },
      },
      want: 'denied by ClusterNetworkPolicy a, rule 1',
    },
    {
      name: 'a release of Calico that has no tier for it',
      given: { policies: [admin('a', 1, deny)], objects: { sets: [set] } },
      want: UNENFORCED,
    },
    {
      name: 'a tier that is left of an earlier release',
      given: {
        policies: [admin('a', 1, deny)],
        objects: { tiers: tiers(['adminnetworkpolicy', 1000], ['kube-admin', 1000]) },
      },
      want: UNENFORCED,
    },
    {
      name: 'a release of Calico whose own policies say the same',
      given: { policies: [admin('a', 1, deny)], objects: { policies: [calicoPolicy('default', 'Deny')] } },
      want: 'denied by GlobalNetworkPolicy g, rule 1',
    },
    {
      name: 'a set that is selected by accident',
      given: { policies: [admin('a', 1, rule('Deny', bySet))], objects: withSet },
      want: DENIED,
    },
    {
      name: 'a set, which is in no namespace',
      given: { policies: [admin('a', 1, rule('Deny', { namespaces: {} }))], objects: withSet },
      want: BY_NONE,
    },
    {
      name: 'a NetworkSet, whose namespace is not known',
      given: {
        policies: [admin('a', 1, rule('Deny', { namespaces: {} }))],
        objects: { ...withSet, sets: [{ ...set, namespace: 'x' }] },
      },
      want: 'unknown AdminNetworkPolicy a, rule 1: the NetworkSet x/s is not evaluated',
    },
  ])('is by what Calico has, too: $name', ({ given, want }) => {
    expect(verdict(given)).toBe(want);
  });
});
