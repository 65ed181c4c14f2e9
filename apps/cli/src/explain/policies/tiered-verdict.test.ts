import { describe, expect, it } from 'vitest';
import type { CalicoObjects, CalicoPolicy } from '../../clusters/calico.ts';
import { tieredVerdict } from './tiered-verdict.ts';

type Spec = CalicoPolicy['spec'];

const policy = (name: string, spec: Spec, namespace?: string): CalicoPolicy => ({
  resource: 'globalnetworkpolicies.crd.projectcalico.org',
  namespace,
  name,
  spec,
});

const silent = { allowed: true, isolatedBy: [], by: undefined, misses: [] };
const allowing = { ...silent, by: { networkPolicy: 'shop/db', rule: 1, peer: 1, companion: undefined } };
const isolating = { ...silent, allowed: false };

const subject = {
  namespace: 'shop',
  name: 'db',
  labels: { app: 'db' },
  namespaceLabels: { team: 'a' },
  namedPorts: [],
  hostNetwork: false,
  finished: false,
  ip: '10.2.0.7',
  serviceAccount: 'default',
};

const web = { namespace: undefined, name: 'c1-web', labels: { app: 'web' }, nets: ['10.4.0.9/32', '10.4.0.10'] };

type Given = {
  readonly objects?: Partial<CalicoObjects>;
  readonly kubernetes?: Parameters<typeof tieredVerdict>[1] | undefined;
  readonly hostNetwork?: boolean;
};

/** Of a packet of 10.4.0.9 of another cluster to 5432/TCP of shop/db. */
function verdict({ objects, kubernetes = silent, hostNetwork = false }: Given): string {
  const { result, detail } = tieredVerdict(
    {
      direction: 'ingress',
      subject: { ...subject, hostNetwork },
      peerIp: '10.4.0.9',
      port: { port: 5432, protocol: 'TCP' },
      objects: { policies: [], sets: [web], tiers: [], ...objects },
      clusterPolicies: [],
    },
    kubernetes,
  );
  return `${result} ${detail}`;
}

const of = (spec: Spec, namespace?: string) => verdict({ objects: { policies: [policy('a', spec, namespace)] } });
const allow = { action: 'Allow' } as const;
const deny = { action: 'Deny' } as const;
const pass = { action: 'Pass' } as const;
const BY_RULE = 'allowed by GlobalNetworkPolicy a, rule 1';
const BY_DEFAULT = 'denied as no rule of GlobalNetworkPolicy a allows it';
const BY_NONE = 'allowed by no policy';

