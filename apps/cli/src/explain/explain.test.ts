import {
  clusterPolicyKinds,
  Codec,
  endpointSliceKind,
  type Kind,
  type KubeObject,
  namespaceKind,
  networkPolicyKind,
  networkPolicyWithTimesKind,
  podOnNodeKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import {
  clusterSetLabel,
  companionGenerationAnnotation,
  companionLabel,
  companionSourceKey,
} from '@kube-semaphore/network-policies';
import { mustParseCidr } from '@kube-semaphore/net';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import type { RemoteStatus } from '../clusters/app-status.ts';
import { dnsConfig } from '../../test/support/dns-config.ts';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { namedClusterPolicy } from '../clusters/cluster-policies.ts';
import type { Read } from '../clusters/objects.ts';
import type { AppPod } from '../clusters/report.ts';
import { masqueradersOf } from '../masquerade/masqueraders.ts';
import { daemonSetList, type MasqueradeObjects } from '../masquerade/objects.ts';
import type { Facts, SideFacts } from './facts.ts';
import { explain, hopNames } from './explain.ts';
import { explainPage, explainText, isFine } from './page.ts';
import { pairsOf } from './pairs.ts';
import { pathOf } from './path.ts';
import { probeUrls } from './probe.ts';
import { viaOf } from './via.ts';

function object<K extends Kind>(kind: K, metadata: object, rest: object = {}): KubeObject<K> {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return new Codec(kind).objectFromJson({ apiVersion, kind: kind.kind, metadata, ...rest });
}

const known = <T>(value: T): Read<T> => ({ known: true, value });
const lost = { known: false, why: 'not reached' } as const;
const at = { namespace: 'shop', name: 'web' };

type PodParts = {
  node?: string;
  ready?: string;
  phase?: string;
  deletionTimestamp?: string;
  ownerReferences?: object[];
};

const pod = (name: string, ip: string, { node = 'n1', ready = 'True', phase = 'Running', ...rest }: PodParts = {}) =>
  object(
    podOnNodeKind,
    { namespace: 'shop', name, labels: { app: name }, ...rest },
    {
      spec: { nodeName: node, containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }] },
      status: { phase, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: ready }] },
    },
  );

const slices = (...ips: readonly string[]) => [
  object(
    endpointSliceKind,
    { namespace: 'sys-semaphore', name: 'a', labels: { 'multicluster.kubernetes.io/source-cluster': 'c2' } },
    { addressType: 'IPv4', endpoints: ips.map((ip) => ({ addresses: [ip] })) },
  ),
];

const service = (name: string, metadata: object, port = 80) =>
  object(serviceKind, { name, ...metadata }, { spec: { ports: [{ name: 'http', port, targetPort: 'http' }] } });

const mirror = service('c2-shop-73736d-web', {
  namespace: 'sys-semaphore',
  labels: { 'mirror-svc-prefix-sync': 'c2' },
  annotations: { 'mirror-svc-source': 'c2/shop/web' },
});

const serviceImport = object(serviceImportKind, at, {
  spec: { ports: [{ name: 'http', port: 80 }] },
  status: { clusters: [{ cluster: 'c2' }] },
});

/** Its Service is in the mirror namespace. */
const importElsewhere = { ...serviceImport, status: { ...serviceImport.status, endpointSliceObjects: 'Absent' } };

const [, adminKind] = clusterPolicyKinds;
const noEgress = object(
  adminKind,
  { name: 'none' },
  { spec: { subject: { namespaces: {} }, egress: [{ action: 'Deny', to: [{ networks: ['10.4.0.0/16'] }] }] } },
);

const policy = (type: 'Ingress' | 'Egress') =>
  object(networkPolicyKind, { namespace: 'shop', name: 'none' }, { spec: { podSelector: {}, policyTypes: [type] } });

const tunnel = (remote: string, range: string, change: Partial<RemoteStatus> = {}) =>
  remoteStatus({
    name: remote,
    deviceName: `wireguard.${remote}`,
    device: { publicKey: 'k', marked: true },
    peers: [
      {
        node: remote === 'c2' ? 'm1' : 'n1',
        publicKey: `key-${remote}`,
        state: 'up',
        endpoint: '192.0.2.1:51820',
        handshakeAgeSeconds: 9,
        allowedIps: [range],
      },
    ],
    ...change,
  });

/** What replaces addresses, by these objects and no others. */
const masqueradedWith = (objects: Partial<MasqueradeObjects>) =>
  masqueradersOf({
    cluster: 'c1',
    daemonSets: known([]),
    configMaps: new Map(),
    nodes: known([]),
    pools: known([]),
    ...objects,
  });

const pool = { cidr: '10.2.0.0/16', natOutgoing: true };

const daemonSet = (name: string, env: readonly object[] = []) =>
  daemonSetList.parse({
    items: [{ metadata: { namespace: 'kube-system', name }, spec: { template: { spec: { containers: [{ env }] } } } }],
  }).items;

const kindnet = masqueradedWith({
  daemonSets: known(daemonSet('kindnet', [{ name: 'POD_SUBNET', value: '10.2.0.0/16' }])),
});
const masqueradeAll = 'iptables:\n  masqueradeAll: true\n';
const proxied = masqueradedWith({
  daemonSets: known(daemonSet('kube-proxy')),
  configMaps: new Map([['kube-system/kube-proxy', known({ 'config.conf': masqueradeAll })]]),
});

type Changes = { readonly agent?: Partial<RemoteStatus>; readonly mirrors?: Partial<RemoteStatus> };

