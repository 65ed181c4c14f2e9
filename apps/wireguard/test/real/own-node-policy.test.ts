// Real: an API server evaluates the admission policy.
import type { TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { deployedRights, expressionWarnings, foreignWrites } from '@kube-semaphore/testkit';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folders } from '../support/accounts.ts';
import { OwnNodeCluster, refusal } from '../support/own-node-cluster.ts';

const denied =
  "ValidatingAdmissionPolicy 'semaphore-wireguard-own-node' with binding 'semaphore-wireguard-own-node' denied request";
const node = (name: string): string => `/api/v1/nodes/${name}`;
const annotations = (values: Readonly<Record<string, string | null>>) => ({ metadata: { annotations: values } });
const [first, second] = [
  {
    pubKey: publicKeyOf(generatePrivateKey()),
    endpoint: '192.0.2.1:51820',
    planes: '51820,51920',
    silent: 'm1 of 3',
  },
  {
    pubKey: publicKeyOf(generatePrivateKey()),
    endpoint: '[2001:db8::1]:51821',
    planes: '51821,1',
    silent: 'a.b-c,m2 of 1000',
  },
];
const announced = (remote: string, value: typeof first | null = first) => ({
  [`${remote}.wireguard.semaphore.uw.io/pubKey`]: value && value.pubKey,
  [`${remote}.wireguard.semaphore.uw.io/endpoint`]: value && value.endpoint,
  [`${remote}.wireguard.semaphore.uw.io/planes`]: value && value.planes,
  [`${remote}.wireguard.semaphore.uw.io/silent`]: value && value.silent,
});

let world: OwnNodeCluster;
beforeAll(async () => {
  world = await OwnNodeCluster.start();
});
afterAll(() => world.stop());

