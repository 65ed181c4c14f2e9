import { Codec, serviceKind } from '@kube-semaphore/kube-objects';
import { type IpFamily, mustParseCidr } from '@kube-semaphore/net';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import type { AppStatus, RemoteStatus } from '../clusters/app-status.ts';
import type { Read } from '../clusters/objects.ts';
import type { AppPod } from '../clusters/report.ts';
import { dnsConfig } from '../../test/support/dns-config.ts';
import { rulesOf } from '../corefile/rules.ts';
import type { Masquerader } from '../masquerade/masquerader.ts';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { checks, checksBefore } from './checks.ts';
import type { Exported } from './facts/exported.ts';
import type { Facts, Reading } from './facts/facts.ts';
import { resultsOf } from './page.ts';
import { policyChecks } from './policy-checks.ts';

/** The pod addresses of a cluster, all on its one node. */
const rangeOf = (name: string): string => `10.${name.slice(1)}.0.0/16`;

const peer = (node: string, publicKey: string): NonNullable<RemoteStatus['peers']>[number] => ({
  node,
  publicKey,
  state: 'up',
  endpoint: '192.0.2.1:51820',
  allowedIps: [rangeOf(node.slice(2))],
});

const known = <T>(value: T): Read<T> => ({ known: true, value });
const forbidden = { known: false, why: 'c2: forbidden' } as const;

const MCS = ['serviceexports', 'serviceimports'];
const kinds = { v1alpha1: MCS, v1beta1: MCS };

/** A Corefile with our rules for some clusters. */
const ruled = (...names: readonly string[]): string => {
  const target = { namespace: 'sys-semaphore', domain: 'cluster.local.' };
  const rules = names.flatMap((name) => rulesOf({ name, prefix: name.replace('global', 'gl') }, target));
  return `.:53 {\n${[...rules, 'kubernetes cluster.local'].join('\n')}\n}\n`;
};
const stored = (text: string, writer = 'semaphore-link') =>
  known(dnsConfig(text, { corefile: { text, changedMs: 0, writer } }));
const IMPORTS = `clusterset.local:53 {
    kubernetes clusterset.local {
        multicluster clusterset.local
    }
}
`;

/** Rules where no query for their names comes. */
const twoBlocks = `${ruled('c1').replace('.:53', 'cluster.local:53')}.:53 {\nforward . 1.1.1.1\n}\n`;

/** As docs/mcs.md says for an older CoreDNS. */
const importsByRule = ruled('c1', 'mcs')
  .replaceAll(String.raw`cluster\.mcs`, String.raw`clusterset\.local`)
  .replaceAll('cluster.mcs', 'clusterset.local');

const dnsPod = { name: 'kube-system/coredns-0', ready: true, isCurrent: known(true) };

/** One that spares a range. */
const masquerader = (range: string): Masquerader => ({
  name: 'kindnet',
  object: { kind: 'DaemonSet', namespace: 'kube-system', name: 'kindnet' },
  reason: "POD_SUBNET of the DaemonSet kube-system/kindnet doesn't have it",
  spares: [mustParseCidr(range)],
  check: 'sources-kept',
});

/** A Service that others copy, with one Pod. */
const exported = ({
  targetPort = 8080 as number | string,
  selector = {},
  ports = [8080],
  isComplete = true,
}): Exported => ({
  services: [
    new Codec(serviceKind).objectFromJson({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'shop', name: 'web' },
      spec: { selector: { app: 'web', ...selector }, ports: [{ port: 80, targetPort }] },
    }),
  ],
  pods: new Map([
    [
      'shop',
      [
        {
          labels: { app: 'web', tier: 'a' },
          ports: ports.map((containerPort) => ({ name: 'http', containerPort, protocol: '' })),
        },
      ],
    ],
  ]),
  isComplete,
});

/** What its API server says. */
const factsOf = (name: string, remote: string): Facts => ({
  server: known(server),
  nodes: known([
    {
      name: `n-${name}`,
      podCidrs: [rangeOf(name)],
      addresses: [],
      internalIps: [],
      annotations: { [`${remote}.wireguard.semaphore.uw.io/endpoint`]: '192.0.2.1:51820' },
    },
  ]),
  pools: known([{ cidr: rangeOf(name) }, { cidr: rangeOf(remote), disabled: true }]),
  masqueraders: { found: [masquerader(rangeOf(remote))], unknown: [] },
  emptyRules: known([]),
  accidentalRules: known([]),
  dnsConfig: stored(`${ruled(remote)}${IMPORTS}`),
  selectedNamespaces: known(new Map()),
  multicluster: known({ kinds, isReadable: true }),
  dns: known([dnsPod]),
  workloads: known([{ what: 'the Deployment a/b', wanted: 1, there: 1 }]),
  otherMeshes: known([]),
  mirrors: known([{ namespace: 'sys-semaphore', name: 'web', hasReadyEndpoint: true }]),
  exported: known(exported({})),
  unextended: known({ why: '', names: [] }),
  unreadable: known([]),
  lacking: known([]),
});

