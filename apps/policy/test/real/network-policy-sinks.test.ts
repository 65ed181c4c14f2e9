// Real: CustomResourceDefinitions of Calico and Cilium have rules that the embedded server doesn't check.
import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { calicoCrds, ciliumCrds, deployedRights, goesWithoutEngines, rulesOf } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { folders } from '../support/accounts.ts';
import { argvOf, type PolicyFlags } from '../support/command-line.ts';
import { it as itWithNetworkPolicies } from '../support/it-with-network-policies.ts';
import { fromApp, peer } from '../support/user-policies.ts';

type Opened = { readonly ports: readonly (string | number)[]; readonly group: string | undefined };
type CiliumRule = {
  readonly fromCIDRSet?: readonly { readonly cidrGroupRef: string }[];
  readonly toCIDRSet?: readonly { readonly cidrGroupRef: string }[];
  readonly toPorts?: readonly { readonly ports: readonly { readonly port: string }[] }[];
};
type CalicoEnd = { readonly selector?: string; readonly ports?: readonly (string | number)[] };
type CalicoRule = { readonly protocol?: string; readonly source?: CalicoEnd; readonly destination?: CalicoEnd };

const CLUSTER = 'policy.semaphore.uw.io/cluster';
const MANAGED_BY = 'policy.semaphore.uw.io/managed-by';
const PEER = 'policy.semaphore.uw.io/peer';
const SELECTOR = { matchLabels: { 'app.kubernetes.io/name': 'db' } };
const EXPRESSIONS = [
  { key: 'tier', operator: 'NotIn', values: ['a', 'b'] },
  { key: 'track', operator: 'Exists' },
];

/** How to read the objects of each sink, and how somebody would open them to everybody. */
const sinks = {
  cilium: {
    policies: '/apis/cilium.io/v2/namespaces/alpha/ciliumnetworkpolicies',
    groups: '/apis/cilium.io/v2/ciliumcidrgroups',
    flags: { 'network-policy-sink': 'cilium' },
    addresses: 'externalCIDRs',
    groupId: ({ metadata }: KubeObject) => metadata.name,
    opened: ({ fromCIDRSet = [], toCIDRSet = [], toPorts = [] }: CiliumRule): Opened => ({
      ports: toPorts.flatMap(({ ports }) => ports.map(({ port }) => port)),
      group: [...fromCIDRSet, ...toCIDRSet][0]?.cidrGroupRef,
    }),
    every: 0,
    spec: {
      endpointSelector: {
        matchLabels: { 'k8s:app.kubernetes.io/name': 'db' },
        matchExpressions: EXPRESSIONS.map((each) => ({ ...each, key: `k8s:${each.key}` })),
      },
      enableDefaultDeny: { ingress: false, egress: false },
    },
    edits: [
      { specs: [{ endpointSelector: {}, ingress: [{ fromEntities: ['all'] }] }] },
      { spec: { ingress: [{ fromEntities: ['all'] }] } },
    ],
  },
  calico: {
    policies: '/apis/crd.projectcalico.org/v1/namespaces/alpha/networkpolicies',
    groups: '/apis/crd.projectcalico.org/v1/globalnetworksets',
    flags: { 'network-policy-sink': 'calico', 'calico-api': 'crd.projectcalico.org/v1' },
    addresses: 'nets',
    groupId: ({ metadata }: KubeObject) => metadata.labels?.[PEER],
    opened: ({ source, destination }: CalicoRule): Opened => ({
      ports: destination?.ports ?? [],
      group: (source?.selector ?? destination?.selector)?.replace(new RegExp(`^${PEER} == '(.*)'$`), '$1'),
    }),
    every: undefined,
    spec: {
      order: 1000,
      tier: 'default',
      selector:
        "projectcalico.org/orchestrator == 'k8s' && app.kubernetes.io/name == 'db' && tier not in { 'a', 'b' } && has(track)",
    },
    edits: [{ spec: { selector: 'all()' } }, { spec: { ingress: [{ action: 'Allow' }] } }],
  },
} as const;
type SinkName = keyof typeof sinks;

/** What the objects of a sink open: see `UserPolicies.opened`. */
async function opened(client: TestClient, name: SinkName): Promise<readonly string[]> {
  const sink = sinks[name];
  const groups = new Map((await client.list(sink.groups)).map((group) => [sink.groupId(group), group['spec']]));
  const lines = (await client.list(sink.policies)).flatMap(({ metadata, spec }) =>
    (['ingress', 'egress'] as const).flatMap((direction) =>
      ((spec as Partial<Record<typeof direction, readonly object[]>>)[direction] ?? []).map((rule) => {
        const { ports, group } = sink.opened(rule);
        const cidrs = (groups.get(group) as Readonly<Record<string, readonly string[]>> | undefined)?.[sink.addresses];
        const source = metadata.annotations?.['policy.semaphore.uw.io/source'];
        return `${source} ${direction} ${ports.join('+') || 'all'}: ${cidrs?.join(' ')}`;
      }),
    ),
  );
  return lines.toSorted();
}

