import { eventually } from '@kube-semaphore/eventually';
import { beforeAll, expect, it } from 'vitest';
import { onEachServer, read } from './harness.ts';
import { object, smallPod } from './objects.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const serviceAccounts = '/api/v1/namespaces/kube-system/serviceaccounts';

onEachServer('who a request is from', (server) => {
  const said = async (token: string | null, path: string, method = 'GET') => {
    const reply = await server().send(method, path, { token });
    return { status: reply.status, message: read(reply).message };
  };

  let nosy = '';
  beforeAll(async () => {
    nosy = (await server().cluster.account('nosy', [])).token;
  });

  it.each([
    { name: 'a request without a token is anonymous', token: null, status: 403 },
    { name: 'an unknown token is refused', token: 'made-up', status: 401 },
  ])('$name: $status', async ({ token, status }) => {
    expect((await server().send('GET', '/api/v1/pods', { token })).status).toBe(status);
  });

  const inDefault = 'in the namespace "default"';
  it.each([
    { path: '/api/v1/pods?watch=1', want: 'watch resource "pods" in API group "" at the cluster scope', of: 'pods' },
    {
      path: '/api/v1/namespaces/default/pods/x',
      want: `get resource "pods" in API group "" ${inDefault}`,
      of: 'pods "x"',
    },
    {
      path: '/api/v1/namespaces/default/pods/x/status',
      method: 'PUT',
      want: `update resource "pods/status" in API group "" ${inDefault}`,
      of: 'pods "x"',
    },
    {
      path: '/api/v1/namespaces/default',
      want: `get resource "namespaces" in API group "" ${inDefault}`,
      of: 'namespaces "default"',
    },
    {
      path: `${rbac}/clusterroles`,
      want: 'list resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope',
      of: 'clusterroles.rbac.authorization.k8s.io',
    },
    {
      path: '/api/v1/namespaces/nowhere/services?dryRun=All',
      method: 'POST',
      want: 'create resource "services" in API group "" in the namespace "nowhere"',
      of: 'services',
    },
    {
      path: '/apis/example.com/v1/things?limit=1',
      want: 'list resource "things" in API group "example.com" at the cluster scope',
      of: 'things.example.com',
    },
    {
      path: '/api/v1/pods?fieldSelector=metadata.name%3Dx',
      want: 'list resource "pods" in API group "" at the cluster scope',
      of: 'pods "x"',
    },
  ])('without the right to $want gets a 403', async ({ path, method = 'GET', want, of }) => {
    const message = `${of} is forbidden: User "system:serviceaccount:kube-system:nosy" cannot ${want}`;
    expect(await said(nosy, path, method)).toEqual({ status: 403, message });
  });

  it('is named in a 403 for a path, even if it is anonymous', async () => {
    const refused = 'User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope';
    expect([await said(nosy, '/metrics'), await said(null, '/api/v1/pods'), await said('x', '/api/v1/pods')]).toEqual([
      { status: 403, message: 'forbidden: User "system:serviceaccount:kube-system:nosy" cannot get path "/metrics"' },
      { status: 403, message: `pods is forbidden: ${refused}` },
      { status: 401, message: 'Unauthorized' },
    ]);
  });

  it('may read discovery with any token, and the version and health without one', async () => {
    const { token } = await server().cluster.account('reader', []);
    const ask = async (path: string, as: string | null) => (await server().send('GET', path, { token: as })).status;
    const pathsSeen = ['/api', '/apis', '/api/v1', '/version', '/healthz', '/livez', '/readyz'];
    expect(await Promise.all(pathsSeen.map((path) => ask(path, token)))).toEqual([200, 200, 200, 200, 200, 200, 200]);
    expect(await Promise.all(pathsSeen.map((path) => ask(path, null)))).toEqual([403, 403, 403, 200, 200, 200, 200]);
  });

  it('refuses the token of a ServiceAccount that was deleted', async () => {
    const { token } = await server().cluster.account('fired', []);
    expect((await server().send('GET', '/api', { token })).status).toBe(200);
    await server().cluster.admin.delete(`${serviceAccounts}/fired`);
    // A real server caches a token for ten seconds.
    await eventually(async () => (await server().send('GET', '/api', { token })).status === 401, true);
  });
});