const DAY_MS = 86_400_000;
/** Credentials for 80 days. */
const credentials = (daysLeft: number) => ({
  from: new Date((daysLeft - 80) * DAY_MS).toISOString(),
  until: new Date(daysLeft * DAY_MS).toISOString(),
});
const expiring = (days: number) => ({ what: 'the certificate', untilMs: days * DAY_MS });
const server = { major: 1, minor: 36, aheadMs: -900, readAtMs: 0, expiries: [expiring(90)] };

/** A Service with an order whose best level doesn't answer. */
const moved: NonNullable<AppStatus['orders']> = {
  services: { best: 1, other: 1, none: 0 },
  moved: [
    { service: 'global shop/web', levels: [{ level: 'c1', clusters: ['c1'], role: 'standby', state: 'not-ready' }] },
  ],
};

/** A name of a remote, as an app reports it. */
const asked = (remote: string, zone = remote) => ({
  remote,
  name: `web.shop.svc.cluster.${zone}`,
  address: '10.96.0.3',
});

/** A cluster that reads another one, and is fine. Its node is `n-c1`, with the key `key-c1`. */
function cluster(name: string, remote: string): Reading & { readonly pods: (AppPod & { status: object })[] } {
  const tunnel = remoteStatus({
    name: remote,
    config: { podSubnets: [rangeOf(remote)], allowedIPsFrom: 'podCIDRs', mtuBytes: 1420 },
    deviceName: `wireguard.${remote}`,
    device: { publicKey: `key-${name}`, marked: true },
    peers: [peer(`n-${remote}`, `key-${remote}`)],
    missing: [],
    unrouted: [],
  });
  const config = { allowedPodCIDRs: [rangeOf(remote)] };
  const read = remoteStatus({ name: remote, config, credentials: credentials(10) });
  return {
    cluster: name,
    facts: factsOf(name, remote),
    pods: [
      appPod({ app: 'semaphore-policy', name: 'policy-0', remotes: [read] }),
      appPod({ app: 'semaphore-policy', name: 'policy-1', leader: false, remotes: [read] }),
      appPod({
        app: 'semaphore-service-mirror',
        drains: [],
        inventory: { problem: null, profiles: [] },
        orders: { services: { best: 1, other: 0, none: 0 }, moved: [] },
        config: { name, mirrorNamespace: 'sys-semaphore', mcs: {} },
        remotes: [{ ...read, config: { ...config, servicePrefix: remote }, stale: false }],
        names: [{ ...asked(remote), answers: ['10.96.0.3'] }],
      }),
      appPod({ app: 'semaphore-wireguard', node: `n-${name}`, config: { name }, remotes: [tunnel] }),
    ],
  };
}

/** A cluster that shares its range of IPv4 with the other one. It is set up for IPv6 alone, and says that it uses these families. */
function dual(name: string, remoteName: string, families: IpFamily[] | null): Reading {
  const { pods, facts, ...reading } = cluster(name, remoteName);
  const [own, theirs] = [name, remoteName].map((each) => `fd00:${each.slice(1)}::/48`) as [string, string];
  const shared = '10.1.0.0/16';
  const ofRemote = ({ config, peers, ...other }: RemoteStatus): RemoteStatus => ({
    ...other,
    config: {
      ...config,
      families,
      ...(config.allowedPodCIDRs && { allowedPodCIDRs: [theirs] }),
      ...(config.podSubnets && { podSubnets: [theirs] }),
    },
    ...(peers && { peers: peers.map((each) => ({ ...each, allowedIps: [theirs] })) }),
  });
  const nodes = facts.nodes.known ? facts.nodes.value.map((node) => ({ ...node, podCidrs: [shared, own] })) : [];
  return {
    ...reading,
    facts: {
      ...facts,
      nodes: known(nodes),
      pools: known([{ cidr: shared }, { cidr: own }, { cidr: theirs, disabled: true }]),
      masqueraders: { found: [masquerader(theirs)], unknown: [] },
    },
    pods: pods.map((pod) => {
      const status = pod.status as AppStatus;
      return { ...pod, status: { ...status, remotes: status.remotes.map(ofRemote) } };
    }),
  };
}

const [POLICY, STANDBY, MIRROR, AGENT] = [0, 1, 2, 3] as const;