/** An object of a sink under another name, as if somebody else or the process for another remote had written it. */
function copyOf({ metadata, ...object }: KubeObject, by: 'somebody' | 'c9'): KubeObject {
  const { name, namespace, labels, annotations } = metadata;
  const changed = by === 'c9' ? CLUSTER : MANAGED_BY;
  const change = (values: Readonly<Record<string, string>> = {}) =>
    changed in values ? { ...values, [changed]: by } : values;
  const copy = { name: `${name}-${by}`, labels: change(labels), annotations: change(annotations) };
  return { ...object, metadata: { ...copy, ...(namespace !== undefined && { namespace }) } };
}

/** A test on a cluster with the real CustomResourceDefinitions of Cilium and Calico. */
const it = itWithNetworkPolicies
  .extend('components', { scope: 'file' }, () => [folders.cilium, folders.calico])
  .extend('local', { scope: 'file' }, async ({ clusters: { local } }) => {
    for (const definition of [...ciliumCrds(), ...calicoCrds('networkpolicies')])
      await local.defineResource(definition);
    return local;
  })
  .extend('using', ({ local: { admin }, start }, { onCleanup }) => {
    const used = new Set<SinkName>();
    onCleanup(async () => {
      for (const path of [...used].flatMap((name) => [sinks[name].policies, sinks[name].groups]))
        await eventually(async () => {
          await admin.request('DELETE', path);
          return admin.list(path);
        }, []);
    });
    return (name: SinkName) => {
      used.add(name);
      const { policies, groups, flags } = sinks[name];
      return {
        start: (more?: PolicyFlags) => start({ ...flags, ...more }),
        open: (...lines: string[]) => eventually(() => opened(admin, name), lines.toSorted()),
        policies: () => admin.list(policies),
        groups: () => admin.list(groups),
        add: (path: 'policies' | 'groups', object: KubeObject) => admin.create(sinks[name][path], object),
        all: async () => [...(await admin.list(policies)), ...(await admin.list(groups))],
        edit: async (path: 'policies' | 'groups', { metadata }: KubeObject, patch: object) =>
          expect((await admin.request('PATCH', `${sinks[name][path]}/${metadata.name}`, patch)).status).toBe(200),
      };
    };
  });

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const LINE = 'db ingress 5432: 10.4.0.20/32';

