import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read, refusal } from './harness.ts';
import { lease, paths, service, slice, smallPod } from './objects.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };

const status = (pod: KubeObject) => (pod['status'] as { phase: string }).phase;

onEachServer('an update', (server) => {
  const make = async (path: string, body: KubeObject) => server().cluster.admin.create(path, body);
  const put = (path: string, body: unknown) => server().send('PUT', path, { body });

  it('changes the resourceVersion only if it changes the object', async () => {
    const pods = paths.pods(await server().namespace());
    const pod = await make(pods, smallPod('x', { labels: { a: '1' } }));
    const { managedFields: _, ...metadata } = pod.metadata;
    const versions = [
      read(await put(`${pods}/x`, pod)),
      read(await put(`${pods}/x`, { ...pod, metadata })),
      read(
        await server().send('PATCH', `${pods}/x`, { body: { metadata: { labels: { a: '1' } } }, headers: mergePatch }),
      ),
      read(await server().send('PATCH', `${pods}/x`, { body: [], headers: jsonPatch })),
      read(
        await server().send('PATCH', `${pods}/x/status`, {
          body: { status: { phase: 'Pending' } },
          headers: mergePatch,
        }),
      ),
    ].map((answer) => answer.metadata.resourceVersion);
    expect(new Set(versions)).toEqual(new Set([pod.metadata.resourceVersion]));
    const changed = read(await put(`${pods}/x`, { ...pod, metadata: { ...metadata, labels: { a: '2' } } }));
    expect(Number(changed.metadata.resourceVersion)).toBeGreaterThan(Number(pod.metadata.resourceVersion));
    expect(changed.metadata.uid).toBe(pod.metadata.uid);
  });

  it('in a dry run is answered like others, but nothing changes or goes', async () => {
    const pods = paths.pods(await server().namespace());
    const pod = await make(pods, smallPod('x', { labels: { a: '1' } }));
    const labelled = { metadata: { labels: { a: '2' } } };
    const replaced = await put(`${pods}/x?dryRun=All`, { ...pod, metadata: { ...pod.metadata, labels: { a: '2' } } });
    const patched = await server().send('PATCH', `${pods}/x?dryRun=All`, { body: labelled, headers: mergePatch });
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, dryRun: ['All'] };
    const deleted = await server().send('DELETE', `${pods}/x`, { body });
    expect([replaced, patched].map((answer) => read(answer).metadata.labels)).toEqual([{ a: '2' }, { a: '2' }]);
    expect([replaced, patched, deleted].map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect(await server().cluster.admin.get(`${pods}/x`)).toEqual(pod);
    const stale = smallPod('x', { resourceVersion: '1' });
    expect(refusal(await put(`${pods}/x?dryRun=All`, stale))).toEqual({ status: 409, reason: 'Conflict' });
  });

  it('conflicts for a stale object and for another UID; an invalid resourceVersion is an error', async () => {
    const pods = paths.pods(await server().namespace());
    await make(pods, smallPod('x'));
    const conflict = { status: 409, reason: 'Conflict' };
    expect([
      refusal(await put(`${pods}/x`, smallPod('x', { resourceVersion: '1' }))),
      refusal(await put(`${pods}/x`, smallPod('x', { uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11' }))),
      refusal(
        await server().send('PATCH', `${pods}/x`, {
          body: { metadata: { resourceVersion: '1' } },
          headers: mergePatch,
        }),
      ),
      refusal(await put(`${pods}/x`, smallPod('x', { resourceVersion: 'x' }))),
    ]).toEqual([conflict, conflict, conflict, { status: 500, reason: undefined }]);
  });

  it('by patch cannot change the UID', async () => {
    const namespace = await server().namespace();
    const [pod, held] = [`${paths.pods(namespace)}/x`, `${paths.leases(namespace)}/x`];
    const { metadata } = await make(paths.pods(namespace), smallPod('x'));
    await make(paths.leases(namespace), lease('x'));
    const patch = (path: string, uid?: string) =>
      server().send('PATCH', path, { body: { metadata: { uid } }, headers: mergePatch });
    const another = '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11';
    const immutable = { status: 422, reason: 'Invalid', causes: ['metadata.uid FieldValueInvalid'] };
    expect([
      refusal(await patch(pod, another)),
      refusal(await patch(`${pod}/status`, another)),
      refusal(await patch(held, another)),
    ]).toEqual([immutable, immutable, immutable]);
    expect((await patch(pod, metadata.uid)).status).toBe(200);
  });

  it('refuses a name other than that of the path', async () => {
    const pods = paths.pods(await server().namespace());
    await make(pods, smallPod('x'));
    expect([
      refusal(await put(`${pods}/x`, smallPod('y'))),
      refusal(await server().send('PATCH', `${pods}/x`, { body: { metadata: { name: 'y' } }, headers: mergePatch })),
    ]).toEqual([
      { status: 400, reason: 'BadRequest' },
      { status: 400, reason: 'BadRequest' },
    ]);
  });

  it('without a resourceVersion overwrites, except for a Lease', async () => {
    const namespace = await server().namespace();
    const { pods, services, slices, leases } = paths;
    await make(pods(namespace), smallPod('x'));
    await make(services(namespace), service('x', { clusterIP: 'None', selector: { a: 'b' } }));
    await make(slices(namespace), slice('x', {}));
    await make(leases(namespace), lease('x'));
    const labels = { labels: { changed: 'yes' } };
    expect((await put(`${pods(namespace)}/x`, smallPod('x', labels))).status).toBe(200);
    expect(
      (await put(`${services(namespace)}/x`, service('x', { clusterIP: 'None', selector: { a: 'b' } }, labels))).status,
    ).toBe(200);
    expect((await put(`${slices(namespace)}/x`, slice('x', {}, labels))).status).toBe(200);
    expect(refusal(await put(`${leases(namespace)}/x`, lease('x', {}, labels)))).toEqual({
      status: 422,
      reason: 'Invalid',
      causes: ['metadata.resourceVersion FieldValueInvalid'],
    });
  });

  it('of a missing object creates it only for Services and Leases, and only without a UID', async () => {
    const namespace = await server().namespace();
    const { pods, services, slices, leases } = paths;
    const spec = { clusterIP: 'None' };
    const replies = [
      await put(`${services(namespace)}/a`, service('a', spec)),
      await put(`${services(namespace)}/b`, service('b', spec, { resourceVersion: '1' })),
      await put(`${services(namespace)}/c`, service('c', spec, { uid: 'x' })),
      await put(`${leases(namespace)}/a`, lease('a')),
      await put(`${leases(namespace)}/b`, lease('b', {}, { uid: 'x', resourceVersion: '1' })),
      await put(`${pods(namespace)}/a`, smallPod('a')),
      await put(`${slices(namespace)}/a`, slice('a', {})),
    ];
    expect(replies.map((reply) => reply.status)).toEqual([201, 201, 409, 201, 409, 404, 404]);
  });

  it('keeps the status; an update of the status keeps all but metadata', async () => {
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

  it('by merge patch merges objects, removes nulls and replaces lists', async () => {
    const pods = paths.pods(await server().namespace());
    await make(pods, smallPod('x', { labels: { a: '1', b: '2' }, finalizers: ['example.com/a', 'example.com/b'] }));
    const body = { metadata: { labels: { a: null, c: '3' }, annotations: { n: 'x' }, finalizers: ['example.com/c'] } };
    const { metadata } = read(await server().send('PATCH', `${pods}/x`, { body, headers: mergePatch }));
    await server().send('PATCH', `${pods}/x`, { body: { metadata: { finalizers: null } }, headers: mergePatch });
    expect(metadata).toMatchObject({ annotations: { n: 'x' }, finalizers: ['example.com/c'] });
    expect(metadata.labels).toEqual({ b: '2', c: '3' });
  });

  it('by JSON patch applies all operations or none', async () => {
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
      refusal(
        await apply([
          { op: 'test', path: '/metadata/labels/a', value: '1' },
          { op: 'remove', path: '/metadata/labels' },
        ]),
      ),
      refusal(await apply([{ op: 'remove', path: '/metadata/labels/zzz' }])),
      refusal(await apply([{ op: 'replace', path: '/metadata/nothing/a', value: '1' }])),
    ]).toEqual([wrong, wrong, wrong]);
    const last = [
      { op: 'remove', path: '/metadata/finalizers' },
      { op: 'replace', path: '/metadata/labels/new', value: '1' },
    ];
    expect(read(await apply(last)).metadata.labels).toEqual({ a: '3', c: '3', d: '2', new: '1' });
  });

  it('by patch refuses an unknown type, invalid JSON and a missing object', async () => {
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