/** Two clusters that are fine, after a change of a Pod of the first. */
function broken(pod: number, change: object, status: object = {}, remote: object = {}): readonly Reading[] {
  const [c1, c2] = [cluster('c1', 'c2'), cluster('c2', 'c1')];
  const before = c1.pods[pod]!;
  const [first, ...others] = (before.status as { remotes: RemoteStatus[] }).remotes;
  const remotes = [{ ...first, ...remote }, ...others];
  const after = { ...before, status: { ...before.status, remotes, ...status }, ...change } as AppPod;
  return [{ ...c1, pods: c1.pods.with(pod, after as (typeof c1.pods)[number]) }, c2];
}

const remote = (pod: number, change: object) => broken(pod, {}, {}, change);
const [c1, c2] = [cluster('c1', 'c2'), cluster('c2', 'c1')];
/** One that doesn't spare the range of any other cluster. */
const elsewhere = masquerader('10.9.0.0/16');
const lastError = { time: '2026-01-01T00:00:00.000Z', message: 'refused' };
const third = remoteStatus({ name: 'c3', config: { allowedPodCIDRs: ['10.2.7.0/24'] } });

/** Two clusters that are fine, after a change of what the API server of the second says. */
const changed = <K extends keyof Facts>(fact: K, value: Facts[K]): readonly Reading[] => [
  c1,
  { ...c2, facts: { ...c2.facts, [fact]: value } },
];
/** Two clusters that are fine, after a change of the names that the first app reports, and of its Corefile. */
const named = (names: AppStatus['names'], config = c1.facts.dnsConfig): readonly Reading[] => {
  const [before, other] = broken(MIRROR, {}, { names });
  return [{ ...before!, facts: { ...c1.facts, dnsConfig: config } }, other!];
};
const failing = (reports: readonly Reading[]) =>
  resultsOf(checks, reports).flatMap(({ name, findings }) => findings.map(({ severity }) => `${severity} ${name}`));