/** One cluster that sees the other, and is fine. */
function side(cluster: string, caller: ReturnType<typeof pod>, { agent = {}, mirrors = {} }: Changes = {}): SideFacts {
  const [other, range, node] = cluster === 'c1' ? ['c2', '10.4.0.0/24', 'n1'] : ['c1', '10.2.0.0/24', 'm1'];
  return {
    cluster,
    report: {
      cluster,
      pods: [
        appPod({
          app: 'semaphore-service-mirror',
          config: { mirrorNamespace: 'sys-semaphore' },
          remotes: [remoteStatus({ name: other, ...mirrors })],
        }),
        appPod({
          app: 'semaphore-wireguard',
          node,
          config: { name: cluster },
          remotes: [tunnel(other, range, agent)],
        }),
      ],
    },
    namespace: known(object(namespaceKind, { name: 'shop' })),
    pods: known([caller]),
    selectable: known(undefined),
    late: new Map(),
    policies: known([]),
    calico: known({ policies: [], sets: [], tiers: [] }),
    clusterPolicies: known([]),
    serviceRanges: [],
    masqueraders: masqueradedWith({ pools: known([pool, { cidr: '10.4.0.0/16', disabled: true }]) }),
  };
}

const corefile = String.raw`.:53 {
    rewrite stop {
        name regex ^((?:[^.]+\.)*)([^.]+)\.([^.]+)\.svc\.cluster\.c2\.$ {1}c2-{3}-73736d-{2}.sys-semaphore.svc.cluster.local
        answer name ^((?:[^.]+\.)*)c2-([^.]+?)-73736d-([^.]+)\.sys-semaphore\.svc\.cluster\.local\.$ {1}{3}.{2}.svc.cluster.c2
    }
    kubernetes cluster.local
}`;

const dns = (text: string) => known(dnsConfig(text));

const here = (changes?: Changes) => side('c1', pod('cart', '10.2.0.7'), changes);
const there = (changes?: Changes) => side('c2', pod('web-1', '10.4.0.9', { node: 'm1' }), changes);
const noPods = { cluster: 'c1', pods: [] };

const facts: Facts = {
  from: { context: 'c1', namespace: 'shop', name: 'cart' },
  to: { context: 'c2', ...at, port: '80', zone: undefined },
  here: here(),
  there: there(),
  dnsConfig: dns(corefile),
  services: known([mirror]),
  serviceImport: known(undefined),
  slices: known(slices('10.4.0.9')),
  source: known({ service: service('web', { namespace: 'shop' }), slices: slices('10.4.0.9') }),
};

const unready = slices('10.4.0.9').map((slice) => ({
  ...slice,
  endpoints: slice.endpoints.map((each) => ({ ...each, conditions: { ...each.conditions, ready: false } })),
}));
const peer = tunnel('c2', '10.4.0.0/24').peers![0]!;
const toPod = { ...facts.to, name: 'web-1', port: '8080' };
const paint = (_: string, text: string) => text;

describe('the addresses of a path', () => {
  it.each([
    { families: [6] as (4 | 6)[], want: ['fd00:2::7', 'fd00:4::9'] },
    { families: null, want: ['10.2.0.7', '10.4.0.9'] },
  ])('are of a family that the clusters use of each other: $families', ({ families, want }) => {
    const dual = (name: string, ...ips: readonly string[]) => {
      const one = pod(name, '');
      return { ...one, status: { ...one.status, podIPs: ips.map((ip) => ({ ip })) } };
    };
    const used = { config: { families } };
    const changes = { agent: used, mirrors: used };
    const { callerIp, targetIp } = pathOf({
      ...facts,
      here: side('c1', dual('cart', '10.2.0.7', 'fd00:2::7'), changes),
      there: side('c2', dual('web-1', '10.4.0.9', 'fd00:4::9'), changes),
    });
    expect([callerIp, targetIp]).toEqual(want.map(known));
  });
});

