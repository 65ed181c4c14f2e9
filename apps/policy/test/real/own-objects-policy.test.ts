// Real: an API server evaluates the admission policy.
import type { Answer, KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import {
  calicoCrds,
  type CalicoGroup,
  ciliumCrds,
  deployAccount,
  deployedRights,
  deployPolicies,
  expressionWarnings,
  type Foreign,
  foreignWrites,
  globalNetworkSetCrd,
  goesWithoutEngines,
  type RealCluster,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folders } from '../support/accounts.ts';
import { labelsOf, setsPath } from '../support/sets.ts';

const LEASES = '/apis/coordination.k8s.io/v1';
const GROUPS: readonly CalicoGroup[] = ['crd.projectcalico.org', 'projectcalico.org'];

let cluster: RealCluster;
/** With a token of the account, and its role. */
let account: TestClient;
beforeAll(async () => {
  cluster = await startRealCluster({ name: 'c1', controllerManager: ['validatingadmissionpolicy-status-controller'] });
  for (const group of GROUPS) await cluster.defineResource(globalNetworkSetCrd(group));
  account = cluster.clientFor((await deployAccount(cluster, folders.local)).token);
  await deployPolicies(cluster, folders.local);
});
afterAll(() => cluster.stop());

const ours = labelsOf('app');
const set = (
  name: string,
  {
    labels = ours,
    annotations = {},
    nets = ['10.4.0.1/32', 'fd00::1/128'],
    group = GROUPS[0]!,
  }: {
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
    nets?: readonly string[];
    group?: CalicoGroup;
  } = {},
): KubeObject => ({
  apiVersion: setsPath(group).split('/').slice(2, 4).join('/'),
  kind: 'GlobalNetworkSet',
  metadata: { name, labels, annotations },
  spec: { nets },
});
const lease = (name: string): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { holderIdentity: 'its holder' },
});
const foreignSet = (group: CalicoGroup): Foreign => ({
  root: setsPath(group).replace('/globalnetworksets', ''),
  plural: 'globalnetworksets',
  object: set('of-somebody', { group, labels: { team: 'a' } }),
});

/** A user's NetworkPolicy, which companions belong to. The garbage collector would delete those of an unknown one. */
const user = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'db', labels: { team: 'a' } },
  spec: { podSelector: {}, policyTypes: ['Ingress'] },
};
const address = (cidr: string) => ({ ipBlock: { cidr } });

type CompanionParts = {
  readonly labels?: Readonly<Record<string, string>>;
  readonly owners?: readonly object[];
  readonly direction?: 'ingress' | 'egress';
  readonly types?: readonly string[];
  readonly peers?: readonly object[];
  readonly rules?: readonly object[];
};

/** A NetworkPolicy as the account writes it, except for what is given. */
function companion(
  name: string,
  {
    labels = { 'policy.semaphore.uw.io/managed-by': 'semaphore-policy' },
    owners = [],
    direction = 'ingress',
    types = [direction === 'ingress' ? 'Ingress' : 'Egress'],
    peers = [address('10.2.0.20/32'), address('fd02::20/128')],
    rules = [{ [direction === 'ingress' ? 'from' : 'to']: peers }],
  }: CompanionParts,
) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels, ownerReferences: owners },
    spec: { podSelector: {}, policyTypes: types, [direction]: rules },
  };
}

const refusal = ({ status, body }: Answer): string => `${status} ${String(body['message'])}`;

