import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read, refusal } from './harness.ts';
import { lease, object, paths, service, slice, smallPod } from './objects.ts';

const json = { 'content-type': 'application/json' };
const mergePatch = { 'content-type': 'application/merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };

const status = (pod: KubeObject) => (pod['status'] as { phase: string }).phase;

onEachServer('a create', (server) => {
  it('adds what the server alone knows, and drops the status of a pod', async () => {
    const namespace = await server().namespace();
    const sent = { ...smallPod('new', { uid: 'mine', labels: {} }), status: { phase: 'Running' } };
    const reply = await server().send('POST', paths.pods(namespace), { body: sent });
    const pod = read(reply);
    expect(reply.status).toBe(201);
    expect(pod).toMatchObject({ apiVersion: 'v1', kind: 'Pod', status: { phase: 'Pending', qosClass: 'BestEffort' } });
    expect(pod.metadata).toMatchObject({ name: 'new', namespace, generation: 1 });
    expect(pod.metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(pod.metadata['creationTimestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(pod.metadata).not.toHaveProperty('labels');
    expect(await server().cluster.admin.get(`${paths.pods(namespace)}/new`)).toEqual(pod);
  });

  it('makes a name up from generateName', async () => {
    const namespace = await server().namespace();
    const pod = { ...smallPod(''), metadata: { generateName: 'web-' } };
    expect(read(await server().send('POST', paths.pods(namespace), { body: pod })).metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
  });

  it('keeps the status that a Node comes with', async () => {
    const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];
    const node = await server().cluster.admin.create('/api/v1/nodes', object('v1 Node', 'n1', { status: { addresses } }));
    expect(node['status']).toMatchObject({ addresses });
  });

  it('labels a Namespace with its name', async () => {
    const name = await server().namespace();
    const namespace = await server().cluster.admin.get(`/api/v1/namespaces/${name}`);
    expect(namespace).toMatchObject({ metadata: { labels: { 'kubernetes.io/metadata.name': name } }, status: { phase: 'Active' } });
  });

  it('does not need to be told a built-in kind', async () => {
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
    { what: 'another namespace than that of the path', body: smallPod('x', { namespace: 'other' }), want: bad },
    { what: 'another kind', body: { ...smallPod('x'), kind: 'Service' }, want: bad },
    { what: 'another version', body: { ...smallPod('x'), apiVersion: 'v2' }, want: bad },
    { what: 'text that is not JSON', body: '{', want: bad },
    { what: 'a list', body: [], want: bad },
    { what: 'nothing', body: '', want: bad },
    { what: 'a resourceVersion', body: smallPod('x', { resourceVersion: '1' }), want: { status: 500, reason: undefined } },
  ])('refuses $what', async ({ body, want }) => {
    const pods = paths.pods(await server().namespace());
    await server().cluster.admin.create(pods, smallPod('taken'));
    expect(refusal(await server().send('POST', pods, { body, headers: json }))).toEqual(want);
  });

  it('refuses a namespace that does not exist, a namespaced kind outside of one, and another media type', async () => {
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

onEachServer('an update', (server) => {
  const make = async (path: string, body: KubeObject) => server().cluster.admin.create(path, body);
  const put = (path: string, body: unknown) => server().send('PUT', path, { body });

  it('moves the resourceVersion only if it changes something', async () => {
    const pods = paths.pods(await server().namespace());
    const pod = await make(pods, smallPod('x', { labels: { a: '1' } }));
    const { managedFields: _, ...metadata } = pod.metadata;
    const versions = [
      read(await put(`${pods}/x`, pod)),
      read(await put(`${pods}/x`, { ...pod, metadata })),
      read(await server().send('PATCH', `${pods}/x`, { body: { metadata: { labels: { a: '1' } } }, headers: mergePatch })),
      read(await server().send('PATCH', `${pods}/x`, { body: [], headers: jsonPatch })),
      read(await server().send('PATCH', `${pods}/x/status`, { body: { status: { phase: 'Pending' } }, headers: mergePatch })),
    ].map((answer) => answer.metadata.resourceVersion);
    expect(new Set(versions)).toEqual(new Set([pod.metadata.resourceVersion]));
    const changed = read(await put(`${pods}/x`, { ...pod, metadata: { ...metadata, labels: { a: '2' } } }));
    expect(Number(changed.metadata.resourceVersion)).toBeGreaterThan(Number(pod.metadata.resourceVersion));
    expect(changed.metadata.uid).toBe(pod.metadata.uid);
  });

  it('of a stale object is a conflict, as is one of another UID; a made-up resourceVersion is an error', async () => {
    const pods = paths.pods(await server().namespace());
    await make(pods, smallPod('x'));
    const conflict = { status: 409, reason: 'Conflict' };
    expect([
      refusal(await put(`${pods}/x`, smallPod('x', { resourceVersion: '1' }))),
      refusal(await put(`${pods}/x`, smallPod('x', { uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11' }))),
      refusal(await server().send('PATCH', `${pods}/x`, { body: { metadata: { resourceVersion: '1' } }, headers: mergePatch })),
      refusal(await put(`${pods}/x`, smallPod('x', { resourceVersion: 'x' }))),
    ]).toEqual([conflict, conflict, conflict, { status: 500, reason: undefined }]);
  });

  it('refuses a name other than that of the path', async () => {
    const pods = paths.pods(await server().namespace());
    await make(pods, smallPod('x'));
    expect([
      refusal(await put(`${pods}/x`, smallPod('y'))),
      refusal(await server().send('PATCH', `${pods}/x`, { body: { metadata: { name: 'y' } }, headers: mergePatch })),
    ]).toEqual([{ status: 400, reason: 'BadRequest' }, { status: 400, reason: 'BadRequest' }]);
  });

  it('without a resourceVersion overwrites, but for a Lease', async () => {
    const namespace = await server().namespace();
    const { pods, services, slices, leases } = paths;
    await make(pods(namespace), smallPod('x'));
    await make(services(namespace), service('x', { clusterIP: 'None', selector: { a: 'b' } }));
    await make(slices(namespace), slice('x', {}));
    await make(leases(namespace), lease('x'));
    const labels = { labels: { changed: 'yes' } };
    expect((await put(`${pods(namespace)}/x`, smallPod('x', labels))).status).toBe(200);
    expect((await put(`${services(namespace)}/x`, service('x', { clusterIP: 'None', selector: { a: 'b' } }, labels))).status).toBe(200);
    expect((await put(`${slices(namespace)}/x`, slice('x', {}, labels))).status).toBe(200);
    expect(refusal(await put(`${leases(namespace)}/x`, lease('x', {}, labels)))).toEqual({
      status: 422,
      reason: 'Invalid',
      causes: ['metadata.resourceVersion FieldValueInvalid'],
    });
  });

  it('of what is missing creates Services and Leases, unless it names a UID, and nothing else', async () => {
    const namespace = await server().namespace();
    const { pods, services, slices, leases } = paths;
    const spec = { clusterIP: 'None' };
    const replies = [
      await put(`${services(namespace)}/a`, service('a', spec)),
      await put(`${services(namespace)}/b`, service('b', spec, { resourceVersion: '1' })),
      await put(`${services(namespace)}/c`, service('c', spec, { uid: 'x' })),
      await put(`${leases(namespace)}/a`, lease('a')),
      await put(`${pods(namespace)}/a`, smallPod('a')),
      await put(`${slices(namespace)}/a`, slice('a', {})),
    ];
    expect(replies.map((reply) => reply.status)).toEqual([201, 201, 409, 201, 404, 404]);
  });

  it('leaves the status alone, and one of the status all else but the metadata', async () => {
    const pods = paths.pods(await server().namespace());
    const pod = await make(pods, smallPod('x', { labels: { a: '1' } }));
    const running = read(await put(`${pods}/x/status`, { ...pod, status: { phase: 'Running' } }));
    expect(status(running)).toBe('Running');
    expect(running['spec']).toEqual(pod['spec']);
    const labelled = { ...running, metadata: { ...running.metadata, labels: { a: '2' } }, status: { phase: 'Failed' } };
    const after = read(await put(`${pods}/x`, labelled));
    expect({ phase: status(after), labels: after.metadata.labels }).toEqual({ phase: 'Running', labels: { a: '2' } });
    expect(read(await server().send('GET', `${pods}/x/status`))).toEqual(after);
  });

  it('by merge patch merges objects, removes by null and replaces lists', async () => {
    const pods = paths.pods(await server().namespace());
    await make(pods, smallPod('x', { labels: { a: '1', b: '2' }, finalizers: ['example.com/a', 'example.com/b'] }));
    const body = { metadata: { labels: { a: null, c: '3' }, annotations: { n: 'x' }, finalizers: ['example.com/c'] } };
    const { metadata } = read(await server().send('PATCH', `${pods}/x`, { body, headers: mergePatch }));
    await server().send('PATCH', `${pods}/x`, { body: { metadata: { finalizers: null } }, headers: mergePatch });
    expect(metadata).toMatchObject({ annotations: { n: 'x' }, finalizers: ['example.com/c'] });
    expect(metadata.labels).toEqual({ b: '2', c: '3' });
  });

  it('by JSON patch does what it says, or nothing', async () => {
    const pods = paths.pods(await server().namespace());
    const pod = await make(pods, smallPod('x', { labels: { a: '1', 'example.com/b': '2' } }));
    const apply = (body: unknown) => server().send('PATCH', `${pods}/x`, { body, headers: jsonPatch });
    const good = await apply([
      { op: 'test', path: '/metadata/resourceVersion', value: pod.metadata.resourceVersion },
      { op: 'replace', path: '/metadata/labels/a', value: '3' },
      { op: 'copy', from: '/metadata/labels/a', path: '/metadata/labels/c' },
      { op: 'move', from: '/metadata/labels/example.com~1b', path: '/metadata/labels/d' },
      { op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] },
      { op: 'add', path: '/metadata/finalizers/0', value: 'example.com/b' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ]);
    expect(read(good).metadata).toMatchObject({ finalizers: ['example.com/b', 'example.com/c'] });
    expect(read(good).metadata.labels).toEqual({ a: '3', c: '3', d: '2' });
    const wrong = { status: 422, reason: 'Invalid' };
    expect([
      refusal(await apply([{ op: 'test', path: '/metadata/labels/a', value: '1' }, { op: 'remove', path: '/metadata/labels' }])),
      refusal(await apply([{ op: 'remove', path: '/metadata/labels/zzz' }])),
      refusal(await apply([{ op: 'replace', path: '/metadata/labels/zzz', value: '1' }])),
    ]).toEqual([wrong, wrong, wrong]);
    expect(read(await apply([{ op: 'remove', path: '/metadata/finalizers' }])).metadata.labels).toEqual({ a: '3', c: '3', d: '2' });
  });

  it('by a patch of no known type, of no JSON, or of nothing that exists is refused', async () => {
    const pods = paths.pods(await server().namespace());
    await make(pods, smallPod('x'));
    expect([
      refusal(await server().send('PATCH', `${pods}/x`, { body: {}, headers: { 'content-type': 'application/x' } })),
      refusal(await server().send('PATCH', `${pods}/x`, { body: '{', headers: mergePatch })),
      refusal(await server().send('PATCH', `${pods}/y`, { body: {}, headers: mergePatch })),
    ]).toEqual([
      { status: 415, reason: 'UnsupportedMediaType' },
      { status: 400, reason: 'BadRequest' },
      { status: 404, reason: 'NotFound' },
    ]);
  });
});

onEachServer('a delete', (server) => {
  const remove = (path: string, body?: unknown) => server().send('DELETE', path, { ...(body !== undefined && { body }) });

  it('holds its preconditions against the object', async () => {
    const namespace = await server().namespace();
    const { admin } = server().cluster;
    const { metadata } = await admin.create(paths.leases(namespace), lease('x'));
    const path = `${paths.leases(namespace)}/x`;
    const conflict = { status: 409, reason: 'Conflict' };
    expect([
      refusal(await remove(path, { preconditions: { uid: 'x' } })),
      refusal(await remove(path, { preconditions: { resourceVersion: '1' } })),
      refusal(await remove(path, { preconditions: { uid: metadata.uid, resourceVersion: '1' } })),
      refusal(await remove(`${path}y`, { preconditions: { uid: 'x' } })),
    ]).toEqual([conflict, conflict, conflict, { status: 404, reason: 'NotFound' }]);
    const { uid, resourceVersion } = metadata;
    expect((await remove(path, { preconditions: { uid, resourceVersion } })).status).toBe(200);
    expect((await admin.request('GET', path)).status).toBe(404);
  });

  it('answers with the object for some kinds, with a Status for others', async () => {
    const namespace = await server().namespace();
    const { admin } = server().cluster;
    await admin.create(paths.pods(namespace), smallPod('x'));
    await admin.create(paths.services(namespace), service('x', { clusterIP: 'None' }));
    const { metadata } = await admin.create(paths.leases(namespace), lease('x'));
    expect(read(await remove(`${paths.pods(namespace)}/x`))).toMatchObject({ kind: 'Pod', metadata: { name: 'x' } });
    expect(read(await remove(`${paths.services(namespace)}/x`))).toMatchObject({ kind: 'Service', metadata: { name: 'x' } });
    expect(read(await remove(`${paths.leases(namespace)}/x`))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'x', group: 'coordination.k8s.io', kind: 'leases', uid: metadata.uid },
    });
  });

  it('only marks a pod that is on a node, until it is granted no more time', async () => {
    const namespace = await server().namespace();
    const pods = paths.pods(namespace);
    await server().cluster.admin.create(pods, smallPod('x', {}, { nodeName: 'n1' }));
    const marked = read(await remove(`${pods}/x`));
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    expect(marked.metadata).toHaveProperty('deletionTimestamp');
    expect((await server().send('GET', `${pods}/x`)).status).toBe(200);
    expect((await remove(`${pods}/x?gracePeriodSeconds=0`)).status).toBe(200);
    expect((await server().send('GET', `${pods}/x`)).status).toBe(404);
  });

  it('of a collection takes what the selector picks', async () => {
    const pods = paths.pods(await server().namespace());
    for (const [name, app] of [['a', 'x'], ['b', 'y'], ['c', 'x']] as const) {
      await server().cluster.admin.create(pods, smallPod(name, { labels: { app } }));
    }
    expect((await remove(`${pods}?labelSelector=app%3Dx`)).status).toBe(200);
    const left = await server().cluster.admin.list(pods);
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });
});

onEachServer('a path', (server) => {
  it.each([
    { what: 'a group that nobody serves', path: '/apis/example.com/v1/things', status: 404, type: 'text/plain' },
    { what: 'a resource that nobody serves', path: '/api/v1/things', status: 404, type: 'application/json' },
    { what: 'an object that does not exist', path: '/api/v1/nodes/x', status: 404, type: 'application/json' },
    { what: 'a namespaced object outside of a namespace', path: '/api/v1/pods/x', status: 404, type: 'application/json' },
    { what: 'a cluster-scoped one inside of one', path: '/api/v1/namespaces/default/nodes', status: 404, type: 'application/json' },
    { what: 'a subresource that the kind lacks', path: '/api/v1/namespaces/default/endpoints/x/status', status: 404, type: 'application/json' },
  ])('of $what is $status', async ({ path, status: want, type }) => {
    const reply = await server().send('GET', path);
    expect({ status: reply.status, type: reply.contentType.split(';')[0] }).toEqual({ status: want, type });
  });
});