describe('the verdict of Calico', () => {
  it.each<{ name: string; spec: Spec; want: string }>([
    { name: 'all Pods without a selector', spec: { ingress: [allow] }, want: BY_RULE },
    { name: 'by a label', spec: { selector: "app == 'db'", ingress: [allow] }, want: BY_RULE },
    { name: 'not by another label', spec: { selector: "app == 'web'", ingress: [deny] }, want: BY_NONE },
    { name: 'by its namespace', spec: { namespaceSelector: "team == 'a'", ingress: [allow] }, want: BY_RULE },
    { name: 'not in another namespace', spec: { namespaceSelector: "team == 'b'", ingress: [deny] }, want: BY_NONE },
    { name: "by Calico's labels", spec: { selector: "pcns.team == 'a'", ingress: [allow] }, want: BY_RULE },
    { name: 'only in its direction', spec: { types: ['Egress'], ingress: [deny] }, want: BY_NONE },
    { name: 'without types in both directions', spec: { egress: [deny] }, want: BY_DEFAULT },
    {
      name: 'by global(), which is not only for sets here',
      spec: { selector: 'global()', ingress: [allow] },
      want: BY_RULE,
    },
    { name: 'before DNAT', spec: { preDNAT: true, ingress: [deny] }, want: BY_NONE },
  ])('is by policies that select the Pod: $name', ({ spec, want }) => {
    expect(of(spec)).toBe(want);
  });

  it('is by the policies of the namespace', () => {
    expect(of({ ingress: [allow] }, 'shop')).toBe('allowed by Calico NetworkPolicy shop/a, rule 1');
    expect(of({ ingress: [deny] }, 'other')).toBe(BY_NONE);
  });

  it.each<{ name: string; rule: Partial<NonNullable<Spec['ingress']>[number]>; want: string }>([
    { name: 'a set', rule: { source: { selector: "app == 'web'" } }, want: BY_RULE },
    { name: 'another set', rule: { source: { selector: "app == 'x'" } }, want: BY_DEFAULT },
    { name: 'sets', rule: { source: { selector: 'all()', namespaceSelector: 'global()' } }, want: BY_RULE },
    { name: 'Pods of any namespace', rule: { source: { namespaceSelector: 'all()' } }, want: BY_DEFAULT },
    { name: 'a CIDR', rule: { source: { nets: ['10.4.0.0/16'] } }, want: BY_RULE },
    { name: 'another CIDR', rule: { source: { nets: ['10.5.0.0/16'] } }, want: BY_DEFAULT },
    { name: 'all but its CIDR', rule: { source: { notNets: ['10.4.0.0/16'] } }, want: BY_DEFAULT },
    { name: 'a port', rule: { protocol: 'TCP', destination: { ports: [5432] } }, want: BY_RULE },
    { name: 'a range', rule: { protocol: 6, destination: { ports: [80, '5000:6000'] } }, want: BY_RULE },
    { name: 'another port', rule: { destination: { ports: [80] } }, want: BY_DEFAULT },
    { name: 'all but its port', rule: { destination: { notPorts: [5432] } }, want: BY_DEFAULT },
    { name: 'another protocol', rule: { protocol: 'UDP' }, want: BY_DEFAULT },
    { name: 'all but its protocol', rule: { notProtocol: 'TCP' }, want: BY_DEFAULT },
    { name: 'another IP version', rule: { ipVersion: 6 }, want: BY_DEFAULT },
    { name: 'the Pod', rule: { destination: { selector: "app == 'db'" } }, want: BY_RULE },
    { name: 'another Pod', rule: { destination: { selector: "app == 'x'" } }, want: BY_DEFAULT },
    {
      name: 'empty lists',
      rule: { source: { nets: [], ports: [], selector: '', serviceAccounts: {} } },
      want: BY_RULE,
    },
    { name: 'no part that counts', rule: { source: { nets: ['::/0'], notSelector: 'x' } }, want: BY_DEFAULT },
  ])('is by rules that are about the packet: $name', ({ rule, want }) => {
    expect(of({ ingress: [{ action: 'Log' }, { action: 'Allow', ...rule }] }).replace('rule 2', 'rule 1')).toBe(want);
  });

  it('of a policy of a namespace takes no GlobalNetworkSet without a namespaceSelector', () => {
    const source = { selector: "app == 'web'" };
    expect(of({ ingress: [{ ...allow, source }] }, 'shop')).toMatch(/^denied/);
    const globally = { ...source, namespaceSelector: 'global()' };
    expect(of({ ingress: [{ ...allow, source: globally }] }, 'shop')).toMatch(/^allowed/);
  });

  it.each<{ name: string; spec: Spec; want: string }>([
    {
      name: 'a rule with a service account',
      spec: { ingress: [{ ...allow, source: { serviceAccounts: { names: ['x'] } } }] },
      want: 'rule 1: serviceAccounts',
    },
    {
      name: 'a selector that the source must not match',
      spec: { ingress: [{ ...allow, source: { notSelector: "app == 'x'" } }] },
      want: 'rule 1: notSelector',
    },
    {
      name: 'a port by its name',
      spec: { ingress: [{ ...allow, destination: { ports: ['db'] } }] },
      want: 'rule 1: the port db',
    },
    {
      name: 'a port of the caller',
      spec: { ingress: [{ ...allow, source: { ports: [1024] } }] },
      want: 'rule 1: the port 1024',
    },
    {
      name: 'a field of a later release',
      spec: { ingress: [{ ...allow, later: { x: 1 } }] },
      want: 'rule 1: later',
    },
    {
      name: 'a selector that is not valid',
      spec: { ingress: [{ ...allow, source: { selector: 'app =' } }] },
      want: 'rule 1: "app ="',
    },
  ])('is unknown by what decides and is not evaluated: $name', ({ spec, want }) => {
    expect(of(spec)).toBe(`unknown GlobalNetworkPolicy a, ${want} is not evaluated`);
  });

  it.each<{ name: string; given: Given; want: string }>([
    {
      name: 'service accounts that a policy selects',
      given: { objects: { policies: [policy('a', { serviceAccountSelector: 'x' })] } },
      want: 'unknown GlobalNetworkPolicy a: serviceAccountSelector is not evaluated',
    },
    {
      name: 'forwarded packets at host endpoints',
      given: { objects: { policies: [policy('a', { selector: "host == 'x'", applyOnForward: true })] } },
      want: 'unknown GlobalNetworkPolicy a: host endpoints are not evaluated',
    },
    {
      name: 'host endpoints of a Pod in the network of its node',
      given: { objects: { policies: [policy('a', { ingress: [allow] })] }, hostNetwork: true },
      want: 'unknown GlobalNetworkPolicy a: host endpoints are not evaluated',
    },
    {
      name: 'a NetworkSet',
      given: {
        objects: {
          policies: [policy('a', { ingress: [{ ...allow, source: { selector: 'all()' } }] })],
          sets: [{ ...web, namespace: 'x' }],
        },
      },
      want: 'unknown GlobalNetworkPolicy a, rule 1: the NetworkSet x/c1-web is not evaluated',
    },
    {
      name: 'a tier that is gone',
      given: { objects: { policies: [policy('a', { tier: 'x', ingress: [allow] })] } },
      want: 'unknown GlobalNetworkPolicy a: its tier x is not known',
    },
    {
      name: 'two policies of one order that disagree',
      given: { objects: { policies: [policy('a', { ingress: [allow] }), policy('b', { ingress: [deny] })] } },
      want: 'unknown GlobalNetworkPolicy a and GlobalNetworkPolicy b have the same order',
    },
  ])('is unknown by $name', ({ given, want }) => {
    expect(verdict(given)).toBe(want);
  });

  it('is known if all that is not evaluated changes nothing', () => {
    const maybe = { action: 'Deny', source: { notSelector: 'x' } } as const;
    expect(of({ ingress: [maybe, deny] })).toBe('denied by GlobalNetworkPolicy a, rule 1');
    expect(of({ ingress: [{ ...maybe, ...allow }, allow] })).toBe(BY_RULE);
    expect(of({ ingress: [maybe] })).toMatch(/^denied/);
  });

  it.each<{ name: string; policies: readonly CalicoPolicy[]; kubernetes?: Given['kubernetes']; want: string }>([
    {
      name: 'the lowest order first, none last',
      policies: [policy('a', { ingress: [deny] }), policy('b', { order: 10, ingress: [allow] })],
      want: 'allowed by GlobalNetworkPolicy b, rule 1',
    },
    {
      name: 'a policy before NetworkPolicies',
      policies: [policy('a', { order: 999, ingress: [deny] })],
      kubernetes: allowing,
      want: 'denied by GlobalNetworkPolicy a, rule 1',
    },
    {
      name: 'NetworkPolicies before a policy',
      policies: [policy('a', { order: 1001, ingress: [deny] })],
      kubernetes: allowing,
      want: 'allowed by NetworkPolicies',
    },
    {
      name: 'a policy after NetworkPolicies that only isolate',
      policies: [policy('a', { order: 1001, ingress: [allow] })],
      kubernetes: isolating,
      want: 'allowed by GlobalNetworkPolicy a, rule 1',
    },
    {
      name: 'the end of a tier',
      policies: [policy('a', { tier: 'first' }), policy('b', { ingress: [allow] })],
      want: BY_DEFAULT,
    },
    {
      name: 'a tier after Pass',
      policies: [policy('a', { tier: 'first', ingress: [pass] }), policy('b', { ingress: [deny] })],
      want: 'denied by GlobalNetworkPolicy b, rule 1',
    },
    {
      name: 'a tier after one whose default is Pass',
      policies: [policy('a', { tier: 'passing' }), policy('b', { ingress: [allow] })],
      want: 'allowed by GlobalNetworkPolicy b, rule 1',
    },
    { name: 'the profile after the last Pass', policies: [policy('a', { ingress: [pass] })], want: BY_NONE },
    {
      name: 'a tier before the default one',
      policies: [policy('a', { tier: 'first', ingress: [allow] })],
      kubernetes: isolating,
      want: BY_RULE,
    },
  ])('is by tiers and orders: $name', ({ policies, kubernetes, want }) => {
    const tiers = [
      { name: 'default', order: 1_000_000, defaultAction: 'Deny' },
      { name: 'passing', order: 2, defaultAction: 'Pass' },
      { name: 'first', order: 1, defaultAction: undefined },
    ];
    expect(verdict({ objects: { policies, tiers }, kubernetes })).toBe(want);
  });
});
