// Real: an API server evaluates the admission policy.
import { fileURLToPath } from 'node:url';
import type { Answer, KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import {
  bash,
  deployAccount,
  deployComponent,
  deployedRights,
  deployPolicies,
  expressionWarnings,
  foreignWrites,
  type RealCluster,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folders } from '../support/accounts.ts';
import { MIRRORS, mirrorLabels } from '../support/mirror-process.ts';

const SERVICES = `/api/v1/namespaces/${MIRRORS}/services`;
const ENDPOINTS = `/api/v1/namespaces/${MIRRORS}/endpoints`;
const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices`;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${MIRRORS}/leases`;

let cluster: RealCluster;
/** With a token of the account, and its role. */
let account: TestClient;
beforeAll(async () => {
  cluster = await startRealCluster({ name: 'c1', controllerManager: ['validatingadmissionpolicy-status-controller'] });
  account = cluster.clientFor((await deployAccount(cluster, folders.local)).token);
  await deployPolicies(cluster, folders.local);
});
afterAll(() => cluster.stop());

type Labels = Readonly<Record<string, string>>;
const refusal = ({ status, body }: Answer): string => `${status} ${String(body['message'])}`;

const service = (name: string, spec: object = {}, labels: Labels = mirrorLabels): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, labels },
  spec: { ports: [{ port: 80 }], ...spec },
});
const slice = (
  name: string,
  { ports = [{ port: 80 }] as object[] | null, labels = mirrorLabels as Labels } = {},
): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, labels },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.4.0.1'] }],
  ports,
});
const endpoints = (name: string, labels: Labels = mirrorLabels): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, labels },
  subsets: [{ addresses: [{ ip: '10.4.0.1' }] }],
});
const lease = (name: string): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { holderIdentity: 'its holder' },
});
const theirs = { team: 'a' };

const FOREIGN = /^403 .* may write only its own objects, /;

describe('the account of deploy/service-mirror', () => {
  it('changes no object of others of any kind that its role is about', async () => {
    const foreign = {
      services: { root: '/api/v1', plural: 'services', object: service('of-somebody', {}, theirs) },
      endpoints: { root: '/api/v1', plural: 'endpoints', object: endpoints('of-somebody', theirs) },
      'endpointslices.discovery.k8s.io': {
        root: '/apis/discovery.k8s.io/v1',
        plural: 'endpointslices',
        object: slice('of-somebody', { labels: theirs }),
      },
      'leases.coordination.k8s.io': {
        root: '/apis/coordination.k8s.io/v1',
        plural: 'leases',
        object: lease('of-somebody'),
      },
    };
    const { done, refused } = await foreignWrites({
      admin: cluster.admin,
      account,
      grants: deployedRights(folders.local, folders.globals).grants,
      foreign,
    });
    expect(done).toEqual([]);
    expect(Object.values(refused).filter((why) => !FOREIGN.test(why))).toEqual([]);
  });
});