onEachServer('what a role allows', (server) => {
  const allowed = async (token: string, method: string, path: string, body?: unknown) =>
    (await server().send(method, path, { token, ...(body !== undefined && { body }) })).status !== 403;

  it('needs a right for each verb, group, resource and subresource', async () => {
    const { token } = await server().cluster.account('narrow', [
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['update'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['*'], verbs: ['*'] },
    ]);
    expect({
      list: await allowed(token, 'GET', '/api/v1/pods'),
      get: await allowed(token, 'GET', '/api/v1/namespaces/default/pods/x'),
      create: await allowed(token, 'POST', '/api/v1/namespaces/default/pods', smallPod('x')),
      otherResource: await allowed(token, 'GET', '/api/v1/services'),
      subresource: await allowed(token, 'PUT', '/api/v1/nodes/x/status', object('v1 Node', 'x')),
      itsParent: await allowed(token, 'PUT', '/api/v1/nodes/x', object('v1 Node', 'x')),
      anyInGroup: await allowed(token, 'GET', '/apis/coordination.k8s.io/v1/leases'),
    }).toEqual({
      list: true,
      get: false,
      create: false,
      otherResource: false,
      subresource: true,
      itsParent: false,
      anyInGroup: true,
    });
  });

  it('is limited to the resourceNames of a rule, in lists by a field selector', async () => {
    const { token } = await server().cluster.account('named', [
      { apiGroups: [''], resources: ['nodes'], resourceNames: ['mine'], verbs: ['get', 'list', 'watch', 'patch'] },
    ]);
    expect({
      mine: await allowed(token, 'GET', '/api/v1/nodes/mine'),
      other: await allowed(token, 'GET', '/api/v1/nodes/other'),
      all: await allowed(token, 'GET', '/api/v1/nodes'),
      listOfMine: await allowed(token, 'GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dmine'),
      listOfOther: await allowed(token, 'GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dother'),
      watchOfMine: await allowed(
        token,
        'GET',
        '/api/v1/nodes?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dmine',
      ),
      patchOfMine: await allowed(token, 'PATCH', '/api/v1/nodes/mine', {}),
      patchOfOther: await allowed(token, 'PATCH', '/api/v1/nodes/other', {}),
    }).toEqual({
      mine: true,
      other: false,
      all: false,
      listOfMine: true,
      listOfOther: false,
      watchOfMine: true,
      patchOfMine: true,
      patchOfOther: false,
    });
  });

  it('has the rights of a Role in its namespace only, while the binding exists', async () => {
    const { token } = await server().cluster.account('local', []);
    const namespace = await server().namespace();
    const { admin } = server().cluster;
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const before = await allowed(token, 'GET', pods);
    const roles = `${rbac}/namespaces/${namespace}`;
    const type = 'rbac.authorization.k8s.io/v1';
    await admin.create(
      `${roles}/roles`,
      object(`${type} Role`, 'r', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] }),
    );
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
    const subjects = [{ kind: 'ServiceAccount', namespace: 'kube-system', name: 'local' }];
    await admin.create(`${roles}/rolebindings`, object(`${type} RoleBinding`, 'b', { roleRef, subjects }));
    await eventually(() => allowed(token, 'GET', pods), true);
    const elsewhere = await allowed(token, 'GET', '/api/v1/namespaces/default/pods');
    const everywhere = await allowed(token, 'GET', '/api/v1/pods');
    await admin.delete(`${roles}/rolebindings/b`);
    await eventually(async () => !(await allowed(token, 'GET', pods)), true);
    expect({ before, elsewhere, everywhere }).toEqual({ before: false, elsewhere: false, everywhere: false });
  });

  it('changes with its rules, and only where it is bound', async () => {
    const { token } = await server().cluster.account('growing', []);
    const namespace = await server().namespace();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const become = async (...verbs: string[]) => {
      const body = { rules: verbs.length === 0 ? [] : [{ apiGroups: [''], resources: ['pods'], verbs }] };
      expect((await server().cluster.admin.request('PATCH', `${rbac}/clusterroles/growing`, body)).status).toBe(200);
    };
    await become('list');
    await eventually(() => allowed(token, 'GET', '/api/v1/pods'), true);
    expect(await allowed(token, 'GET', `${pods}?watch=1&timeoutSeconds=1`)).toBe(false);
    await become('list', 'watch');
    await eventually(() => allowed(token, 'GET', `${pods}?watch=1&timeoutSeconds=1`), true);
    // A RoleBinding gives the rights of a ClusterRole in its namespace.
    const { metadata: _, ...binding } = await server().cluster.admin.get(`${rbac}/clusterrolebindings/growing`);
    await server().cluster.admin.create(`${rbac}/namespaces/${namespace}/rolebindings`, {
      ...binding,
      kind: 'RoleBinding',
      metadata: { name: 'growing' },
    });
    await server().cluster.admin.delete(`${rbac}/clusterrolebindings/growing`);
    await eventually(async () => !(await allowed(token, 'GET', '/api/v1/pods')), true);
    await eventually(() => allowed(token, 'GET', pods), true);
    await become();
    await eventually(async () => !(await allowed(token, 'GET', pods)), true);
  });

  it('keeps an open watch after it loses the right', async () => {
    const { token } = await server().cluster.account('watcher', [
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    ]);
    const namespace = await server().namespace();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const watch = await server().watch(`${pods}?watch=1`, { token });
    await server().cluster.admin.delete(`${rbac}/clusterrolebindings/watcher`);
    await eventually(async () => !(await allowed(token, 'GET', pods)), true);
    await server().cluster.admin.create(pods, smallPod('seen'));
    expect((await watch.next())?.object.metadata.name).toBe('seen');
    watch.close();
  });
});