describe('the account of deploy/policy', () => {
  it('changes no object of others, of any kind in its role', async () => {
    const foreign = {
      'globalnetworksets.crd.projectcalico.org': foreignSet('crd.projectcalico.org'),
      'globalnetworksets.projectcalico.org': foreignSet('projectcalico.org'),
      'leases.coordination.k8s.io': { root: LEASES, plural: 'leases', object: lease('kube-scheduler') },
    };
    const { done, refused } = await foreignWrites({
      admin: cluster.admin,
      account,
      grants: deployedRights(folders.local).grants,
      foreign,
    });
    expect(done).toEqual([]);
    expect(Object.values(refused).filter((why) => !why.startsWith('403 '))).toEqual([]);
  });

  it.each(['kube-scheduler', 'kube-controller-manager', 'semaphore-policy-of-another'])(
    'can neither take nor create the Lease %s in kube-system',
    async (name) => {
      const [all, one] = [`${LEASES}/namespaces/kube-system/leases`, `${LEASES}/namespaces/kube-system/leases/${name}`];
      expect(refusal(await account.request('POST', all, lease(name)))).toMatch(
        /^403 .*cannot create resource "leases"/,
      );
      if ((await cluster.admin.request('GET', one)).status === 404) await cluster.admin.create(all, lease(name));
      const before = await cluster.admin.get(one);
      expect(refusal(await account.request('PUT', one, { ...before, spec: { holderIdentity: 'attacker' } }))).toMatch(
        /^403 .*cannot update resource "leases"/,
      );
      expect(await cluster.admin.get(one)).toEqual(before);
    },
  );

  it('can hold the Lease in its previous namespace, but not create it there', async () => {
    const [all, one] = [
      `${LEASES}/namespaces/kube-system/leases`,
      `${LEASES}/namespaces/kube-system/leases/semaphore-policy`,
    ];
    expect((await account.request('POST', all, lease('semaphore-policy'))).status).toBe(403);
    const there = await cluster.admin.create(all, lease('semaphore-policy'));
    expect((await account.request('PUT', one, { ...there, spec: { holderIdentity: 'we' } })).status).toBe(200);
    expect((await account.request('DELETE', one)).status).toBe(403);
  });
});

