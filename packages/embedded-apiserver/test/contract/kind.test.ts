import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read } from './harness.ts';
import { lease, object, service, slice, smallPod } from './objects.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const rbac = 'rbac.authorization.k8s.io';
const roleRef = (kind: string) => ({ apiGroup: rbac, kind, name: 'some' });

/** One object of each built-in kind; NAMESPACE stands for the namespace that the contract made. */
const kinds: readonly { path: string; make: (namespace: string) => KubeObject }[] = [
  { path: '/api/v1/namespaces/NAMESPACE/pods', make: () => smallPod('x') },
  { path: '/api/v1/namespaces/NAMESPACE/services', make: () => service('x', { clusterIP: 'None' }) },
  { path: '/api/v1/namespaces/NAMESPACE/endpoints', make: () => object('v1 Endpoints', 'x') },
  { path: '/apis/discovery.k8s.io/v1/namespaces/NAMESPACE/endpointslices', make: () => slice('x', {}) },
  {
    path: '/apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies',
    make: () => object('networking.k8s.io/v1 NetworkPolicy', 'x', { spec: { podSelector: {} } }),
  },
  { path: '/api/v1/nodes', make: () => object('v1 Node', 'x') },
  {
    path: '/api/v1/namespaces/NAMESPACE/events',
    make: (namespace) =>
      object('v1 Event', 'x', { involvedObject: { kind: 'Pod', name: 'x', namespace }, reason: 'Why' }),
  },
  { path: '/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases', make: () => lease('x') },
  { path: '/api/v1/namespaces/NAMESPACE/serviceaccounts', make: () => object('v1 ServiceAccount', 'x') },
  { path: `/apis/${rbac}/v1/namespaces/NAMESPACE/roles`, make: () => object(`${rbac}/v1 Role`, 'x', { rules: [] }) },
  {
    path: `/apis/${rbac}/v1/namespaces/NAMESPACE/rolebindings`,
    make: () => object(`${rbac}/v1 RoleBinding`, 'x', { roleRef: roleRef('Role'), subjects: [] }),
  },
  { path: `/apis/${rbac}/v1/clusterroles`, make: () => object(`${rbac}/v1 ClusterRole`, 'x', { rules: [] }) },
  {
    path: `/apis/${rbac}/v1/clusterrolebindings`,
    make: () => object(`${rbac}/v1 ClusterRoleBinding`, 'x', { roleRef: roleRef('ClusterRole'), subjects: [] }),
  },
];

onEachServer('each kind', (server) => {
  it.each(kinds)('$path is created, got, listed, changed, watched and deleted', async ({ path: template, make }) => {
    const namespace = await server().namespace();
    const path = template.replace('NAMESPACE', namespace);
    const { apiVersion, kind } = make(namespace);
    const made = read(await server().send('POST', path, { body: make(namespace) }));
    expect(made).toMatchObject({ apiVersion, kind, metadata: { name: 'x' } });
    expect(read(await server().send('GET', `${path}/x`))).toEqual(made);

    const list = read(await server().send('GET', `${path}?fieldSelector=metadata.name%3Dx`));
    expect(list).toMatchObject({ apiVersion, kind: `${kind}List` });
    expect(list.items).toHaveLength(1);

    const body = { metadata: { labels: { a: 'b' } } };
    expect((await server().send('PATCH', `${path}/x`, { body, headers: mergePatch })).status).toBe(200);
    const watch = await server().watch(`${path}?watch=1&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx`);
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { apiVersion, kind, metadata: { name: 'x' } } });
    expect((await server().send('DELETE', `${path}/x`)).status).toBe(200);
    expect((await watch.until(({ type }) => type === 'DELETED')).at(-1)).toMatchObject({ type: 'DELETED' });
    watch.close();
    expect((await server().send('GET', `${path}/x`)).status).toBe(404);
  });
});

onEachServer('a Namespace', (server) => {
  it('is created once, and selected and watched by its labels', async () => {
    const path = '/api/v1/namespaces';
    const name = await server().namespace();
    expect((await server().send('POST', path, { body: { metadata: { name } } })).status).toBe(409);
    const label = async (shop: string | null) => {
      const body = { metadata: { labels: { shop } } };
      return read(await server().send('PATCH', `${path}/${name}`, { body, headers: mergePatch })).metadata;
    };
    const { resourceVersion, labels } = await label('a');
    expect(labels).toEqual({ 'kubernetes.io/metadata.name': name, shop: 'a' });
    const selected = read(await server().send('GET', `${path}?labelSelector=shop`)).items;
    expect(selected.map(({ metadata }) => metadata.name)).toEqual([name]);
    const watch = await server().watch(`${path}?watch=1&labelSelector=shop&resourceVersion=${resourceVersion}`);
    await label('b');
    await label(null);
    const events = (await watch.take(2)).map(
      ({ type, object: { metadata } }) => `${type} ${metadata.labels?.['shop']}`,
    );
    watch.close();
    expect(events).toEqual(['MODIFIED b', 'DELETED b']);
  });
});

onEachServer('a TokenRequest', (server) => {
  const accounts = '/api/v1/namespaces/kube-system/serviceaccounts';

  it('returns a token that names its ServiceAccount', async () => {
    await server().cluster.admin.create(accounts, object('v1 ServiceAccount', 'bearer'));
    const body = { spec: { expirationSeconds: 1200 } };
    const reply = await server().send('POST', `${accounts}/bearer/token`, { body });
    const { kind, spec, status } = read(reply) as unknown as Record<'spec' | 'status', Record<string, string>> & {
      kind: string;
    };
    expect({ status: reply.status, kind, expirationSeconds: spec['expirationSeconds'] }).toEqual({
      status: 201,
      kind: 'TokenRequest',
      expirationSeconds: 1200,
    });
    expect(Date.parse(status['expirationTimestamp']!) - Date.now()).toBeGreaterThan(1_100_000);
    const denied = await server().send('GET', '/api/v1/pods', { token: status['token']! });
    expect(read(denied).message).toContain('User "system:serviceaccount:kube-system:bearer" cannot list');
  });

  it('for a missing ServiceAccount is 404', async () => {
    expect((await server().send('POST', `${accounts}/nobody/token`, { body: { spec: {} } })).status).toBe(404);
  });
});