describe('an explanation', () => {
  it('has each hop fine if nothing is wrong', () => {
    expect(explainText([explain(facts)], paint)).toBe(`c1/shop/cart -> web.shop.svc.cluster.c2:80
✓ caller          shop/cart is ready on n1, with 10.2.0.7
✓ dns             web.shop.svc.cluster.c2 is rewritten to c2-shop-73736d-web.sys-semaphore.svc.cluster.local
✓ service         Service sys-semaphore/c2-shop-73736d-web
✓ endpoints       1 of 1 ready endpoints of c2: 10.4.0.9
✓ egress-policy   no policy denies egress on 8080/TCP
✓ tunnel-out      n1 to m1 (192.0.2.1:51820) by wireguard.c2, handshake 9 s ago
✓ tunnel-in       m1 to n1 (192.0.2.1:51820) by wireguard.c1, handshake 9 s ago
✓ ingress-policy  no policy denies ingress on 8080/TCP
✓ target          shop/web-1 is ready on m1, with 10.4.0.9

Every hop is fine.
`);
  });

  it.each([
    { name: 'the order', drains: [], want: 'its order of clusters prefers others' },
    {
      name: 'a drain',
      drains: [{ cluster: 'c2', since: null, by: 'jane', reason: 'new kernels' }],
      want: 'c2 is drained by jane: new kernels',
    },
  ])('says that endpoints are standbys, by $name', ({ drains, want }) => {
    const standbys = unready.map((slice) => ({
      ...slice,
      metadata: { ...slice.metadata, annotations: { 'mirror-svc-standby': 'true' } },
    }));
    const pods = [appPod({ app: 'semaphore-service-mirror', remotes: [remoteStatus()], drains })];
    const report = { cluster: 'c1', pods };
    const said = explainText([explain({ ...facts, here: { ...here(), report }, slices: known(standbys) })], paint);
    expect(said).toContain(`only standbys of c2, for when no other can answer: 10.4.0.9; ${want}`);
  });

  it.each<{ name: string; change: Partial<Facts>; want: string; fix: RegExp | string }>([
    {
      name: 'no calling Pod',
      change: { here: { ...here(), pods: known([]) } },
      want: 'caller',
      fix: 'kubectl --context c1 -n shop get pods',
    },
    {
      name: 'a caller that waits for its node',
      change: { here: side('c1', pod('cart', '', { phase: 'Pending' })) },
      want: 'caller',
      fix: 'kubectl --context c1 -n shop describe pod cart',
    },
    {
      name: 'no rule in CoreDNS',
      change: { dnsConfig: dns('.:53 {\n    kubernetes cluster.local\n}\n') },
      want: 'dns',
      fix: /edit configmap coredns/,
    },
    {
      name: 'a rule that leads elsewhere',
      change: { dnsConfig: dns(corefile.replace('{1}c2-', '{1}c3-')) },
      want: 'dns',
      fix: /edit configmap coredns/,
    },
    {
      name: 'a rule in a server block that does not get the name',
      change: { dnsConfig: dns(`${corefile.replace('.:53', 'cluster.local')}\n. {\n    forward . 1.1.1.1\n}\n`) },
      want: 'dns',
      fix: /edit configmap coredns/,
    },
    {
      name: 'an option of CoreDNS that hides the mirror',
      change: { dnsConfig: dns(corefile.replace(/local\n\}$/, 'local {\n        namespaces shop\n    }\n}')) },
      want: 'dns',
      fix: /edit configmap coredns/,
    },
    {
      name: 'a cache before CoreDNS that sends names elsewhere',
      change: {
        dnsConfig: known(
          dnsConfig(corefile, {
            nodeCache: { configMap: 'kube-system/node-local-dns', text: '. {\n    forward . 192.0.2.1\n}\n' },
          }),
        ),
      },
      want: 'dns',
      fix: 'kubectl --context c1 -n kube-system edit configmap node-local-dns  # docs/dns.md',
    },
    {
      name: 'no zone for ServiceImports',
      change: { services: known([]), serviceImport: known(serviceImport) },
      want: 'dns',
      fix: /docs\/mcs\.md/,
    },
    {
      name: 'no rule for a ServiceImport whose Service is in the mirror namespace',
      change: { services: known([]), serviceImport: known(importElsewhere) },
      want: 'dns',
      fix: /docs\/mcs\.md/,
    },
    {
      name: 'no Service there',
      change: { services: known([]), source: known({ service: undefined, slices: [] }) },
      want: 'service',
      fix: 'kubectl --context c2 -n shop get services,pods',
    },
    {
      name: 'a Service without the label',
      change: {
        services: known([]),
        here: {
          ...here(),
          report: {
            cluster: 'c1',
            pods: [
              appPod({
                app: 'semaphore-service-mirror',
                config: { mirrorSelector: 'mirror=true' },
                remotes: [remoteStatus()],
              }),
            ],
          },
        },
      },
      want: 'service',
      fix: 'kubectl --context c2 -n shop label service web mirror=true',
    },
    {
      name: 'a remote that service-mirror does not reach',
      change: { services: known([]), here: here({ mirrors: { up: false } }) },
      want: 'service',
      fix: 'semaphore check --context c1 --context c2',
    },
    {
      name: 'a remote that is not in the config',
      change: { services: known([]), here: here({ mirrors: { name: 'c9' } }) },
      want: 'service',
      fix: 'semaphore check --context c1 --context c2',
    },
    {
      name: 'another port',
      change: { to: { ...facts.to, port: '81' } },
      want: 'service',
      fix: 'kubectl --context c2 -n shop edit service web',
    },
    { name: 'endpoints that are not copied', change: { slices: known([]) }, want: 'endpoints', fix: /plan$/ },
    {
      name: 'an endpoint that is gone',
      change: { slices: known(slices('10.4.0.8')) },
      want: 'endpoints',
      fix: /plan$/,
    },
    {
      name: 'a policy of the caller',
      change: { here: { ...here(), policies: known([policy('Egress')]) } },
      want: 'egress-policy',
      fix: 'kubectl --context c1 -n shop edit networkpolicy none',
    },
    {
      name: 'a policy of Calico',
      change: {
        here: {
          ...here(),
          calico: known({
            policies: [
              {
                resource: 'globalnetworkpolicies.crd.projectcalico.org',
                namespace: undefined,
                name: 'none',
                spec: { types: ['Egress'] },
              },
            ],
            sets: [],
            tiers: [],
          }),
        },
      },
      want: 'egress-policy',
      fix: 'kubectl --context c1 get globalnetworkpolicies.crd.projectcalico.org none -o yaml',
    },
    {
      name: 'a policy for the whole cluster',
      change: {
        here: {
          ...here(),
          clusterPolicies: known([namedClusterPolicy(adminKind, noEgress)]),
        },
      },
      want: 'egress-policy',
      fix: 'kubectl --context c1 get adminnetworkpolicies.policy.networking.k8s.io none -o yaml',
    },
    { name: 'no device', change: { here: here({ agent: { device: null } }) }, want: 'tunnel-out', fix: /logs/ },
    {
      name: 'a device of another program',
      change: { here: here({ agent: { device: { publicKey: 'k', marked: false } } }) },
      want: 'tunnel-out',
      fix: /logs/,
    },
    {
      name: 'no route to the Pod',
      change: { here: here({ agent: { unrouted: ['10.9.0.0/16', '10.4.0.0/16'] } }) },
      want: 'tunnel-out',
      fix: /logs/,
    },
    {
      name: 'no route back',
      change: { there: there({ agent: { unrouted: ['10.2.0.0/16'] } }) },
      want: 'tunnel-in',
      fix: /logs/,
    },
    {
      name: 'no agent on the node',
      change: { here: side('c1', pod('cart', '10.2.0.7', { node: 'n2' })) },
      want: 'tunnel-out',
      fix: 'kubectl --context c1 describe node n2',
    },
    {
      name: 'a Node that is no peer yet',
      change: { here: here({ agent: { peers: [], missing: ['m1'] } }) },
      want: 'tunnel-out',
      fix: /logs/,
    },
    {
      name: 'a peer with addresses of another node',
      change: { here: here({ agent: { peers: [{ ...peer, node: 'm2' }] } }) },
      want: 'tunnel-out',
      fix: /logs/,
    },
    {
      name: 'no handshake',
      change: { here: here({ agent: { peers: [{ ...peer, state: 'never' }] } }) },
      want: 'tunnel-out',
      fix: /let UDP to 192\.0\.2\.1:51820 through/,
    },
    {
      name: 'a pool that lacks',
      change: { here: { ...here(), masqueraders: masqueradedWith({ pools: known([pool]) }) } },
      want: 'tunnel-out',
      fix: 'semaphore check --context c1 --context c2  # pools-disabled: docs/wireguard.md#with-calico',
    },
    {
      name: 'a CNI that replaces the address of the caller',
      change: { here: { ...here(), masqueraders: kindnet } },
      want: 'tunnel-out',
      fix: 'kubectl --context c1 -n kube-system edit daemonset kindnet  # docs/wireguard.md#kindnet',
    },
    {
      name: 'a CNI that replaces it, without tunnels',
      change: { here: { ...here(), masqueraders: kindnet, report: noPods }, there: { ...there(), report: noPods } },
      want: 'tunnel-out',
      fix: /edit daemonset kindnet/,
    },
    {
      name: 'a kube-proxy that replaces it for each ClusterIP',
      change: { here: { ...here(), masqueraders: proxied } },
      want: 'tunnel-out',
      fix: 'kubectl --context c1 -n kube-system edit configmap kube-proxy  # docs/wireguard.md#kube-proxy',
    },
    {
      name: 'no agent in the other cluster',
      change: { there: { ...there(), report: noPods } },
      want: 'tunnel-in',
      fix: 'kubectl --context c2 -n kube-system describe daemonset semaphore-wireguard',
    },
    {
      name: 'no way back',
      change: { there: there({ agent: { peers: [] } }) },
      want: 'tunnel-in',
      fix: /kubectl --context c2 -n kube-system logs/,
    },
    {
      name: 'a policy of the target',
      change: { there: { ...there(), policies: known([policy('Ingress')]) } },
      want: 'ingress-policy',
      fix: 'kubectl --context c2 -n shop edit networkpolicy none',
    },
    {
      name: 'a target that is not ready, as all slices say',
      change: {
        there: side('c2', pod('web-1', '10.4.0.9', { node: 'm1', ready: 'False' })),
        slices: known(unready),
        source: known({ service: service('web', { namespace: 'shop' }), slices: unready }),
      },
      want: 'target',
      fix: 'kubectl --context c2 -n shop describe pod web-1',
    },
    {
      name: 'a target whose name would be a command',
      change: { there: side('c2', pod('$(id)', '10.4.0.9', { node: 'm1', ready: 'False' })) },
      want: 'target',
      fix: "kubectl --context c2 -n shop describe pod '$(id)'",
    },
    {
      name: 'a Service without Pods',
      change: {
        slices: known([]),
        source: known({ service: service('web', { namespace: 'shop' }), slices: [] }),
      },
      want: 'target',
      fix: 'kubectl --context c2 -n shop describe service web',
    },
  ])('names $want first: $name', ({ change, want, fix }) => {
    const { hops, firstWrong } = explain({ ...facts, ...change });
    expect(firstWrong).toBe(want);
    const first = hops.find(({ name }) => name === want);
    expect(first?.fix).toMatch(fix);
  });

  it.each<{ name: string; change: Partial<Facts>; want: readonly string[] }>([
    { name: 'CoreDNS', change: { dnsConfig: lost }, want: ['dns'] },
    {
      name: 'a Corefile elsewhere',
      change: { dnsConfig: known(dnsConfig(undefined)) },
      want: ['dns'],
    },
    { name: 'Services here', change: { services: lost }, want: ['dns', 'service', 'endpoints'] },
    { name: 'slices here', change: { slices: lost }, want: ['endpoints'] },
    { name: "Calico's policies here", change: { here: { ...here(), calico: lost } }, want: ['egress-policy'] },
    {
      name: 'policies for the whole cluster here',
      change: { here: { ...here(), clusterPolicies: lost } },
      want: ['egress-policy'],
    },
    { name: 'policies here', change: { here: { ...here(), policies: lost } }, want: ['egress-policy'] },
    {
      name: 'the apps here',
      change: { here: { ...here(), report: { ...noPods, failure: 'c1 is not reached' } } },
      want: ['tunnel-out'],
    },
    {
      name: 'owners of the addresses of a Pod that should be gone',
      change: { here: { ...here(), late: new Map([['shop/cart', lost]]) } },
      want: ['caller'],
    },
    {
      name: 'pools here',
      change: { here: { ...here(), masqueraders: masqueradedWith({ pools: lost }) } },
      want: ['tunnel-out'],
    },
    {
      name: 'CIDRs of a VPC',
      change: { here: { ...here(), masqueraders: masqueradedWith({ daemonSets: known(daemonSet('aws-node')) }) } },
      want: ['tunnel-out'],
    },
    {
      name: 'devices here',
      change: { here: here({ agent: { device: undefined, deviceError: 'no wg' } }) },
      want: ['tunnel-out'],
    },
    {
      name: 'the other cluster',
      change: {
        there: { ...there(), report: { ...noPods, failure: 'x' }, namespace: lost, pods: lost, policies: lost },
        source: lost,
      },
      want: ['egress-policy', 'tunnel-out', 'tunnel-in', 'ingress-policy', 'target'],
    },
  ])('takes unknown $name for neither fine nor wrong', ({ change, want }) => {
    const { hops, firstWrong } = explain({ ...facts, ...change });
    expect(firstWrong).toBeNull();
    expect(hops.filter(({ result }) => result !== 'ok').map(({ name, result }) => `${name} ${result}`)).toEqual(
      want.map((name) => `${name} unknown`),
    );
  });

  const target = (change: Partial<Facts>) => explain({ ...facts, ...change }).hops.at(-1)!;
  const sourceWith = (spec: object): Facts['source'] =>
    known({ service: object(serviceKind, { ...at }, { spec }), slices: slices('10.4.0.9') });
  const wrongPort = sourceWith({ ports: [{ name: 'http', port: 80, targetPort: 8081 }] });

  it('warns of a targetPort that no container declares, and gives the command that finds out', () => {
    const text = explainText([explain({ ...facts, source: wrongPort })], paint);
    expect(text.split('\n').slice(9)).toEqual([
      '! target          shop/web-1 is ready on m1, with 10.4.0.9, but its containers declare 8080/TCP, not 8081/TCP. ' +
        'It may listen there all the same: a probe finds out',
      '',
      'Perhaps wrong: target',
      '  semaphore explain --from c1/shop/cart --to c2/shop/web:80 --probe',
      '',
    ]);
    expect(isFine(explain({ ...facts, source: wrongPort }))).toBe(true);
    const shared = { to: { ...facts.to, zone: 'global' as const }, services: known([]), source: wrongPort };
    expect(target(shared).fix).toMatch(/ --to web\.shop\.svc\.cluster\.global:80 --to-context c2 --probe$/);
  });

  it('says nothing of the ports of containers that declare none', () => {
    const web = pod('web-1', '10.4.0.9', { node: 'm1' });
    const silent = { ...web, spec: { ...web.spec, containers: [] } };
    expect(target({ source: wrongPort, there: side('c2', silent) }).result).toBe('ok');
  });

  it('has a targetPort wrong that no container has as a name: no slice has such a port', () => {
    expect(target({ source: sourceWith({ ports: [{ name: 'http', port: 80, targetPort: 'web' }] }) })).toEqual({
      name: 'target',
      result: 'wrong',
      detail: 'shop/web-1 is ready on m1, with 10.4.0.9, but no container has the port web, the targetPort of shop/web',
      fix: 'kubectl --context c2 -n shop edit service web  # targetPort',
    });
  });

  it.each([
    { selector: { app: 'wbe', tier: 'a' }, want: ': its selector app=wbe,tier=a matches no Pod of its namespace' },
    { selector: {}, want: ': it has no selector, so someone else must write its EndpointSlices' },
    { selector: { app: 'web-1' }, want: '' },
  ])('prints the selector of a Service without Pods: $selector', ({ selector, want }) => {
    const service = object(serviceKind, { ...at }, { spec: { selector, ports: [{ port: 80 }] } });
    const empty = { slices: known([]), source: known({ service, slices: [] }) };
    expect(target(empty).detail).toBe(`c2 has no Pod behind shop/web${want}`);
  });

  it('has no selector to print without a Service', () => {
    const none = { services: known([]), slices: known([]), source: known({ service: undefined, slices: [] }) };
    expect(target(none).detail).toBe('c2 has no Pod behind shop/web');
  });

  const answers = (ofPod: string | null, ofService: string | null): Partial<Facts> => ({
    probed: known({
      pod: { url: 'tcp://10.4.0.9:8080', failure: ofPod },
      service: { url: 'tcp://10.96.0.5:80', failure: ofService },
    }),
  });

  it.each<{ name: string; change: Partial<Facts>; want: readonly string[]; fix: string | undefined }>([
    {
      name: 'answers both',
      change: answers(null, null),
      want: ['ok …; 10.96.0.5:80 answers a probe', 'ok …; it answers a probe of 10.4.0.9:8080'],
      fix: undefined,
    },
    {
      name: 'answers, whatever its containers declare',
      change: { ...answers(null, null), source: wrongPort },
      want: ['ok …; 10.96.0.5:80 answers a probe', 'ok …; it answers a probe of 10.4.0.9:8080'],
      fix: undefined,
    },
    {
      name: 'refuses',
      change: { ...answers('refused', 'refused'), source: wrongPort },
      want: [
        'ok …; a probe of its address 10.96.0.5:80 is refused; that of the Pod fails, too: see target',
        'wrong shop/web-1 refuses a probe of 10.4.0.9:8080: its containers declare 8080/TCP, not 8081/TCP',
      ],
      fix: 'kubectl --context c2 -n shop edit service web  # targetPort',
    },
    {
      name: 'is not reached',
      change: answers('timed out', 'timed out'),
      want: [
        'ok …; a probe of its address 10.96.0.5:80 times out; that of the Pod fails, too: see target',
        'wrong a probe of 10.4.0.9:8080 times out. A policy, a firewall or a route may drop its packets; policies that ' +
          'select the caller by its labels do not allow the probe',
      ],
      fix: 'semaphore test --context c1 --context c2',
    },
    {
      name: 'answers, but not by the address of the Service',
      change: answers(null, 'timed out'),
      want: [
        'wrong …; a probe of its address 10.96.0.5:80 times out, but the Pod answers: kube-proxy, or what replaces it, does ' +
          'not lead there',
        'ok …; it answers a probe of 10.4.0.9:8080',
      ],
      fix: 'kubectl --context c1 -n kube-system get pods',
    },
    {
      name: 'can not be probed',
      change: { probed: { known: false, why: 'c1: pods is forbidden' } },
      want: ['ok …', 'unknown …; there was no probe: c1: pods is forbidden'],
      fix: undefined,
    },
  ])('says at which hop a Pod $name', ({ change, want, fix }) => {
    const { hops } = explain({ ...facts, ...change });
    const said = [hops[2]!, hops.at(-1)!].map(
      ({ result, detail }) =>
        `${result} ${detail.replace(/^Service sys-semaphore\/\S+?-web|^shop\/web-1 is ready on m1, with 10\.4\.0\.9/, '…')}`,
    );
    expect(said).toEqual(want);
    expect(hops.find(({ result }) => result === 'wrong')?.fix).toBe(fix);
  });

  it('asks the Pod and the address that the Service has here, by TCP only', () => {
    const addressed = { ...mirror, spec: { ...mirror.spec, clusterIP: '10.96.0.5' } };
    expect(probeUrls({ ...facts, services: known([addressed]) })).toEqual(
      known({ pod: 'tcp://10.4.0.9:8080', service: 'tcp://10.96.0.5:80' }),
    );
    const headless = { ...mirror, spec: { ...mirror.spec, clusterIP: 'None' } };
    expect(probeUrls({ ...facts, services: known([headless]) })).toMatchObject({ value: { service: undefined } });
    const udp = sourceWith({ ports: [{ port: 53, protocol: 'UDP', targetPort: 53 }] });
    expect(probeUrls({ ...facts, to: { ...facts.to, port: undefined }, source: udp })).toEqual({
      known: false,
      why: 'it can only connect to TCP, and the port is of UDP',
    });
  });

  const crossing = object(
    networkPolicyKind,
    { namespace: 'shop', name: 'from-c1' },
    {
      spec: {
        podSelector: {},
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ namespaceSelector: { matchLabels: { [clusterSetLabel]: 'c1' } } }] }],
      },
    },
  );
  const ingressWith = (policyPods: readonly AppPod[], change: Partial<Facts> = {}) => {
    const other = there();
    const report = { ...other.report, pods: [...other.report.pods, ...policyPods] };
    const { hops } = explain({ ...facts, there: { ...other, report, policies: known([crossing]) }, ...change });
    return hops.find(({ name }) => name === 'ingress-policy');
  };
  const policyPod = (networkPolicies: boolean) =>
    appPod({
      app: 'semaphore-policy',
      config: { networkPolicies },
      remotes: [remoteStatus({ name: 'c1', config: { allowedPodCIDRs: ['10.2.0.0/16'], clusterSetID: 'c1' } })],
    });
  const denied = 'ingress on 8080/TCP of shop/web-1 is denied: ';

  it.each([
    {
      name: '-network-policies is off',
      pods: [policyPod(false)],
      detail:
        'shop/from-c1 allows it, but semaphore-policy has -network-policies off in c2, so its rules count only for',
      fix: /^semaphore link --context c2 --context c1 --network-policies --apply -o FOLDER {2}# /,
    },
    {
      name: 'there is no semaphore-policy',
      pods: [],
      detail: 'shop/from-c1 allows it, but there is no semaphore-policy in c2, so ',
      fix: /^semaphore link --context c2 --context c1 --network-policies --apply -o FOLDER {2}# /,
    },
    {
      name: 'its companion is missing',
      pods: [policyPod(true)],
      detail: 'shop/from-c1: rule 1, peer 1: it allows this, but has no companion for c1: ',
      fix: /^kubectl --context c2 -n kube-system exec semaphore-policy-0 -- \/semaphore-policy plan$/,
    },
  ])('cures a NetworkPolicy that names the cluster of the caller, if $name', ({ pods, detail, fix }) => {
    const hop = ingressWith(pods);
    expect(hop?.detail.slice(0, denied.length + detail.length)).toBe(denied + detail);
    expect(hop?.fix).toMatch(fix);
  });

  it('knows which Pods -remote-pod-selector of the other side excludes', () => {
    const selectable = (...pods: readonly string[]) => ({
      here: { ...here(), selectable: known({ selector: 'shared=yes', pods: new Set(pods) }) },
    });
    expect(ingressWith([policyPod(true)], selectable())).toEqual({
      name: 'ingress-policy',
      result: 'wrong',
      detail: `${denied}shop/from-c1: rule 1, peer 1: the Pod does not match -remote-pod-selector shared=yes`,
      fix: 'kubectl --context c1 -n shop get pod cart --show-labels  # or change the selector',
    });
    expect(ingressWith([policyPod(true)], selectable('cart'))?.detail).toContain('has no companion');
    expect(ingressWith([policyPod(true)], { here: { ...here(), selectable: lost } })?.result).toBe('unknown');
  });

  it('says why a cluster does not let an address in', () => {
    const pods = [policyPod(true)];
    const ranges = { ...there(), serviceRanges: [mustParseCidr('10.2.0.0/24')] };
    const report = { ...ranges.report, pods: [...ranges.report.pods, ...pods] };
    const { hops } = explain({ ...facts, there: { ...ranges, report, policies: known([crossing]) } });
    expect(hops[7]?.detail).toMatch(
      /but not the address: 10\.2\.0\.7 is in 10\.2\.0\.0\/24, a Service range of the local cl/,
    );
    const config = { networkPolicies: true, maxAddressesPerSource: 0 };
    const remotes = [remoteStatus({ name: 'c1', config: { allowedPodCIDRs: null, clusterSetID: 'c1' } })];
    const full = ingressWith([appPod({ app: 'semaphore-policy', config, remotes })]);
    expect(full?.detail).toMatch(/gets no more addresses .*: it has 0, and -max-addresses-per-source is 0$/);
  });

  it('says what happens to the packets whose address is replaced, and that Pods are called without kube-proxy', () => {
    const { hops } = explain({ ...facts, here: { ...here(), masqueraders: kindnet } });
    expect(hops[5]?.detail).toBe(
      'kindnet replaces the address of Pods in packets to 10.4.0.9: ' +
        "POD_SUBNET of the DaemonSet kube-system/kindnet doesn't have it. Peers refuse such packets",
    );
    const headless = { ...mirror, spec: { ...mirror.spec, clusterIP: 'None' } };
    const calls: readonly Partial<Facts>[] = [
      { to: toPod, source: known({ service: undefined, slices: [] }) },
      { services: known([headless]) },
    ];
    for (const call of calls)
      expect(explain({ ...facts, ...call, here: { ...here(), masqueraders: proxied } }).hops[5]?.result).toBe('ok');
  });

  it('takes the Pod behind a Service that has the address now', () => {
    const old = pod('web-0', '10.4.0.9', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const both = known([old, pod('web-1', '10.4.0.9', { node: 'm1' })]);
    const { hops } = explain({ ...facts, there: { ...there(), pods: both } });
    expect(hops.at(-1)?.detail).toBe('shop/web-1 is ready on m1, with 10.4.0.9');
  });

  it('says of a companion that allows the packet when it was written, and whether the policy still says so', () => {
    const companion = object(
      networkPolicyWithTimesKind,
      {
        namespace: 'shop',
        name: 'none-c2',
        labels: { [companionLabel]: 'semaphore-policy' },
        annotations: { [companionSourceKey]: 'none', [companionGenerationAnnotation]: '2' },
        managedFields: [{ time: '2026-01-01T00:00:00Z' }],
      },
      { spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{ to: [{ ipBlock: { cidr: '10.4.0.9/32' } }] }] } },
    );
    const { hops } = explain({ ...facts, here: { ...here(), policies: known([policy('Egress'), companion]) } });
    expect(hops[4]?.detail).toBe(
      [
        'egress on 8080/TCP is allowed by a companion alone, and not by shop/none: it has no rule for egress',
        'its companion shop/none-c2 has the address: generation 2 of 0, written at 2026-01-01T00:00:00.000Z',
      ].join('; '),
    );
  });

  it('goes through the Service of a ServiceImport in the mirror namespace', () => {
    const rule = corefile
      .replaceAll('{1}c2-', '{1}mcs-')
      .replace(String.raw`cluster\.c2`, String.raw`clusterset\.local`);
    const change = { services: known([]), serviceImport: known(importElsewhere), dnsConfig: dns(rule) };
    const { hops } = explain({ ...facts, ...change });
    expect(hops.slice(1, 4).map(({ result, detail }) => `${result} ${detail}`)).toEqual([
      'ok web.shop.svc.clusterset.local is rewritten to mcs-shop-73736d-web.sys-semaphore.svc.cluster.local',
      'ok ServiceImport shop/web, by Service sys-semaphore/mcs-shop-73736d-web',
      'ok 1 of 1 ready endpoints of c2: 10.4.0.9',
    ]);
    expect(viaOf({ ...facts, ...change })).toMatchObject({
      value: {
        namespace: 'sys-semaphore',
        slices: 'kubernetes.io/service-name in (mcs-shop-73736d-web)',
      },
    });
  });

  it('does not know where the Service of a ServiceImport is without the status of semaphore-service-mirror', () => {
    const change = { here: { ...here(), report: noPods }, services: known([]), serviceImport: known(importElsewhere) };
    const { hops } = explain({ ...facts, ...change });
    expect(hops.slice(1, 4).map(({ result }) => result)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it.each(hopNames)('has a hop that docs/cli.md describes: %s', (name) => {
    expect(docPage('cli.md')).toContain(`\`${name}\``);
  });

  it('has nothing wrong with a caller that is not ready, as it may wait for the target', () => {
    const waiting = side('c1', pod('cart', '10.2.0.7', { ready: 'False' }));
    expect(explain({ ...facts, here: waiting }).firstWrong).toBeNull();
  });

  it('skips what packets do not take: names of a Pod, tunnels without agents', () => {
    const without = (each: SideFacts) => ({ ...each, report: noPods });
    const source = known({ service: undefined, slices: [] });
    const { hops } = explain({ ...facts, to: toPod, here: without(here()), there: without(there()), source });
    expect(hops.filter(({ result }) => result === 'skipped').map(({ name }) => name)).toEqual([
      'dns',
      'service',
      'endpoints',
      'tunnel-out',
      'tunnel-in',
    ]);
    expect(hops.filter(({ result }) => result === 'wrong')).toEqual([]);
  });
});

describe('explanations of several Pods', () => {
  const owned = (name: string, ip: string, kind: string, owner: string, parts: PodParts = {}) =>
    pod(name, ip, { node: 'm1', ownerReferences: [{ kind, name: owner }], ...parts });
  const pods = [
    owned('web-a', '10.4.0.9', 'ReplicaSet', 'web-5f6b7'),
    owned('web-b', '10.9.0.9', 'ReplicaSet', 'web-5f6b7'),
    owned('done', '10.4.0.10', 'ReplicaSet', 'web-5f6b7', { phase: 'Succeeded' }),
    owned('other', '10.4.0.11', 'ReplicaSet', 'web-ui-5f6b7'),
    owned('log', '10.4.0.12', 'DaemonSet', 'web'),
    owned('db-0', '10.4.0.13', 'StatefulSet', 'web'),
  ];
  const none = { services: known([]), source: known({ service: undefined, slices: [] }) };
  const of = (kind: NonNullable<Facts['to']['kind']>, name = 'web'): Facts => ({
    ...facts,
    ...none,
    to: { ...facts.to, kind, name, port: '8080' },
    there: { ...there(), pods: known(pods) },
  });
  const callees = (asked: Facts) => pairsOf(asked).map(({ to }) => `${to.kind} ${to.name}`);

  it.each([
    { kind: 'deployment', want: ['web-a', 'web-b'] },
    { kind: 'daemonset', want: ['log'] },
    { kind: 'statefulset', want: ['db-0'] },
    { kind: 'namespace', want: ['web-a', 'web-b', 'other', 'log', 'db-0'] },
  ] as const)('are of the Pods of a $kind that run', ({ kind, want }) => {
    expect(callees(of(kind))).toEqual(want.map((name) => `pod ${name}`));
  });

  it('show the worst pair, and name the others that are not fine', () => {
    const { from, to } = of('deployment');
    const callers = known(pods.slice(0, 2));
    const all = pairsOf({
      ...of('deployment'),
      from: { ...from, kind: 'namespace' },
      here: { ...here(), pods: callers },
    });
    const explanations = all.map(explain);
    const lines = explainText(explanations, paint).split('\n');
    expect(lines.slice(0, 2)).toEqual([
      'c1/shop/pod/web-a -> c2/shop/pod/web-a:8080',
      '✓ caller          shop/web-a is ready on m1, with 10.4.0.9',
    ]);
    expect(lines.slice(-5)).toEqual([
      '0 of 4 pairs of Pods are fine. Also not fine:',
      ...['a -> c2/shop/pod/web-b', 'b -> c2/shop/pod/web-a', 'b -> c2/shop/pod/web-b'].map(
        (pair) => `  c1/shop/pod/web-${pair}:8080: tunnel-out`,
      ),
      '',
    ]);
    expect(to.name).toBe('web');
  });

  it('have one page', () => {
    const page = explainPage(pairsOf(of('deployment')).map(explain));
    const pair = { from: 'c1/shop/cart', ok: true, firstWrong: null };
    expect(page).toMatchObject({
      ok: false,
      to: 'c2/shop/pod/web-b:8080',
      firstWrong: 'tunnel-out',
      pairs: [
        { ...pair, to: 'c2/shop/pod/web-a:8080' },
        { ...pair, to: 'c2/shop/pod/web-b:8080', ok: false, firstWrong: 'tunnel-out' },
      ],
    });
  });

  it('are one, which is wrong, if a workload has no Pods', () => {
    const asked = of('deployment', 'api');
    expect(callees(asked)).toEqual(['deployment api']);
    const { hops, firstWrong } = explain(asked);
    expect([firstWrong, hops.at(-1)?.detail]).toEqual(['target', 'c2 has no Pod of the deployment shop/api']);
  });

  it('are refused if there are too many', () => {
    const many = known(Array.from({ length: 40 }, (_, i) => pod(`web-${i}`, `10.4.0.${i}`)));
    const from = { ...facts.from, kind: 'namespace' } as const;
    const both = { ...of('namespace'), from, here: { ...here(), pods: many }, there: { ...there(), pods: many } };
    expect(() => pairsOf(both)).toThrow('--from and --to name 1600 pairs of Pods, more than 1000: name fewer');
  });

  it('ask about the address that the user names', () => {
    const two = (each: ReturnType<typeof pod>) => ({
      ...each,
      status: { ...each.status, podIPs: [{ ip: '10.4.0.9' }, { ip: 'fd00::9' }] },
    });
    const asked = { ...of('pod', 'web-a'), there: { ...there(), pods: known([two(pods[0]!)]) } };
    const v6 = { ...asked, here: { ...here(), pods: known([two(pod('cart', ''))]) } };
    const outs = [asked, { ...v6, to: { ...v6.to, ip: 'fd00::9' } }].map((each) => explain(each).hops[5]?.detail);
    expect(outs[0]).toMatch(/^n1 to m1 /);
    expect(outs[1]).toBe('no peer of wireguard.c2 on n1 has fd00::9 in its allowed IPs');
  });
});