describe('the policy for its own objects', () => {
  it('has no expression with a warning of the API server', async () => {
    expect(await expressionWarnings(cluster.admin, 'semaphore-policy-own-objects')).toBe('none');
  });

  describe.each(GROUPS)('of %s', (group) => {
    const path = setsPath(group);

    it.each([
      { name: 'ours', object: { labels: ours } },
      {
        name: 'ours, of a later Go release',
        object: { labels: labelsOf('app', { domain: 'policy.semaphore.uw.io', managedBy: 'semaphore-policy' }) },
      },
      {
        name: 'ours, with the label of its ClusterSet',
        object: { labels: { ...ours, 'cluster.clusterset.k8s.io': 'c2' } },
      },
    ])('allows it to create, change and delete a set that is $name', async ({ object }) => {
      expect(refusal(await account.request('POST', path, set('c2-default-app', { ...object, group })))).toMatch(
        /^201 /,
      );
      const there = await cluster.admin.get(`${path}/c2-default-app`);
      expect(
        refusal(await account.request('PUT', `${path}/c2-default-app`, { ...there, spec: { nets: ['10.4.0.2/32'] } })),
      ).toMatch(/^200 /);
      expect(refusal(await account.request('DELETE', `${path}/c2-default-app`))).toMatch(/^200 /);
    });

    it.each([
      { name: 'nets of IPv4', nets: ['10.4.0.1/32', '0.0.0.0/0'] },
      { name: 'nets of IPv6', nets: ['fd00::/32'] },
      { name: 'nets without a length', nets: ['10.4.0.1'] },
      { name: 'two nets in one', nets: ['10.4.0.0/16,fd00::1/128'] },
    ])('refuses $name', async ({ nets }) => {
      expect(refusal(await account.request('POST', path, set('wide', { nets, group })))).toMatch(
        /^403 .* may write only nets of one address, /,
      );
    });

    it('refuses other labels, which a policy could select', async () => {
      const labels = { ...ours, role: 'trusted', 'projectcalico.org/namespace': 'kube-system' };
      expect(refusal(await account.request('POST', path, set('labelled', { labels, group })))).toMatch(
        /^403 .* only its own labels on sets and groups; this sets (role, \S+\/namespace|\S+\/namespace, role)$/,
      );
    });

    it('lets labels and finalizers of others stay, also where Calico stored them, and refuses another value', async () => {
      const labels = { ...ours, team: 'a' };
      const stored = { labels: { ...ours, team: 'a' } };
      for (const [name, metadata] of [
        ['labelled-by-others', { labels }],
        ['stored-by-others', { annotations: { 'projectcalico.org/metadata': JSON.stringify(stored) } }],
      ] as const) {
        const created = set(name, { group });
        const there = await cluster.admin.create(path, {
          ...created,
          metadata: { name, ...metadata, finalizers: ['example.com/keep'] },
        });
        const put = async (team: string) =>
          refusal(
            await account.request('PUT', `${path}/${name}`, {
              ...there,
              metadata: { ...there.metadata, labels: { ...labels, team }, annotations: {} },
            }),
          );
        expect(await put('b')).toMatch(/^403 .* only its own labels on sets and groups; this sets team$/);
        expect(await put('a')).toMatch(/^200 /);
      }
    });

    it("refuses labels in Calico's annotation", async () => {
      const annotations = { 'projectcalico.org/metadata': '{"labels":{"role":"trusted"}}' };
      expect(refusal(await account.request('POST', path, set('annotated', { annotations, group })))).toMatch(
        /^403 .* may not set the annotation projectcalico.org\/metadata/,
      );
    });

    it('refuses to take over a set of others, and to pass one on', async () => {
      for (const [name, from, to] of [
        ['theirs', { team: 'a' }, ours],
        ['given', ours, { team: 'a' }],
      ] as const) {
        const there = await cluster.admin.create(path, set(name, { labels: from, group }));
        const answer = await account.request('PUT', `${path}/${name}`, {
          ...there,
          metadata: { ...there.metadata, labels: to },
        });
        expect(refusal(answer)).toMatch(/^403 .* may write only its own objects, /);
      }
    });

    it('allows it to change a set with our labels in the annotation only, as it removes that', async () => {
      const annotations = { 'projectcalico.org/metadata': JSON.stringify({ labels: ours }) };
      const there = await cluster.admin.create(path, set('stored', { labels: {}, annotations, group }));
      expect(
        refusal(
          await account.request('PUT', `${path}/stored`, {
            ...there,
            metadata: { ...there.metadata, labels: ours, annotations: {} },
          }),
        ),
      ).toMatch(/^200 /);
    });
  });

  it('can check a set with the most addresses', async () => {
    const nets = Array.from({ length: 50_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`);
    expect(refusal(await account.request('POST', setsPath(), set('full', { nets })))).toMatch(/^201 /);
    const v6 = Array.from({ length: 30_000 }, (_, i) => `fd00:1111:2222:3333:4444:5555:6666:${i.toString(16)}/128`);
    expect(refusal(await account.request('POST', setsPath(), set('full-v6', { nets: v6 })))).toMatch(/^201 /);
  });

  describe('with every right', () => {
    beforeAll(async () => {
      const [apiGroup, name] = ['rbac.authorization.k8s.io', 'mighty'];
      const subjects = [{ kind: 'ServiceAccount', name: 'semaphore-policy', namespace: 'kube-system' }];
      await cluster.admin.create(`/apis/${apiGroup}/v1/clusterrolebindings`, {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects,
      });
      await eventually(async () => (await account.request('GET', '/api/v1/secrets')).status, 200);
    });

    it('deletes no set of others, one by one or all at once', async () => {
      await cluster.admin.create(setsPath(), set('kept', { labels: { team: 'a' } }));
      for (const path of [`${setsPath()}/kept`, `${setsPath()}?labelSelector=team%3Da`]) {
        expect(refusal(await account.request('DELETE', path))).toMatch(/^403 .* may write only its own objects, /);
      }
      expect((await cluster.admin.request('GET', `${setsPath()}/kept`)).status).toBe(200);
    });

    describe('to NetworkPolicies', () => {
      const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
      let owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: unknown };
      const ours = (name: string, parts: CompanionParts = {}) => companion(name, { owners: [owner], ...parts });
      beforeAll(async () => {
        const { metadata } = await cluster.admin.create(path, user);
        owner = { apiVersion: user.apiVersion, kind: user.kind, name: metadata.name, uid: metadata['uid'] };
      });

      it('creates, changes and deletes its own', async () => {
        expect(refusal(await account.request('POST', path, ours('own')))).toMatch(/^201 /);
        const there = await cluster.admin.get(`${path}/own`);
        const { spec } = ours('own', { direction: 'egress' });
        expect(refusal(await account.request('PUT', `${path}/own`, { ...there, spec }))).toMatch(/^200 /);
        expect(refusal(await account.request('DELETE', `${path}/own`))).toMatch(/^200 /);
      });

      it.each([500, 30_000])('can check one with %i addresses', async (count) => {
        const peers = Array.from({ length: count }, (_, i) =>
          address(`fd00:1111:2222:3333:4444:5555:6666:${i.toString(16)}/128`),
        );
        expect(refusal(await account.request('POST', path, ours(`with-${count}`, { peers })))).toMatch(/^201 /);
      });

      it.each<{ name: string; parts: () => CompanionParts; why: string }>([
        { name: 'without its label', parts: () => ({ labels: { team: 'a' } }), why: 'its own objects' },
        { name: 'without an owner', parts: () => ({ owners: [] }), why: 'with one owner' },
        {
          name: 'with two owners',
          parts: () => ({ owners: [owner, { ...owner, uid: 'another' }] }),
          why: 'with one owner',
        },
        {
          name: 'with an owner of another kind',
          parts: () => ({ owners: [{ ...owner, apiVersion: 'v1', kind: 'Pod' }] }),
          why: 'with one owner',
        },
        {
          name: 'that allows everybody by an empty list',
          parts: () => ({ peers: [] }),
          why: 'whose rules all have peers',
        },
        { name: 'with a selector', parts: () => ({ peers: [{ podSelector: {} }] }), why: 'which are single addresses' },
        {
          name: 'with a range of IPv4',
          parts: () => ({ peers: [address('10.2.0.0/16')] }),
          why: 'which are single addresses',
        },
        {
          name: 'with a range of IPv6',
          parts: () => ({ peers: [address('fd02::/32')] }),
          why: 'which are single addresses',
        },
        { name: 'that only isolates', parts: () => ({ rules: [] }), why: 'of one direction' },
        {
          name: 'that isolates another direction than it has rules for',
          parts: () => ({ types: ['Egress'] }),
          why: 'of one direction',
        },
        {
          name: 'that isolates the other direction, too',
          parts: () => ({ types: ['Ingress', 'Egress'] }),
          why: 'of one direction',
        },
      ])('refuses one $name, new or changed', async ({ name, parts, why }) => {
        const refused = new RegExp(`^403 .* semaphore-policy may write only .*${why}`);
        expect(refusal(await account.request('POST', path, ours('refused', parts())))).toMatch(refused);
        const own = `own-${name.replaceAll(/[^a-z\d]+/gi, '-').toLowerCase()}`;
        await cluster.admin.create(path, ours(own));
        expect(refusal(await account.request('PUT', `${path}/${own}`, ours(own, parts())))).toMatch(refused);
      });

      it('neither changes nor deletes one of a user, also by adding its label', async () => {
        const before = await cluster.admin.get(`${path}/db`);
        const { metadata, spec } = ours('db');
        const requests = [
          account.request('PUT', `${path}/db`, { ...before, spec }),
          account.request('PUT', `${path}/db`, {
            ...before,
            metadata: { ...before.metadata, labels: metadata.labels },
          }),
          account.request('PUT', `${path}/db`, ours('db')),
          account.request('DELETE', `${path}/db`),
          account.request('DELETE', `${path}?labelSelector=team%3Da`),
        ];
        for (const answer of await Promise.all(requests))
          expect(refusal(answer)).toMatch(/^403 .* may write only its own objects, /);
        expect(await cluster.admin.get(`${path}/db`)).toEqual(before);
      });

      it('is held in the namespace of node heartbeats, but lets these pass', async () => {
        const [policies, heartbeats] = [path, `${LEASES}/namespaces/default/leases`].map((each) =>
          each.replace('/default/', '/kube-node-lease/'),
        ) as [string, string];
        expect(refusal(await account.request('POST', policies, user))).toMatch(
          /^403 .* may write only its own objects, /,
        );
        expect(refusal(await account.request('POST', heartbeats, lease('n1')))).toMatch(/^201 /);
      });
    });

    describe.skipIf(goesWithoutEngines)('to policies of Calico and Cilium', () => {
      const paths = {
        CiliumNetworkPolicy: '/apis/cilium.io/v2/namespaces/default/ciliumnetworkpolicies',
        CiliumCIDRGroup: '/apis/cilium.io/v2/ciliumcidrgroups',
        NetworkPolicy: '/apis/crd.projectcalico.org/v1/namespaces/default/networkpolicies',
      };
      type Kind = keyof typeof paths;
      const object = (kind: Kind, spec: object, extra: object = {}): object => ({
        apiVersion: kind === 'NetworkPolicy' ? 'crd.projectcalico.org/v1' : 'cilium.io/v2',
        kind,
        metadata: { name: nameOf(kind), labels: OURS, ownerReferences },
        spec,
        ...extra,
      });
      const nameOf = (kind: Kind): string => (kind === 'NetworkPolicy' ? 'default.own' : 'own');
      const OURS = { 'policy.semaphore.uw.io/managed-by': 'semaphore-policy' };
      let ownerReferences: readonly object[] = [];
      const hash = 'a'.repeat(20);
      const group = { fromCIDRSet: [{ cidrGroupRef: `own-${hash}` }] };
      const cilium = (rule: object, spec: object = {}) => ({
        endpointSelector: {},
        enableDefaultDeny: { ingress: false, egress: false },
        ingress: [rule],
        ...spec,
      });
      const peer = { namespaceSelector: 'global()', selector: `policy.semaphore.uw.io/peer == '${hash}'` };
      const calico = (rule: object, spec: object = {}) => ({
        tier: 'default',
        order: 1000,
        selector: 'all()',
        types: ['Ingress'],
        ingress: [{ action: 'Allow', ...rule }],
        ...spec,
      });
      beforeAll(async () => {
        for (const crd of [...ciliumCrds(), ...calicoCrds('networkpolicies')]) await cluster.defineResource(crd);
        const { apiVersion, kind, metadata } = await cluster.admin.create(
          '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
          { ...user, metadata: { name: 'owner-of-policies' } },
        );
        ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata['uid'] }];
      });

      const own: Readonly<Record<string, { readonly kind: Kind; readonly spec: object }>> = {
        'a policy of Cilium': { kind: 'CiliumNetworkPolicy', spec: cilium(group) },
        'a policy of Cilium with ports': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium({ ...group, toPorts: [{ ports: [{ port: '5432', protocol: 'TCP' }] }] }),
        },
        'a group of Cilium': { kind: 'CiliumCIDRGroup', spec: { externalCIDRs: ['10.2.0.20/32', 'fd02::20/128'] } },
        'a policy of Calico': { kind: 'NetworkPolicy', spec: calico({ source: peer }) },
        'a policy of Calico with ports': {
          kind: 'NetworkPolicy',
          spec: calico({ source: peer, protocol: 'TCP', destination: { ports: [5432] } }),
        },
        'a policy of Calico for egress': {
          kind: 'NetworkPolicy',
          spec: calico(
            {},
            { types: ['Egress'], ingress: [], egress: [{ action: 'Allow', destination: { ...peer, ports: [5432] } }] },
          ),
        },
      };
      it.each(Object.entries(own))('creates and deletes %s', async (_, { kind, spec }) => {
        expect(refusal(await account.request('POST', paths[kind], object(kind, spec)))).toMatch(/^201 /);
        expect(refusal(await account.request('DELETE', `${paths[kind]}/${nameOf(kind)}`))).toMatch(/^200 /);
      });

      const [REFERS, CALICO, CILIUM, DIRECTION] = [
        'all refer',
        'of Calico that allow',
        'isolate no Pod',
        'one direction',
      ];
      const foreign: Readonly<Record<string, { kind: Kind; spec: object; extra?: object; why: string }>> = {
        'a CiliumNetworkPolicy of somebody else': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium(group),
          extra: { metadata: { name: 'own' } },
          why: 'its own objects',
        },
        'a CiliumNetworkPolicy without an owner': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium(group),
          extra: { metadata: { name: 'own', labels: OURS } },
          why: 'with one owner',
        },
        'a rule of Cilium for everybody': { kind: 'CiliumNetworkPolicy', spec: cilium({}), why: REFERS },
        'a rule of Cilium with an address': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium({ fromCIDRSet: [{ cidr: '0.0.0.0/0' }] }),
          why: REFERS,
        },
        'a rule of Cilium with a group of somebody else': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium({ fromCIDRSet: [{ cidrGroupRef: 'internet' }] }),
          why: REFERS,
        },
        'a rule of Cilium that has more': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium({ ...group, fromEntities: ['world'] }),
          why: REFERS,
        },
        'a rule of Cilium that leads to a proxy': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium({ ...group, toPorts: [{ ports: [{ port: '80', protocol: 'TCP' }], rules: { http: [{}] } }] }),
          why: REFERS,
        },
        'more specs of Cilium': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium(group),
          extra: { specs: [cilium(group)] },
          why: CILIUM,
        },
        'a policy of Cilium that denies': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium(group, { ingressDeny: [{ fromEntities: ['all'] }] }),
          why: CILIUM,
        },
        'a policy of Cilium that isolates': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium(group, { enableDefaultDeny: { ingress: false, egress: true } }),
          why: CILIUM,
        },
        'a policy of Cilium that says nothing of isolation': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium(group, { enableDefaultDeny: undefined }),
          why: CILIUM,
        },
        'a policy of Cilium without rules': {
          kind: 'CiliumNetworkPolicy',
          spec: cilium(group, { ingress: [] }),
          why: DIRECTION,
        },
        'a range in a group': { kind: 'CiliumCIDRGroup', spec: { externalCIDRs: ['10.0.0.0/8'] }, why: 'nets' },
        'a group with a label that a policy may select': {
          kind: 'CiliumCIDRGroup',
          spec: { externalCIDRs: ['10.2.0.20/32'] },
          extra: { metadata: { name: 'own', labels: { ...OURS, office: 'true' } } },
          why: 'its own labels on sets and groups; this sets office',
        },
        'a group with a finalizer': {
          kind: 'CiliumCIDRGroup',
          spec: { externalCIDRs: ['10.2.0.20/32'] },
          extra: { metadata: { name: 'own', labels: OURS, finalizers: ['example.com/stays'] } },
          why: 'not add finalizers',
        },
        'a rule of Calico for everybody': { kind: 'NetworkPolicy', spec: calico({}), why: REFERS },
        'a rule of Calico that refers to a group at its own end': {
          kind: 'NetworkPolicy',
          spec: calico({ destination: peer }),
          why: REFERS,
        },
        'a rule of Calico with another selector': {
          kind: 'NetworkPolicy',
          spec: calico({ source: { ...peer, selector: `${peer.selector} || all()` } }),
          why: REFERS,
        },
        'a rule of Calico that selects Pods by the label of groups': {
          kind: 'NetworkPolicy',
          spec: calico({ source: { ...peer, namespaceSelector: 'all()' } }),
          why: REFERS,
        },
        'a rule of Calico that denies': {
          kind: 'NetworkPolicy',
          spec: calico({ source: peer, action: 'Deny' }),
          why: CALICO,
        },
        'a rule of Calico that skips what comes later': {
          kind: 'NetworkPolicy',
          spec: calico({ source: peer, action: 'Pass' }),
          why: CALICO,
        },
        'a policy of Calico in another tier': {
          kind: 'NetworkPolicy',
          spec: calico({ source: peer }, { tier: 'security' }),
          why: CALICO,
        },
        'a policy of Calico before others': {
          kind: 'NetworkPolicy',
          spec: calico({ source: peer }, { order: 1 }),
          why: CALICO,
        },
        'a policy of Calico without an order': {
          kind: 'NetworkPolicy',
          spec: calico({ source: peer }, { order: undefined }),
          why: CALICO,
        },
        'a policy of Calico without rules': {
          kind: 'NetworkPolicy',
          spec: calico({}, { ingress: [] }),
          why: DIRECTION,
        },
        'a policy of Calico that isolates the other direction, too': {
          kind: 'NetworkPolicy',
          spec: calico({ source: peer }, { types: ['Ingress', 'Egress'] }),
          why: DIRECTION,
        },
      };
      it.each(Object.entries(foreign))('neither creates nor makes %s', async (_, { kind, spec, extra, why }) => {
        const refused = new RegExp(`^403 .* semaphore-policy may .*${why}`);
        expect(refusal(await account.request('POST', paths[kind], object(kind, spec, extra)))).toMatch(refused);
        const known = Object.values(own).find((each) => each.kind === kind)!;
        const there = await cluster.admin.create(paths[kind], object(kind, known.spec) as KubeObject);
        const { resourceVersion } = there.metadata;
        const changed = object(kind, spec, extra) as KubeObject;
        const metadata = { ...changed.metadata, resourceVersion };
        const path = `${paths[kind]}/${nameOf(kind)}`;
        expect(refusal(await account.request('PUT', path, { ...changed, metadata }))).toMatch(refused);
        await cluster.admin.request('DELETE', path);
      });

      it.each(['knp.default.db', 'adminnetworkpolicy.db', 'security.db', 'own'])(
        'creates no policy of Calico with the name %s, from which Felix takes the tier',
        async (name) => {
          const metadata = { name, labels: OURS, ownerReferences };
          const policy = object('NetworkPolicy', calico({ source: peer }), { metadata });
          expect(refusal(await account.request('POST', paths.NetworkPolicy, policy))).toMatch(
            /^403 .* of Calico that allow/,
          );
        },
      );

      it('keeps the finalizers of others', async () => {
        const { kind, spec } = own['a group of Cilium']!;
        const there = await cluster.admin.create(paths[kind], object(kind, spec) as KubeObject);
        const metadata = { ...there.metadata, finalizers: ['example.com/of-somebody'] };
        const path = `${paths[kind]}/own`;
        const marked = await cluster.admin.request('PUT', path, { ...there, metadata });
        const changed = { ...marked.body, spec: { externalCIDRs: ['10.2.0.21/32'] } };
        expect(refusal(await account.request('PUT', path, changed))).toMatch(/^200 /);
        await cluster.admin.request('PATCH', path, { metadata: { finalizers: null } });
        await cluster.admin.request('DELETE', path);
      });
    });

    it('takes no Lease of others', async () => {
      const answer = await account.request('PATCH', `${LEASES}/namespaces/kube-system/leases/kube-scheduler`, {
        spec: { holderIdentity: 'attacker' },
      });
      expect(refusal(answer)).toMatch(/^403 .* may write only its own objects, /);
    });
  });

  it('applies to no other account', async () => {
    expect(
      (await cluster.admin.request('POST', setsPath(), set('any', { labels: { any: 'label' }, nets: ['10.0.0.0/8'] })))
        .status,
    ).toBe(201);
    const { token } = await cluster.account('not-semaphore-policy', [
      { apiGroups: ['crd.projectcalico.org'], resources: ['globalnetworksets'], verbs: ['delete'] },
    ]);
    const other = cluster.clientFor(token);
    await eventually(async () => (await other.request('DELETE', `${setsPath()}/any`)).status, 200);
  });

  it('applies, and to no other account, as soon as a restarted API server answers', async () => {
    await cluster.restart();
    const answers = [
      await cluster.admin.request('POST', `${LEASES}/namespaces/default/leases`, lease('after-a-restart')),
      await account.request('POST', `${LEASES}/namespaces/semaphore-policy/leases`, lease('after-a-restart')),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 403]);
  });
});