describe('the policy for its own objects', () => {
  it('has no expression that the API server warns of', async () => {
    expect(await expressionWarnings(cluster.admin, 'semaphore-service-mirror-own-objects')).toBe('none');
  });

  it.each([
    { name: 'a mirror', path: SERVICES, object: service('m') },
    { name: 'a headless mirror', path: SERVICES, object: service('m', { clusterIP: 'None' }) },
    { name: 'a global Service', path: SERVICES, object: service('m', { type: 'ClusterIP' }, { 'global-svc': 'true' }) },
    { name: 'a slice of a mirror', path: SLICES, object: slice('m') },
    {
      name: 'a slice of a global Service',
      path: SLICES,
      object: slice('m', { labels: { 'mirrored-endpoint-slice': 'true' } }),
    },
    { name: 'a slice without ports', path: SLICES, object: slice('m', { ports: null }) },
    { name: 'a slice of every port', path: SLICES, object: slice('m', { ports: [{ name: 'any', port: null }] }) },
    {
      name: 'a slice of the first and the last port',
      path: SLICES,
      object: slice('m', {
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 65535 },
        ],
      }),
    },
    { name: 'its Lease', path: LEASES, object: lease('semaphore-service-mirror-c1') },
  ])('lets it create and change $name', async ({ path, object }) => {
    expect(refusal(await account.request('POST', path, object))).toMatch(/^201 /);
    const one = `${path}/${object.metadata.name}`;
    const there = await cluster.admin.get(one);
    expect(
      refusal(
        await account.request('PUT', one, {
          ...there,
          metadata: { ...there.metadata, annotations: { changed: 'true' } },
        }),
      ),
    ).toMatch(/^200 /);
    // It deletes no Lease.
    if (path === LEASES) return;
    expect(refusal(await account.request('DELETE', one))).toMatch(/^200 /);
    await eventually(async () => (await cluster.admin.request('GET', one)).status, 404);
  });

  it('lets it delete what a Go program left', async () => {
    await cluster.admin.create(ENDPOINTS, endpoints('left'));
    expect(refusal(await account.request('DELETE', `${ENDPOINTS}/left`))).toMatch(/^200 /);
  });

  it('lets it repair a slice that lost its labels', async () => {
    const object = slice('bare', { labels: {} });
    const there = await cluster.admin.create(SLICES, {
      ...object,
      metadata: { ...object.metadata, annotations: { 'mirror-svc-source': 'c2/ns/web' } },
    });
    expect(
      refusal(
        await account.request('PUT', `${SLICES}/bare`, {
          ...there,
          metadata: { ...there.metadata, labels: mirrorLabels },
        }),
      ),
    ).toMatch(/^200 /);
  });

  it.each([
    { name: 'a node port', spec: { type: 'NodePort' }, has: 'the type NodePort' },
    { name: 'a load balancer', spec: { type: 'LoadBalancer' }, has: 'the type LoadBalancer' },
    { name: 'another name', spec: { type: 'ExternalName', externalName: 'example.org' }, has: 'the type ExternalName' },
    { name: 'external IPs', spec: { externalIPs: ['192.0.2.1'] }, has: 'externalIPs' },
    { name: 'Pods of its own choice', spec: { selector: { app: 'a' } }, has: 'selector' },
    {
      name: 'all of it',
      spec: { type: 'NodePort', externalIPs: ['192.0.2.1'], selector: { app: 'a' } },
      has: 'the type NodePort, selector, externalIPs',
    },
  ])('refuses a Service of $name, also where it is made so', async ({ spec, has }) => {
    const refused = new RegExp(`^403 .* without selector and externalIPs; this has ${has}$`);
    expect(refusal(await account.request('POST', SERVICES, service('open', spec)))).toMatch(refused);
    const { metadata, spec: before, ...there } = await cluster.admin.create(SERVICES, service('made-so'));
    expect(
      refusal(
        await account.request('PUT', `${SERVICES}/made-so`, {
          ...there,
          metadata,
          spec: { ...(before as object), ...spec },
        }),
      ),
    ).toMatch(refused);
    await cluster.admin.delete(`${SERVICES}/made-so`);
  });

  it.each([0, -1, 65536, 70000])('refuses a slice with the port %i', async (port) => {
    expect(
      refusal(
        await account.request(
          'POST',
          SLICES,
          slice('wrong', {
            ports: [
              { name: 'a', port: 80 },
              { name: 'b', port },
            ],
          }),
        ),
      ),
    ).toMatch(/^403 .* only slices whose ports are 1 to 65535$/);
  });

  it.each([
    { name: 'a Service', path: SERVICES, from: service('s', {}, theirs), to: service('s') },
    { name: 'a slice', path: SLICES, from: slice('s', { labels: theirs }), to: slice('s') },
  ])('refuses to take over $name of others, and to give one away', async ({ path, from, to }) => {
    for (const [before, after] of [
      [from, to],
      [to, from],
    ] as const) {
      const there = await cluster.admin.create(path, before);
      expect(
        refusal(
          await account.request('PUT', `${path}/s`, {
            ...there,
            metadata: { ...there.metadata, labels: after.metadata.labels },
          }),
        ),
      ).toMatch(FOREIGN);
      await cluster.admin.delete(`${path}/s`);
    }
  });

  describe('with every right', () => {
    beforeAll(async () => {
      const [apiGroup, name] = ['rbac.authorization.k8s.io', 'mighty'];
      const subjects = [{ kind: 'ServiceAccount', name: 'semaphore-service-mirror', namespace: MIRRORS }];
      await cluster.admin.create(`/apis/${apiGroup}/v1/clusterrolebindings`, {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects,
      });
      await eventually(async () => (await account.request('GET', '/api/v1/secrets')).status, 200);
    });

    it.each([
      { name: 'a Service', path: SERVICES, object: service('kept', {}, theirs) },
      { name: 'an Endpoints object', path: ENDPOINTS, object: endpoints('kept', theirs) },
      { name: 'a slice', path: SLICES, object: slice('kept', { labels: theirs }) },
    ])('deletes $name of others neither alone nor with all', async ({ path, object }) => {
      await cluster.admin.create(path, object);
      for (const target of [`${path}/kept`, `${path}?labelSelector=team%3Da`])
        expect(refusal(await account.request('DELETE', target))).toMatch(FOREIGN);
      expect((await cluster.admin.request('GET', `${path}/kept`)).status).toBe(200);
      await cluster.admin.delete(`${path}/kept`);
    });

    it('is held in any namespace', async () => {
      expect(refusal(await account.request('DELETE', '/api/v1/namespaces/default/services/kubernetes'))).toMatch(
        FOREIGN,
      );
    });

    it('changes no status of a Service, and reaches nothing through one', async () => {
      await cluster.admin.create(SERVICES, service('whole'));
      const status = {
        status: {
          conditions: [
            { type: 'Fine', status: 'True', reason: 'Fine', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
          ],
        },
      };
      expect(refusal(await account.request('PATCH', `${SERVICES}/whole/status`, status))).toMatch(
        /^403 .* may only create, update and delete Services; this is UPDATE of services\/status$/,
      );
      expect(refusal(await account.request('GET', `${SERVICES}/whole/proxy/`))).toMatch(
        /^403 .* may only create, update and delete Services; this is CONNECT of services\/proxy$/,
      );
    });
  });

  describe('with the component for Multi-Cluster Services', () => {
    const [namespace, name] = ['default', 'derived-0123456789abcdef'];
    const services = `/api/v1/namespaces/${namespace}/services`;
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const mcs = `/apis/multicluster.x-k8s.io/v1beta1/namespaces/${namespace}`;
    const managed = { 'app.kubernetes.io/managed-by': 'semaphore-service-mirror' };
    const sliceOf = (service: string, labels: Labels = {}) =>
      slice('web', {
        labels: {
          'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
          'kubernetes.io/service-name': service,
          ...labels,
        },
      });
    const serviceImport = (labels: Labels): KubeObject => ({
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceImport',
      metadata: { name: 'web', labels },
      spec: { type: 'ClusterSetIP', ports: [{ port: 80 }] },
    });
    const OTHER_NAME = /^403 .* only Services with names of its own, and their slices; this is kube-dns$/;

    beforeAll(async () => {
      await bash(
        `kubectl apply -k ${fileURLToPath(new URL('../../../../deploy/service-mirror/mcs', import.meta.url))}`,
        cluster,
      );
      await deployComponent(cluster, folders.local, folders.mcs);
      await eventually(async () => (await account.request('GET', `${mcs}/serviceimports`)).status, 200);
    });

    it.each([
      { name: 'a derived Service', path: services, object: service(name, {}, managed) },
      { name: 'one of an older build', path: services, object: service('derived-0123456789', {}, managed) },
      { name: 'its slice', path: slices, object: sliceOf(name) },
      { name: 'a slice of a headless ServiceImport', path: slices, object: sliceOf('') },
      { name: 'a ServiceImport', path: `${mcs}/serviceimports`, object: serviceImport(managed) },
    ])('lets it create, change and delete $name', async ({ path, object }) => {
      expect(refusal(await account.request('POST', path, object))).toMatch(/^201 /);
      const one = `${path}/${object.metadata.name}`;
      const there = await cluster.admin.get(one);
      const changed = { ...there, metadata: { ...there.metadata, annotations: { changed: 'true' } } };
      expect(refusal(await account.request('PUT', one, changed))).toMatch(/^200 /);
      expect(refusal(await account.request('DELETE', one))).toMatch(/^200 /);
    });

    it.each([
      { name: 'a Service', path: services, object: service('kube-dns', {}, managed), why: OTHER_NAME },
      { name: 'a mirror', path: services, object: service('kube-dns'), why: OTHER_NAME },
      { name: 'a slice', path: slices, object: sliceOf('kube-dns'), why: OTHER_NAME },
      { name: 'a slice of a mirror', path: slices, object: sliceOf('kube-dns', mirrorLabels), why: OTHER_NAME },
      { name: 'a Service without its label', path: services, object: service(name, {}, theirs), why: FOREIGN },
      {
        name: 'a ServiceImport without it',
        path: `${mcs}/serviceimports`,
        object: serviceImport(theirs),
        why: FOREIGN,
      },
    ])('refuses $name that could be of others', async ({ path, object, why }) => {
      expect(refusal(await account.request('POST', path, object))).toMatch(why);
    });

    it('lets finalizers of others stay, and refuses to add one, which would keep an owner or the namespace', async () => {
      const derived = service(name, {}, managed);
      const created = { ...derived, metadata: { ...derived.metadata, finalizers: ['example.com/keep'] } };
      const refused = /^403 .* may not add finalizers$/;
      expect(refusal(await account.request('POST', services, created))).toMatch(refused);
      const { metadata, ...there } = await cluster.admin.create(services, created);
      const put = async (...finalizers: readonly string[]) =>
        refusal(
          await account.request('PUT', `${services}/${name}`, { ...there, metadata: { ...metadata, finalizers } }),
        );
      expect(await put('example.com/keep', 'example.com/more')).toMatch(refused);
      expect(await put('example.com/keep')).toMatch(/^200 /);
      expect(await put()).toMatch(/^200 /);
      await cluster.admin.delete(`${services}/${name}`);
    });

    it('applies in the namespace of node heartbeats, to all but these', async () => {
      const open = service(name, { externalIPs: ['192.0.2.1'] }, managed);
      expect(refusal(await account.request('POST', '/api/v1/namespaces/kube-node-lease/services', open))).toMatch(
        /^403 .*; this has externalIPs$/,
      );
      // It has every right.
      const heartbeats = LEASES.replace(MIRRORS, 'kube-node-lease');
      expect(refusal(await account.request('POST', heartbeats, lease('n1')))).toMatch(/^201 /);
    });

    it('lets it write the status of its ServiceImports and of ServiceExports, and no export', async () => {
      const status = { status: { conditions: [] } };
      await cluster.admin.create(`${mcs}/serviceimports`, serviceImport(theirs));
      expect(refusal(await account.request('PATCH', `${mcs}/serviceimports/web/status`, status))).toMatch(FOREIGN);
      await cluster.admin.delete(`${mcs}/serviceimports/web`);
      await cluster.admin.create(`${mcs}/serviceimports`, serviceImport(managed));
      expect(refusal(await account.request('PATCH', `${mcs}/serviceimports/web/status`, status))).toMatch(/^200 /);

      const [apiVersion, kind] = ['multicluster.x-k8s.io/v1beta1', 'ServiceExport'];
      await cluster.admin.create(`${mcs}/serviceexports`, { apiVersion, kind, metadata: { name: 'web' } });
      expect(refusal(await account.request('PATCH', `${mcs}/serviceexports/web/status`, status))).toMatch(/^200 /);
    });
  });

  it('applies to no other account', async () => {
    const path = '/api/v1/namespaces/default/services';
    expect(
      refusal(
        await cluster.admin.request(
          'POST',
          path,
          service('open', { type: 'NodePort', selector: { app: 'a' } }, theirs),
        ),
      ),
    ).toMatch(/^201 /);
    const { token } = await cluster.account('not-semaphore-service-mirror', [
      { apiGroups: [''], resources: ['services'], verbs: ['delete'] },
    ]);
    const other = cluster.clientFor(token);
    await eventually(async () => (await other.request('DELETE', `${path}/open`)).status, 200);
  });

  it('applies, and blocks no other account, as soon as a restarted API server answers', async () => {
    await cluster.restart();
    const answers = [
      await cluster.admin.request(
        'POST',
        '/api/v1/namespaces/default/services',
        service('after-a-restart', {}, theirs),
      ),
      await account.request('POST', SERVICES, service('after-a-restart', {}, theirs)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 403]);
  });
});

describe('the quota for Services', () => {
  it('ends what is created beyond it', async () => {
    await bash(
      `kubectl apply -f ${fileURLToPath(new URL('../../../../deploy/service-mirror/base/quota.yaml', import.meta.url))}`,
      cluster,
    );
    const quota = `/api/v1/namespaces/${MIRRORS}/resourcequotas/semaphore-service-mirror-services`;
    const { hard } = (await cluster.admin.get(quota))['spec'] as { readonly hard: Readonly<Record<string, string>> };
    expect(hard).toEqual({ 'count/services': '5k' });
    // As the controller of quotas would count. The API server sees it a moment later.
    await cluster.admin.request('PATCH', `${quota}/status`, { status: { hard, used: hard } });
    const answer = async () => refusal(await account.request('POST', `${SERVICES}?dryRun=All`, service('one-more')));
    await eventually(
      async () =>
        /^403 .* exceeded quota: semaphore-service-mirror-services, requested: count\/services=1/.test(await answer()),
      true,
    );
  });
});