describe("the policy for an agent's own Node", () => {
  let agent: TestClient;
  beforeAll(async () => {
    agent = await world.agent({ to: 'Pod', node: 'n1' });
    await world.accountWithAllRights('elsewhere');
  });

  it('has no expression that the API server warns about', async () => {
    expect(await expressionWarnings(world.cluster.admin, 'semaphore-wireguard-own-node')).toBe('none');
  });

  it('lets an agent add, change and remove its annotations', async () => {
    const { metadata: before } = await world.node('n1');
    expect(await agent.request('PATCH', node('n1'), annotations(announced('c3')))).toMatchObject({ status: 200 });
    expect((await world.node('n1')).metadata.annotations).toEqual({ ...before.annotations, ...announced('c3') });
    expect(
      await agent.request('PATCH', node('n1'), annotations({ ...announced('c3', null), ...announced('c2', second) })),
    ).toMatchObject({ status: 200 });
    expect((await world.node('n1')).metadata.annotations).toEqual({
      ...before.annotations,
      ...announced('c2', second),
    });
  });

  it('lets it announce itself to a remote with capitals and dots in its name', async () => {
    expect(await agent.request('PATCH', node('n1'), annotations(announced('C4.Eu')))).toMatchObject({ status: 200 });
    expect((await world.node('n1')).metadata.annotations).toMatchObject(announced('C4.Eu'));
    expect(await agent.request('PATCH', node('n1'), annotations(announced('C4.Eu', null)))).toMatchObject({
      status: 200,
    });
  });

  it('lets it write the first annotations of a Node, and remove the last', async () => {
    const { admin } = world.cluster;
    await admin.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } });
    const own = await world.agent({ to: 'Pod', node: 'bare' });
    expect(await own.request('PATCH', node('bare'), annotations(announced('c2')))).toMatchObject({ status: 200 });
    expect(await own.request('PATCH', node('bare'), annotations(announced('c2', null)))).toMatchObject({ status: 200 });
    expect((await world.node('bare')).metadata.annotations ?? {}).toEqual({});
  });

  it('can evaluate a Node with the maximum of annotations', async () => {
    const { admin } = world.cluster;
    const others = Object.fromEntries(
      Array.from({ length: 3900 }, (_, i) => [`example.org/note-${i}`, 'x'.repeat(45)]),
    );
    await admin.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'full', annotations: others },
    });
    const own = await world.agent({ to: 'Pod', node: 'full' });
    expect(await own.request('PATCH', node('full'), annotations(announced('c2')))).toMatchObject({ status: 200 });
    expect(refusal(await own.request('PATCH', node('full'), { metadata: { annotations: null } }))).toMatch(
      /^403 .* may change only these annotations of its Node: /,
    );
  });

  it('accepts the patch of the Go program', async () => {
    const contentType = 'application/strategic-merge-patch+json';
    expect(await agent.request('PATCH', node('n1'), annotations(announced('c4')), { contentType })).toMatchObject({
      status: 200,
    });
  });

  it('accepts a token that is bound to the Node itself', async () => {
    const own = await world.agent({ to: 'Node', node: 'n2' });
    expect(await own.request('PATCH', node('n2'), annotations(announced('c3')))).toMatchObject({ status: 200 });
    expect(refusal(await own.request('PATCH', node('n1'), annotations(announced('c3'))))).toContain(
      'its own Node only, which is n2',
    );
  });

  it('refuses valid annotations on another Node', async () => {
    const before = await world.node('n2');
    const answer = await agent.request('PATCH', node('n2'), annotations(announced('c2')));
    expect(refusal(answer)).toBe(
      `403 nodes "n2" is forbidden: ${denied}: semaphore-wireguard may change its own Node only, which is n1 by its token, and not n2`,
    );
    expect(await world.node('n2')).toEqual(before);
  });

  it('refuses every right of the role on other Nodes', async () => {
    const foreign = { nodes: { root: '/api/v1', plural: 'nodes', object: await world.node('n2') } };
    const { done, refused } = await foreignWrites({
      admin: world.cluster.admin,
      account: agent,
      grants: deployedRights(...folders.agent).grants,
      foreign,
    });
    expect({ done, refused }).toEqual({
      done: [],
      refused: { 'patch nodes': expect.stringContaining('its own Node only, which is n1') },
    });
  });

  it.each([
    { name: 'an invalid key', values: { ...first, pubKey: 'key' }, about: 'pubKey' },
    { name: 'a key with a suffix', values: { ...first, pubKey: `${first.pubKey} x` }, about: 'pubKey' },
    { name: 'a key of 33 bytes', values: { ...first, pubKey: `${first.pubKey.slice(0, 43)}B` }, about: 'pubKey' },
    { name: 'a host name', values: { ...first, endpoint: 'example.org:51820' }, about: 'endpoint' },
    { name: 'an address without a port', values: { ...first, endpoint: '192.0.2.1' }, about: 'endpoint' },
    { name: 'one port', values: { ...first, planes: '51820' }, about: 'planes' },
    { name: 'silent Nodes without a number', values: { ...first, silent: 'm1,m2' }, about: 'silent' },
    { name: 'silent Nodes that no Node can be', values: { ...first, silent: 'm1,M2 of 3' }, about: 'silent' },
    {
      name: 'a long list of silent Nodes',
      values: { ...first, silent: `${'m'.repeat(66_000)} of 3` },
      about: 'silent',
    },
    { name: 'a long text', values: { ...first, endpoint: `192.0.2.1:51820${' '.repeat(100_000)}` }, about: 'endpoint' },
  ])('refuses $name in the right annotation', async ({ values, about }) => {
    const before = await world.node('n1');
    expect(refusal(await agent.request('PATCH', node('n1'), annotations(announced('c2', values))))).toMatch(
      new RegExp(
        '^403 .* only a WireGuard public key, two ports, names of silent Nodes, and an IP address with a port; ' +
          `this changes c2.wireguard.semaphore.uw.io/${about}$`,
      ),
    );
    expect(await world.node('n1')).toEqual(before);
  });

  it('refuses a token that names no Node', async () => {
    const unbound = await world.agent({ to: 'nothing' });
    const answer = await unbound.request('PATCH', node('n1'), annotations(announced('c2')));
    expect(refusal(answer)).toContain(
      `403 nodes "n1" is forbidden: ${denied}: semaphore-wireguard may change its own Node only, and its token doesn't say which`,
    );
  });

  it.each([
    { name: 'a new label', patch: { metadata: { labels: { new: 'one' } } }, about: 'metadata.labels' },
    { name: 'a changed label', patch: { metadata: { labels: { rack: 'r2' } } }, about: 'metadata.labels' },
    { name: 'the removal of all labels', patch: { metadata: { labels: null } }, about: 'metadata.labels' },
    { name: 'a taint', patch: { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } }, about: 'spec' },
    { name: 'a cordon', patch: { spec: { unschedulable: true } }, about: 'spec' },
    {
      name: 'a finalizer',
      patch: { metadata: { finalizers: ['example.org/keep', 'example.org/more'] } },
      about: 'metadata.finalizers',
    },
    {
      name: "the removal of somebody's finalizer",
      patch: { metadata: { finalizers: null } },
      about: 'metadata.finalizers',
    },
    {
      name: 'an owner',
      patch: { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'u' }] } },
      about: 'metadata.ownerReferences',
    },
    {
      name: 'the removal of an owner',
      patch: { metadata: { ownerReferences: null } },
      about: 'metadata.ownerReferences',
    },
    {
      name: 'an unknown field',
      patch: { metadata: { generateName: 'n' } },
      about: 'metadata.generateName',
    },
    {
      name: 'another annotation',
      patch: annotations({ 'example.org/new': 'x' }),
      about: 'the annotation example.org/new',
    },
    {
      name: "a change of somebody's annotation",
      patch: annotations({ 'example.org/note': 'x' }),
      about: 'the annotation example.org/note',
    },
    {
      name: "the removal of somebody's annotation",
      patch: annotations({ 'example.org/note': null }),
      about: 'the annotation example.org/note',
    },
    {
      name: 'the removal of all annotations',
      patch: { metadata: { annotations: null } },
      about: 'the annotation example.org/note',
    },
    {
      name: 'an annotation for no remote',
      patch: annotations({ 'wireguard.semaphore.uw.io/pubKey': 'x' }),
      about: 'the annotation wireguard.semaphore.uw.io/pubKey',
    },
    {
      name: 'an annotation with another name',
      patch: annotations({ 'c2.wireguard.semaphore.uw.io/other': 'x' }),
      about: 'the annotation c2.wireguard.semaphore.uw.io/other',
    },
    {
      name: 'an annotation with a longer name',
      patch: annotations({ 'c2.wireguard.semaphore.uw.io/pubKeys': 'x' }),
      about: 'the annotation c2.wireguard.semaphore.uw.io/pubKeys',
    },
    {
      name: 'an annotation with a similar name',
      patch: annotations({ 'c2.wireguardxsemaphore.uw.io/pubKey': 'x' }),
      about: 'the annotation c2.wireguardxsemaphore.uw.io/pubKey',
    },
    {
      name: 'a label beside the right annotations',
      patch: { metadata: { labels: { new: 'one' }, annotations: announced('c2') } },
      about: 'metadata.labels',
    },
    {
      name: 'all at once, each of them named',
      patch: {
        spec: { unschedulable: true },
        metadata: { labels: { new: 'one' }, annotations: { ...announced('c2'), 'example.org/note': null } },
      },
      about: 'spec, metadata.labels, the annotation example.org/note',
    },
  ])('refuses $name', async ({ patch, about }) => {
    const before = await world.node('n1');
    expect(refusal(await agent.request('PATCH', node('n1'), patch))).toBe(
      `403 nodes "n1" is forbidden: ${denied}: semaphore-wireguard may change only these annotations of its Node: ` +
        `<remote>.wireguard.semaphore.uw.io/pubKey, /endpoint, /planes and /silent; this changes ${about}`,
    );
    expect(await world.node('n1')).toEqual(before);
  });

  it.each([
    {
      name: 'to create a Node',
      method: 'POST',
      path: '/api/v1/nodes',
      body: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1-twin' } },
      about: 'CREATE of nodes',
    },
    { name: 'to delete its Node', method: 'DELETE', path: node('n1'), body: undefined, about: 'DELETE of nodes' },
    {
      name: 'to change its status',
      method: 'PATCH',
      path: `${node('n1')}/status`,
      body: { status: { nodeInfo: null } },
      about: 'UPDATE of nodes/status',
    },
    {
      name: 'its annotations through the status',
      method: 'PATCH',
      path: `${node('n1')}/status`,
      body: annotations(announced('c2')),
      about: 'UPDATE of nodes/status',
    },
    {
      name: 'the proxy to its kubelet',
      method: 'GET',
      path: `${node('n1')}/proxy/pods`,
      body: undefined,
      about: 'CONNECT of nodes/proxy',
    },
  ] as const)(
    'refuses $name, whatever the roles and the namespace of the agent',
    async ({ method, path, body, about }) => {
      const mighty = await world.agent({ to: 'Pod', node: 'n1' }, 'elsewhere');
      const before = await world.node('n1');
      const answer = refusal(await mighty.request(method, path, body));
      expect(answer).toMatch(/^403 /);
      expect(answer.endsWith(`${denied}: semaphore-wireguard may only update its Node; this is ${about}`)).toBe(true);
      expect(await world.node('n1')).toEqual(before);
      // With the role of the manifests, authorization would refuse first.
      expect(refusal(await agent.request(method, path, body))).toMatch(
        /^403 .*cannot (create|delete|patch|get) resource "nodes/,
      );
    },
  );

  it('applies to no other account', async () => {
    const { token } = await world.cluster.account('not-semaphore-wireguard', [
      { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] },
    ]);
    const other = world.cluster.clientFor(token);
    const relabel = (query = '') =>
      other.request('PATCH', `${node('n2')}${query}`, { metadata: { labels: { by: 'another' } } });
    // Its role is in force a moment later.
    await eventually(async () => (await relabel('?dryRun=All')).status, 200);
    expect(await relabel()).toMatchObject({ status: 200 });
  });
});

