import { expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { object, paths, service, smallPod } from './objects.ts';

const json = { 'content-type': 'application/json' };

onEachServer('a create', (server) => {
  it('sets its own metadata, and drops the status of a pod', async () => {
    const namespace = await server().namespace();
    const mine = { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', generation: 7, labels: {} };
    const sent = { ...smallPod('new', mine), status: { phase: 'Running' } };
    const reply = await server().send('POST', paths.pods(namespace), { body: sent });
    const pod = read(reply);
    expect(reply.status).toBe(201);
    expect(pod).toMatchObject({ apiVersion: 'v1', kind: 'Pod', status: { phase: 'Pending', qosClass: 'BestEffort' } });
    expect(pod.metadata).toMatchObject({ name: 'new', namespace, generation: 1 });
    expect(pod.metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(pod.metadata['creationTimestamp']).toMatch(/^20[^0]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(pod.metadata).not.toHaveProperty('labels');
    expect(await server().cluster.admin.get(`${paths.pods(namespace)}/new`)).toEqual(pod);
  });

  it('generates a name from generateName', async () => {
    const namespace = await server().namespace();
    const pod = { ...smallPod(''), metadata: { generateName: 'web-' } };
    expect(read(await server().send('POST', paths.pods(namespace), { body: pod })).metadata.name).toMatch(
      /^web-[a-z0-9]{5}$/,
    );
  });

  it('keeps the status of a Node', async () => {
    const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];
    const node = await server().cluster.admin.create(
      '/api/v1/nodes',
      object('v1 Node', 'n1', { status: { addresses } }),
    );
    expect(node['status']).toMatchObject({ addresses });
  });

  it('labels a Namespace with its name', async () => {
    const name = await server().namespace();
    const namespace = await server().cluster.admin.get(`/api/v1/namespaces/${name}`);
    expect(namespace).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': name } },
      status: { phase: 'Active' },
    });
  });

  it('answers a dry run like a creation, but creates nothing', async () => {
    const services = paths.services(await server().namespace());
    const body = service('tried', { clusterIP: 'None', ports: [{ port: 1 }] });
    const tried = await server().send('POST', `${services}?dryRun=All`, { body });
    expect(tried.status).toBe(201);
    expect(read(tried)).toMatchObject({ kind: 'Service', metadata: { name: 'tried' }, spec: { clusterIP: 'None' } });
    expect(await server().cluster.admin.list(services)).toEqual([]);
    const nowhere = await server().send('POST', `${paths.services('nowhere')}?dryRun=All`, { body });
    expect(refusal(nowhere)).toEqual({ status: 404, reason: 'NotFound' });
  });

  it('accepts a built-in kind without its name', async () => {
    const { apiVersion: _a, kind: _k, ...pod } = smallPod('untyped');
    const reply = await server().send('POST', paths.pods(await server().namespace()), { body: pod });
    expect({ status: reply.status, kind: read(reply).kind }).toEqual({ status: 201, kind: 'Pod' });
  });

  const conflict = { status: 409, reason: 'AlreadyExists' };
  const bad = { status: 400, reason: 'BadRequest' };
  const required = (field: string) => ({ status: 422, reason: 'Invalid', causes: [`${field} FieldValueRequired`] });
  it.each([
    { what: 'a name that is taken', body: smallPod('taken'), want: conflict },
    { what: 'no name', body: smallPod(''), want: required('metadata.name') },
    { what: 'a namespace other than that of the path', body: smallPod('x', { namespace: 'other' }), want: bad },
    { what: 'another kind', body: { ...smallPod('x'), kind: 'Service' }, want: bad },
    { what: 'another version', body: { ...smallPod('x'), apiVersion: 'v2' }, want: bad },
    { what: 'text that is not JSON', body: '{', want: bad },
    { what: 'a list', body: [], want: bad },
    { what: 'nothing', body: '', want: bad },
    {
      what: 'a resourceVersion',
      body: smallPod('x', { resourceVersion: '1' }),
      want: { status: 500, reason: undefined },
    },
  ])('refuses $what', async ({ body, want }) => {
    const pods = paths.pods(await server().namespace());
    await server().cluster.admin.create(pods, smallPod('taken'));
    expect(refusal(await server().send('POST', pods, { body, headers: json }))).toEqual(want);
  });

  it('refuses a missing namespace, a namespaced kind without one, and another media type', async () => {
    const body = smallPod('x');
    const namespaced = paths.pods(await server().namespace());
    expect([
      refusal(await server().send('POST', paths.pods('nowhere'), { body })),
      refusal(await server().send('POST', '/api/v1/pods', { body })),
      refusal(await server().send('POST', `${namespaced}/x`, { body })),
      refusal(await server().send('POST', namespaced, { body, headers: { 'content-type': 'text/plain' } })),
    ]).toEqual([
      { status: 404, reason: 'NotFound' },
      { status: 405, reason: 'MethodNotAllowed' },
      { status: 405, reason: 'MethodNotAllowed' },
      { status: 415, reason: 'UnsupportedMediaType' },
    ]);
  });
});