describe.skipIf(goesWithoutEngines)('-network-policy-sink', () => {
  it('replaces what another sink wrote as soon as it has the rights', async ({
    local,
    using,
    pods,
    policies,
    start,
  }) => {
    const { kubeconfig } = await local.account(
      'narrow',
      rulesOf(deployedRights(folders.local, folders.networkPolicies)),
    );
    const calico = using('calico');
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const values = Array.from({ length: 20 }, (_, i) => `${i}-${'x'.repeat(60)}`);
    const podSelector = { matchExpressions: [{ key: 'app', operator: 'In', values }] };
    await policies.add('long', { ...fromApp('c2'), podSelector });
    const long = 'long c2 ingress 5432: 10.4.0.20/32';
    const before = await calico.start();
    await calico.open(LINE);
    await policies.open(long);
    await before.logged('skipped', { reason: 'selector-too-long' });
    await before.stop();
    const policy = await start({ 'local-kube-config': kubeconfig });
    await policies.open('db c2 ingress 5432: 10.4.0.20/32', long);
    await calico.open(LINE);
    const said = policy.log().filter(({ msg }) => msg === 'companions of another sink are not looked for');
    expect(said.map(({ resources }) => resources)).toEqual([
      ['globalnetworksets.crd.projectcalico.org', 'networkpolicies.crd.projectcalico.org'],
      ['ciliumcidrgroups.cilium.io', 'ciliumnetworkpolicies.cilium.io'],
    ]);
    expect(policy.log().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    await policy.stop();
    await start();
    await eventually(calico.all, []);
    await policies.open('db c2 ingress 5432: 10.4.0.20/32', long);
  });
});

describe.skipIf(goesWithoutEngines).each(['cilium', 'calico'] as const)('-network-policy-sink=%s', (name) => {
  it('writes a policy and groups of addresses that the CNI accepts', async ({ using, pods, policies }) => {
    const { every, spec } = sinks[name];
    const sink = using(name);
    await pods.add({ ...WEB, ips: ['10.4.0.20', 'fd00:4::20'], ports: { http: 8080 } });
    const many = Array.from({ length: 50 }, (_, i) => ({ port: 1000 + i, protocol: 'UDP' }));
    await policies.add('shapes', {
      podSelector: { ...SELECTOR, matchExpressions: EXPRESSIONS },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { from: [peer('c2', 'web')], ports: [{ port: 5432 }, { port: 'metrics' }] },
        { from: [peer('c2')], ports: many },
      ],
      egress: [
        { to: [peer('c2', 'web')], ports: [{ port: 'http' }] },
        { to: [{ ...peer('c2'), podSelector: {} }], ports: [{ protocol: 'SCTP' }] },
      ],
    });
    await policies.add('everything', { podSelector: {}, ingress: [{ from: [peer('c2')] }] });
    const policy = await sink.start();
    const both = '10.4.0.20/32 fd00:4::20/128';
    await sink.open(
      `everything ingress all: ${both}`,
      `shapes egress 8080: ${both}`,
      `shapes egress ${every ?? 'all'}: ${both}`,
      `shapes ingress 5432+metrics: ${both}`,
      `shapes ingress ${many.map(({ port }) => port).join('+')}: ${both}`,
    );
    const written = (await sink.policies()).find(({ metadata }) => metadata.name.includes('shapes-c2-ingress-'))!;
    expect(written.metadata['ownerReferences']).toMatchObject([{ kind: 'NetworkPolicy', name: 'shapes' }]);
    expect(written['spec']).toMatchObject(spec);
    expect(await policies.companions()).toEqual([]);
    await policy.logged('companion created', { addresses: 2 });
    expect(policy.log().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('follows a Pod by its group alone, and a NetworkPolicy by both', async ({ using, pods, policies }) => {
    const sink = using(name);
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    await sink.start();
    await sink.open(LINE);
    const [before] = await sink.policies();
    await pods.add({ ...WEB, name: 'web-2', ips: ['10.4.0.22'] });
    await sink.open(`${LINE} 10.4.0.22/32`);
    expect((await sink.policies())[0]!.metadata['resourceVersion']).toBe(before!.metadata['resourceVersion']);
    await policies.patch('db', { spec: fromApp('c2', 'web', 5433) });
    await sink.open('db ingress 5433: 10.4.0.20/32 10.4.0.22/32');
    await eventually(async () => (await sink.groups()).length, 1);
    await policies.remove('db');
    await eventually(sink.all, []);
  });

  it('restores what somebody edits', async ({ using, pods, policies }) => {
    const sink = using(name);
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const policy = await sink.start();
    await sink.open(LINE);
    const repairs = () => policy.metric('semaphore_policy_repairs_total', { remote: 'c2' });
    const [[companion], [group]] = [await sink.policies(), await sink.groups()];
    for (const [i, edit] of sinks[name].edits.entries()) {
      await sink.edit('policies', companion!, edit);
      await eventually(repairs, i + 1);
    }
    await sink.edit('groups', group!, { spec: { [sinks[name].addresses]: ['0.0.0.0/0'] } });
    await eventually(repairs, 3);
    await sink.open(LINE);
    const [restored] = await sink.policies();
    expect([restored!['spec'], restored!['specs']]).toEqual([companion!['spec'], undefined]);
  });

  it('deletes at the start what has no source: policies before groups, and nothing of others', async ({
    local,
    accounts,
    using,
    pods,
    policies,
    onTestFinished,
  }) => {
    const sink = using(name);
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const before = await sink.start();
    await sink.open(LINE);
    const [[companion], [group]] = [await sink.policies(), await sink.groups()];
    await before.stop();
    // Without an owner, which Calico's API server doesn't keep, no garbage collector deletes it.
    await sink.edit('policies', companion!, { metadata: { ownerReferences: null } });
    await policies.remove('db');
    for (const by of ['somebody', 'c9'] as const) {
      await sink.add('groups', copyOf(group!, by));
      await sink.add('policies', copyOf(companion!, by));
    }
    const ours = [companion, group].map((each) => each!.metadata.name);
    const others = (await sink.all()).filter(({ metadata }) => !ours.includes(metadata.name));
    expect(others).toHaveLength(4);
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    await proxy.set(
      { kind: 'answer', status: 500 },
      { verb: 'delete', target: new RegExp(`^${sinks[name].policies}/`) },
    );
    await sink.start({ 'local-kube-config': await proxy.kubeconfig(accounts.local) });
    const refused = () => proxy.requests().filter(({ faults }) => faults.length > 0).length;
    await eventually(() => refused() >= 2, true);
    // A policy whose group is gone would let no client in.
    expect((await sink.groups()).map(({ metadata }) => metadata.name)).toContain(group!.metadata.name);
    await proxy.clear();
    await eventually(sink.all, others);
  });

  it('takes the place of another one, and cleanup removes it', async ({
    accounts,
    using,
    pods,
    policies,
    startWith,
  }) => {
    const [sink, other] = [using(name), using(name === 'calico' ? 'cilium' : 'calico')];
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const before = await other.start();
    await other.open(LINE);
    await before.stop();
    const policy = await sink.start();
    await sink.open(LINE);
    await eventually(other.all, []);
    await policy.stop();
    // It finds what each sink wrote that it may list.
    const flags = { 'network-policies': 'true', 'local-kube-config': accounts.local.kubeconfig };
    const cleanup = await startWith(['cleanup', '-cluster=c2', '-yes', ...argvOf(flags)], { ready: false });
    expect(await cleanup.exited).toEqual({ code: 0, signal: null });
    expect(await sink.all()).toEqual([]);
  });
});