/** Commands that write a kustomization of a base and a component to a folder, and set `$overlay` to it. */
const overlay = (base: string, component: string): string => `
  overlay="$HOME/${component}"
  mkdir -p "$overlay"
  at() { realpath --relative-to="$overlay" "deploy/wireguard/$1"; }
  echo "{ resources: [$(at ${base})], components: [$(at components/${component})] }" > "$overlay/kustomization.yaml"
`;

describe('the account of other clusters', () => {
  const statusOf = async (client: TestClient, path: string): Promise<number> =>
    (await client.request('GET', path)).status;
  const calicos = (plural: string): string => `/apis/crd.projectcalico.org/v1/${plural}`;

  it('reads Nodes and nothing else, and writes nothing', async () => {
    const remote = await world.remoteAgent();
    await eventually(() => statusOf(remote, '/api/v1/nodes'), 200);
    expect(await statusOf(remote, node('n1'))).toBe(403);
    for (const path of ['/api/v1/secrets', '/api/v1/pods', calicos('ipamblocks')])
      expect(await statusOf(remote, path)).toBe(403);
    expect(refusal(await remote.request('PATCH', node('n1'), annotations(announced('c2'))))).toMatch(
      /^403 .*cannot patch resource "nodes"/,
    );
  });

  it("reads Calico's blocks, too, with their component", async () => {
    await world.bash(`${overlay('remote', 'calico-blocks')} kubectl apply -k "$overlay"`);
    const remote = await world.remoteAgent();
    // The resource doesn't exist here. Without the right, the answer would be 403.
    for (const plural of ['blockaffinities', 'ipamblocks'])
      await eventually(() => statusOf(remote, calicos(plural)), 404);
    for (const path of ['/api/v1/secrets', calicos('ippools')]) expect(await statusOf(remote, path)).toBe(403);
  });
});

describe('the manifests', () => {
  it('have no kinds that API servers before 1.30 lack, with the component for those', async () => {
    const kinds = await world.bash(
      `${overlay('base', 'before-1.30')} kubectl kustomize "$overlay" | grep ^kind: | sort`,
    );
    expect(kinds).toContain('kind: ServiceAccount\n');
    expect(kinds).not.toContain('ValidatingAdmissionPolicy');
  });
});