describe('the checks', () => {
  it('find nothing in clusters that are fine, and skip none', () => {
    expect(resultsOf(checks, [c1, c2]).filter(({ result }) => result !== 'ok')).toEqual([]);
  });

  it('quote the words of an example of what is skipped, of an app that reports them, and cut them', () => {
    const skipped = [
      { kind: 'problem', reason: 'bad-address', count: 2 },
      { kind: 'problem', reason: 'refused', count: 1, example: `set a: exceeded \u001b[2J quota ${'x'.repeat(400)}` },
      { kind: 'expected', reason: 'finished', count: 3, example: 'pod b: it ended' },
    ];
    const { findings } = resultsOf(checks, remote(POLICY, { skipped })).find(({ name }) => name === 'nothing-skipped')!;
    const [words, more] = findings[0]!.detail.split('x'.repeat(273));
    expect(words).toMatch(
      /^objects of c2 are skipped: in c1 .*: 2 bad-address, 1 refused \(such as "set a: exceeded \\u001b\[2J quota $/,
    );
    expect(more).toBe('"…)');
  });

  it('name what a deleted Service left behind, with the cure, also of global Services', () => {
    const left = (example: string) => [{ kind: 'problem', reason: 'left-behind', count: 1, example }];
    const [mirror, global] = ['set serviceSync (-svc-sync) to true', 'set endpointSliceSync to true'];
    const localServices = { name: 'c1', skipped: left(`global/shop/web: ${global}`) };
    const reports = broken(MIRROR, {}, { localServices }, { skipped: left(`c2/shop/web: ${mirror}`) });
    const { findings } = resultsOf(checks, reports).find(({ name }) => name === 'nothing-skipped')!;
    expect(findings.map(({ detail }) => detail)).toEqual([
      `objects of c2 are skipped: in c1 (service-mirror): 1 left-behind (such as "c2/shop/web: ${mirror}")`,
      `objects of c1 are skipped: in c1 (service-mirror): 1 left-behind (such as "global/shop/web: ${global}")`,
    ]);
  });

  it.each([
    { reports: [c1, { ...c2, failure: 'c2: not reached', pods: [] }], want: ['problem clusters-reached'] },
    { reports: [c1, { ...c2, pods: [] }], want: ['problem apps-found'] },
    { reports: [c1, { ...c2, leftOut: 'c2: these Pods …' }], want: ['warning pods-ours'] },
    {
      reports: changed('workloads', known([{ what: 'the Deployment a/b', wanted: 2, there: 1 }])),
      want: ['problem pods-complete'],
    },
    {
      reports: changed('workloads', known([{ what: 'the DaemonSet a/b', wanted: 0, there: 0 }])),
      want: ['problem pods-complete'],
    },
    { reports: changed('workloads', forbidden), want: ['warning pods-complete'] },
    { reports: [c1, { ...c2, pods: c2.pods.slice(POLICY, AGENT) }], want: ['problem both-ways'] },
    { reports: broken(POLICY, { ready: false }), want: ['problem pods-ready'] },
    { reports: broken(STANDBY, { status: { failure: '503' } }), want: ['problem status-served'] },
    { reports: broken(MIRROR, {}, { version: '0.2.0' }), want: ['warning same-version'] },
    { reports: broken(POLICY, {}, { leader: false }), want: ['problem one-leader'] },
    { reports: broken(STANDBY, {}, { leader: true }), want: ['problem one-leader'] },
    { reports: broken(AGENT, {}, { local: { up: false, synced: true, lastError } }), want: ['problem local-reached'] },
    { reports: broken(AGENT, {}, { local: { up: true, synced: false, lastError } }), want: ['problem local-reached'] },
    { reports: remote(POLICY, { up: false, lastError }), want: ['problem remotes-reached'] },
    { reports: remote(POLICY, { synced: false, objects: null }), want: ['problem remotes-synced'] },
    { reports: remote(MIRROR, { stale: true }), want: ['problem not-stale'] },
    { reports: remote(POLICY, { heldDeletions: 12 }), want: ['warning nothing-held'] },
    {
      reports: remote(POLICY, { skipped: [{ kind: 'problem', reason: 'bad-address', count: 2 }] }),
      want: ['warning nothing-skipped'],
    },
    { reports: remote(POLICY, { skipped: [{ kind: 'expected', reason: 'finished', count: 2 }] }), want: [] },
    {
      reports: broken(MIRROR, {}, { drains: [{ cluster: 'c2', since: null, by: null, reason: null }] }),
      want: ['note nothing-drained'],
    },
    { reports: broken(MIRROR, {}, { orders: moved }), want: ['warning best-level-answers'] },
    { reports: remote(MIRROR, { config: { allowedPodCIDRs: null } }), want: ['warning addresses-restricted'] },
    {
      reports: broken(POLICY, {}, { remotes: [remoteStatus({ config: { allowedPodCIDRs: [rangeOf('c2')] } }), third] }),
      want: ['problem ranges-distinct'],
    },
    { reports: remote(AGENT, { device: null }), want: ['problem devices-set-up'] },
    { reports: remote(AGENT, { device: { publicKey: 'key-c1', marked: false } }), want: ['problem devices-set-up'] },
    { reports: remote(AGENT, { device: undefined, deviceError: 'no wg' }), want: ['problem devices-set-up'] },
    { reports: remote(AGENT, { deviceError: 'port 51821 is used by eth0' }), want: ['problem devices-set-up'] },
    { reports: remote(AGENT, { unrouted: [rangeOf('c2')] }), want: ['problem routes-set'] },
    { reports: remote(AGENT, { missing: ['n-c2'] }), want: ['problem peers-complete'] },
    {
      reports: remote(AGENT, { peers: [{ ...peer('n-c2', 'key-c2'), state: 'stale' }] }),
      want: ['problem handshakes'],
    },
    {
      reports: remote(AGENT, { peers: [{ ...peer('n-c2', 'key-c2'), state: 'never' }] }),
      want: ['problem handshakes'],
    },
    {
      reports: remote(AGENT, {
        rotation: { plane: 1, since: '2026-01-01T00:00:00Z', rotating: [], laggards: ['n-c2'], late: false },
      }),
      want: ['note keys-rotated'],
    },
    {
      reports: remote(AGENT, {
        rotation: { plane: 0, since: null, rotating: ['n-c2'], laggards: ['n-c2'], late: true },
      }),
      want: ['warning keys-rotated'],
    },
    {
      reports: remote(AGENT, {
        peers: [{ ...peer('n-c2', 'key-c2'), state: 'stale' }],
        secondDevice: { publicKey: 'next', peers: [peer('n-c2', 'key-c2')] },
      }),
      want: [],
    },
    { reports: remote(AGENT, { name: 'c9', peers: [] }), want: ['problem both-ways'] },
    { reports: changed('server', known({ ...server, minor: 26 })), want: ['problem kubernetes-supported'] },
    { reports: changed('server', known({ ...server, aheadMs: -31_000 })), want: ['warning clocks-agree'] },
    {
      reports: changed('server', known({ ...server, expiries: [expiring(13)] })),
      want: ['warning credentials-valid'],
    },
    { reports: changed('lacking', known(['a may not list pods'])), want: ['problem rights-granted'] },
    {
      reports: changed('unreadable', known([{ what: 'list nodes', checks: ['ranges-apart'] }])),
      want: ['warning reads-allowed'],
    },
    { reports: changed('unreadable', forbidden), want: ['warning reads-allowed'] },
    { reports: changed('lacking', forbidden), want: ['warning rights-granted'] },
    { reports: remote(POLICY, { credentials: credentials(9.9) }), want: ['warning app-credentials-valid'] },
    { reports: remote(POLICY, { credentials: credentials(0) }), want: ['problem app-credentials-valid'] },
    { reports: changed('dnsConfig', stored(IMPORTS)), want: ['problem dns-rules'] },
    { reports: changed('dnsConfig', stored(`${ruled('c1', 'c9')}${IMPORTS}`)), want: ['warning dns-rules'] },
    { reports: changed('selectedNamespaces', forbidden), want: ['warning dns-rules'] },
    { reports: changed('emptyRules', known(['a rule selects no address'])), want: ['warning sets-filled'] },
    { reports: changed('emptyRules', forbidden), want: ['warning sets-filled'] },
    { reports: changed('accidentalRules', known(['a rule also selects our sets'])), want: ['problem sets-unselected'] },
    { reports: changed('accidentalRules', forbidden), want: ['warning sets-unselected'] },
    { reports: changed('dns', known([{ ...dnsPod, ready: false }])), want: ['problem dns-answers'] },
    { reports: changed('dns', known([{ ...dnsPod, ready: false }, dnsPod])), want: [] },
    { reports: changed('dns', known([{ ...dnsPod, isCurrent: known(false) }])), want: ['problem dns-answers'] },
    { reports: changed('dns', known([{ ...dnsPod, isCurrent: forbidden }])), want: ['warning dns-answers'] },
    { reports: named([{ ...asked('c2'), error: 'ESERVFAIL' }]), want: ['problem names-resolved'] },
    { reports: named([{ ...asked('c2'), answers: ['10.96.0.9'] }]), want: ['problem names-resolved'] },
    { reports: named([{ ...asked('c2'), answers: ['10.96.0.3', '10.96.0.9'] }]), want: ['problem names-resolved'] },
    {
      reports: named([{ ...asked('c2'), error: 'ENOTFOUND' }], stored(`.:53 {\n}\n${IMPORTS}`)),
      want: ['problem dns-rules'],
    },
    {
      reports: named([{ ...asked('c2'), error: 'ENOTFOUND' }], stored('.:53 {')),
      want: ['warning dns-rules', 'problem names-resolved'],
    },
    {
      reports: named([{ ...asked('c2'), error: 'ENOTFOUND' }], stored(importsByRule.replaceAll('c1', 'c2'))),
      want: ['problem names-resolved'],
    },
    {
      reports: named([{ ...asked('c2'), error: 'ENOTFOUND' }], known(dnsConfig(undefined))),
      want: ['problem names-resolved'],
    },
    {
      reports: named([
        { ...asked('c2'), error: 'ENOTFOUND' },
        { ...asked('c2', 'p2'), answers: ['10.96.0.3'] },
      ]),
      want: [],
    },
    { reports: named([]), want: [] },
    { reports: named(undefined), want: [] },
    { reports: changed('dnsConfig', stored(ruled('c1'))), want: ['problem imports-resolved'] },
    {
      reports: changed('dnsConfig', stored(`${ruled('c1')}${IMPORTS.replace(':53', ':5353')}`)),
      want: ['problem imports-resolved'],
    },
    { reports: changed('dnsConfig', stored(importsByRule)), want: [] },
    {
      reports: changed('dnsConfig', stored(ruled('c1') + IMPORTS.replace('tes cl', 'tes cluster.local cl'))),
      want: ['problem imports-resolved'],
    },
    {
      reports: changed('multicluster', known({ kinds: { ...kinds, v1beta1: [] }, isReadable: true })),
      want: ['problem imports-resolved'],
    },
    {
      reports: changed('multicluster', known({ kinds: { ...kinds, v1alpha1: [] }, isReadable: false })),
      want: ['problem imports-resolved'],
    },
    { reports: changed('multicluster', known({ kinds, isReadable: false })), want: ['problem imports-resolved'] },
    { reports: changed('multicluster', forbidden), want: ['warning imports-resolved'] },
    { reports: changed('dnsConfig', forbidden), want: ['warning dns-rules'] },
    {
      reports: changed('pools', known([{ cidr: rangeOf('c2'), disabled: false }])),
      want: ['problem pools-disabled'],
    },
    { reports: changed('masqueraders', { found: [elsewhere], unknown: [] }), want: ['problem sources-kept'] },
    {
      reports: changed('masqueraders', { found: [{ ...elsewhere, unless: 'the VPC has it' }], unknown: [] }),
      want: ['warning sources-kept'],
    },
    {
      reports: changed('masqueraders', { found: [], unknown: [{ check: 'sources-kept', why: 'c2: forbidden' }] }),
      want: ['warning sources-kept'],
    },
    {
      reports: changed('masqueraders', {
        found: [{ ...elsewhere, check: 'pools-disabled' }],
        unknown: [{ check: 'pools-disabled', why: 'c2: forbidden' }],
      }),
      want: [],
    },
    {
      reports: changed('mirrors', known([{ namespace: 's', name: 'web', hasReadyEndpoint: false }])),
      want: ['warning mirrors-ready'],
    },
    { reports: changed('exported', known(exported({ targetPort: 8081 }))), want: ['warning exports-answered'] },
    { reports: changed('exported', known(exported({ targetPort: 'web' }))), want: ['warning exports-answered'] },
    { reports: changed('exported', known(exported({ targetPort: 'http' }))), want: [] },
    { reports: changed('exported', known(exported({ targetPort: 0 }))), want: ['warning exports-answered'] },
    { reports: changed('exported', known(exported({ targetPort: 8081, ports: [] }))), want: [] },
    {
      reports: changed('exported', known(exported({ targetPort: 'http', ports: [] }))),
      want: ['warning exports-answered'],
    },
    { reports: changed('exported', known(exported({ selector: { tier: 'b' } }))), want: ['warning exports-answered'] },
    { reports: changed('exported', known(exported({ isComplete: false }))), want: ['warning exports-answered'] },
    { reports: changed('exported', forbidden), want: ['warning exports-answered'] },
    {
      reports: changed('unextended', known({ why: 'there is no semaphore-policy', names: ['shop/web'] })),
      want: ['warning policies-extended'],
    },
    { reports: changed('unextended', forbidden), want: ['warning policies-extended'] },
    { reports: changed('otherMeshes', known(['Cilium ClusterMesh'])), want: ['warning other-meshes'] },
    { reports: changed('otherMeshes', forbidden), want: ['warning other-meshes'] },
    { reports: changed('mirrors', forbidden), want: ['warning mirrors-ready'] },
    {
      reports: remote(AGENT, { peers: [{ ...peer('n-c2', 'key-c2'), endpoint: null }] }),
      want: ['warning endpoints-agree'],
    },
    {
      reports: remote(AGENT, { peers: [{ ...peer('n-c2', 'key-c2'), allowedIps: [] }] }),
      want: ['problem allowed-ips-agree'],
    },
    { reports: remote(AGENT, { peers: [peer('n-c2', 'key-old')] }), want: ['problem keys-agree'] },
  ])('find exactly $want', ({ reports, want }) => {
    expect(failing(reports)).toEqual(want);
  });

  it.each([
    { name: 'nothing if both use IPv6 alone', families: [[6], [6]], want: [] },
    {
      name: 'equal ranges of IPv4 if one still uses it',
      families: [[6], null],
      want: ['problem ranges-apart', 'problem allowed-ips-agree', 'problem subnets-agree'],
    },
  ] satisfies { name: string; families: [IpFamily[], IpFamily[] | null]; want: string[] }[])(
    'of clusters with equal ranges of IPv4 find $name',
    ({ families: [first, second], want }) => {
      const readings = [dual('c1', 'c2', first), dual('c2', 'c1', second)];
      expect(failing(readings)).toEqual(want);
    },
  );

  it('name the port that no container declares, the selector that matches nothing, and NetworkPolicies that are not extended', () => {
    const wrong = (more: object) => changed('exported', known(exported(more)));
    const off = { why: 'semaphore-policy has -network-policies off', names: ['a/1', 'a/2', 'a/3', 'a/4'] };
    const details = [
      wrong({ targetPort: 8081 }),
      wrong({ selector: { tier: 'b' } }),
      changed('unextended', known(off)),
    ].flatMap((reports) => resultsOf(checks, reports).flatMap(({ findings }) => findings.map(({ detail }) => detail)));
    expect(details).toEqual([
      'c2: Services with a targetPort that no container declares: shop/web from 80 to 8081/TCP (declared: http 8080/TCP)',
      'c2: Services whose selector matches no Pod: shop/web (app=web,tier=b)',
      'c2: NetworkPolicies name other clusters, but semaphore-policy has -network-policies off: a/1, a/2, a/3 and 1 more',
    ]);
  });

  it('find the drift of the configs of two sides', () => {
    const drift = (change: object) =>
      remote(AGENT, { config: { podSubnets: [rangeOf('c2')], allowedIPsFrom: 'podCIDRs', mtuBytes: 1420, ...change } });
    expect(failing(drift({ mtuBytes: 1380 }))).toEqual(['problem mtu-agrees', 'problem mtu-agrees']);
    expect(failing(drift({ podSubnets: ['10.2.0.0/17'] }))).toEqual(['problem subnets-agree']);
  });

  it.each([
    {
      name: 'another block',
      text: twoBlocks,
      want: 'the server block ".:53" gets NAME, and has no rule for it; the server block "cluster.local:53" has one',
    },
    {
      name: 'who replaced the Corefile',
      text: ruled(),
      writer: 'deploy@k3s-1',
      want: 'the server block ".:53" gets NAME, and has no rule for it; "deploy@k3s-1" wrote the Corefile last',
    },
    {
      name: 'a file that may have the rule',
      text: ruled().replace('}', 'import more/*.override\n}'),
      severity: 'warning',
      want: 'the server block ".:53" gets NAME, and has no rule for it, unless a file of "import more/*.override" does',
    },
    {
      name: 'an option that hides a namespace by its name',
      text: ruled('c1').replace('kubernetes cluster.local', '$& {\nnamespaces shop\n}'),
      want: '"namespaces shop" of "kubernetes" in the server block ".:53" hides sys-semaphore',
    },
    {
      name: 'one that hides it by its labels',
      text: ruled('c1').replace('kubernetes cluster.local', '$& {\nnamespace_labels dns in (on, all)\n}'),
      want: '"namespace_labels dns in (on, all)" of "kubernetes" in the server block ".:53" hides sys-semaphore',
    },
    {
      name: 'one that hides Pods of headless Services',
      text: ruled('c1').replace('kubernetes cluster.local', '$& {\nnoendpoints\n}'),
      severity: 'warning',
      want: '"noendpoints" of "kubernetes" in the server block ".:53": names of headless Services don\'t resolve',
    },
    {
      name: 'a Corefile that CoreDNS refuses',
      text: ruled('c1').replace(/\}\n$/, ''),
      severity: 'warning',
      want: 'the Corefile can\'t be read: it ends before a "}"',
    },
    {
      name: 'rules of a cluster that left',
      text: ruled('c1', 'c9'),
      severity: 'warning',
      want: 'the server block ".:53" has rules for c9, which no app reads',
    },
  ])('name what keeps names from resolving: $name', ({ text, writer, severity = 'problem', want }) => {
    const facts = {
      ...c2.facts,
      dnsConfig: stored(text, writer),
      selectedNamespaces: known(new Map([['dns in (on, all)', ['shop']]])),
    };
    const [{ findings } = { findings: [] }] = resultsOf(checks, [c1, { ...c2, facts }]).filter(
      ({ name }) => name === 'dns-rules',
    );
    const detail = `c2: ${want.replace('NAME', '"service.namespace.svc.cluster.c1"')}`;
    expect(findings).toEqual([{ severity, detail }]);
  });

  it('name what DNS says to Pods, where, and what it should say', () => {
    const detailsOf = (...names: NonNullable<AppStatus['names']>) =>
      resultsOf(checks, named(names))
        .filter(({ name }) => name === 'names-resolved')
        .flatMap(({ findings }) => findings.map(({ detail }) => detail));
    const said = (answer: string, whose = 'c2', zone = whose) =>
      `names of ${whose} don't resolve: in c1 (service-mirror): on node n1, ` +
      `DNS says ${answer} for web.shop.svc.cluster.${zone}, not 10.96.0.3`;
    expect(detailsOf({ ...asked('c2'), error: 'ESERVFAIL' })).toEqual([said('SERVFAIL')]);
    expect(detailsOf({ ...asked('c2'), error: 'ENODATA' })).toEqual([said('no address')]);
    expect(detailsOf({ ...asked('c2'), answers: ['10.96.0.3', '10.9.0.1'] })).toEqual([said('10.96.0.3 and 10.9.0.1')]);
    expect(detailsOf({ ...asked('c2'), error: 'ENOTFOUND' }, { ...asked('c2', 'p2'), error: 'ETIMEOUT' })).toEqual([
      said('NXDOMAIN for web.shop.svc.cluster.c2, nothing', 'c2', 'p2'),
    ]);
    const withGlobals = named(
      [{ ...asked('global'), error: 'ENOTFOUND' }],
      stored(`${ruled('c2', 'global')}${IMPORTS}`),
    );
    expect(resultsOf(checks, withGlobals).flatMap(({ findings }) => findings.map(({ detail }) => detail))).toEqual([
      said('NXDOMAIN', 'global Services', 'global'),
    ]);
  });

  it('name the node where names do not resolve, if they do so in another Pod', () => {
    const mirrors = ['n1', 'n2'].map((node, i) => {
      const answers = i === 0 ? { answers: ['10.96.0.3'] } : { error: 'ESERVFAIL' };
      return appPod({
        app: 'semaphore-service-mirror',
        name: `mirror-${i}`,
        node,
        leader: i === 0,
        config: { mirrorNamespace: 'sys-semaphore' },
        names: [{ ...asked('c2'), ...answers }],
      });
    });
    const found = resultsOf(checks, [{ ...c1, pods: mirrors }]).find(({ name }) => name === 'names-resolved');
    expect(found?.findings.map(({ detail }) => detail)).toEqual([
      "names of c2 don't resolve: in c1 (service-mirror in kube-system/mirror-1): " +
        'on node n2, DNS says SERVFAIL for web.shop.svc.cluster.c2, not 10.96.0.3',
    ]);
  });

  it('find the missing rule of global Services', () => {
    const [mirror] = c2.pods.slice(MIRROR);
    const config = { mirrorNamespace: 'sys-semaphore', globalSelector: 'global=true' };
    const status = { ...mirror!.status, config, names: [{ ...asked('global'), error: 'ENOTFOUND' }] };
    const pods = c2.pods.with(MIRROR, { ...mirror!, status });
    expect(failing([c1, { ...c2, pods }])).toEqual(['warning dns-rules']);
    // What keeps all names from resolving is shown once, and as a problem.
    const hiding = ruled('c1', 'global').replace('kubernetes cluster.local', '$& {\nnamespaces shop\n}');
    const facts = { ...c2.facts, dnsConfig: stored(hiding) };
    expect(failing([c1, { ...c2, pods, facts }])).toEqual(['problem dns-rules']);
  });

  it('find pod addresses that two clusters share, also before the installation', () => {
    const pools = known([{ cidr: '10.1.0.0/24' }, { cidr: rangeOf('c1'), disabled: true }]);
    const shared = [c1, { ...c2, pods: [], facts: { ...c2.facts, pools } }];
    const found = resultsOf(checksBefore, shared).flatMap(({ findings }) => findings);
    expect(found).toEqual([{ severity: 'problem', detail: 'c1 and c2 share pod addresses of 10.1.0.0/16' }]);
  });

  it('name what replaces the addresses of Pods, the remote, and its ranges; before the installation, all clusters', () => {
    const facts = { ...c1.facts, masqueraders: { found: [elsewhere], unknown: [] } };
    const third = { ...cluster('c3', 'c1'), pods: [] };
    const detailsOf = (readings: readonly Reading[]) =>
      resultsOf(checksBefore, readings)
        .filter(({ name }) => name === 'sources-kept')
        .flatMap(({ findings }) => findings.map(({ detail }) => detail));
    const said = (to: string) =>
      `c1: kindnet replaces the address of Pods in packets to ${to}: POD_SUBNET of the DaemonSet kube-system/kindnet doesn't have it`;
    expect(detailsOf([{ ...c1, facts }, c2])).toEqual([said('10.2.0.0/16 of c2')]);
    expect(detailsOf([{ ...c1, facts, pods: [] }, c2, third])).toEqual([
      said('10.2.0.0/16 of c2'),
      said('10.3.0.0/16 of c3'),
      said('10.2.0.0/16 of c2').replace('c1', 'c3'),
    ]);
  });

  it('skip what is not there, such as tunnels', () => {
    const pods = c1.pods.slice(POLICY, MIRROR);
    const skipped = resultsOf(checks, [{ ...c1, pods }]).filter(({ result }) => result === 'skipped');
    expect(skipped.map(({ name }) => name)).toEqual([
      'dns-rules',
      'names-resolved',
      'not-stale',
      'inventory-complete',
      'nothing-drained',
      'best-level-answers',
      'devices-set-up',
      'routes-set',
      'peers-complete',
      'handshakes',
      'keys-rotated',
      'both-ways',
      'keys-agree',
      'endpoints-agree',
      'allowed-ips-agree',
      'subnets-agree',
      'mtu-agrees',
    ]);
  });

  it('are the headings of docs/check.md, in their order', () => {
    const headings = Array.from(docPage('check.md').matchAll(/^## (.*)$/gm), ([, heading]) => heading);
    const ofPolicies = policyChecks.filter(({ name }) => name !== 'clusters-reached');
    expect(headings).toEqual([...checks, ...ofPolicies].map(({ name }) => name));
  });
});
