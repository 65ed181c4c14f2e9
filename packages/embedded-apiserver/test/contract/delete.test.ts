import { describe, expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { lease, paths, service, slice, smallPod } from './objects.ts';

onEachServer('a delete', (server) => {
  const remove = (path: string, body?: unknown) =>
    server().send('DELETE', path, { ...(body !== undefined && { body }) });

  it('checks its preconditions', async () => {
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

  it('returns the object for some kinds, and a Status for others', async () => {
    const namespace = await server().namespace();
    const { admin } = server().cluster;
    await admin.create(paths.pods(namespace), smallPod('x'));
    await admin.create(paths.services(namespace), service('x', { clusterIP: 'None' }));
    const { metadata } = await admin.create(paths.leases(namespace), lease('x'));
    expect(read(await remove(`${paths.pods(namespace)}/x`))).toMatchObject({ kind: 'Pod', metadata: { name: 'x' } });
    expect(read(await remove(`${paths.services(namespace)}/x`))).toMatchObject({
      kind: 'Service',
      metadata: { name: 'x' },
    });
    expect(read(await remove(`${paths.leases(namespace)}/x`))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'x', group: 'coordination.k8s.io', kind: 'leases', uid: metadata.uid },
    });
  });

  it('marks a pod on a node as terminating, until the grace period is 0', async () => {
    const namespace = await server().namespace();
    const pods = paths.pods(namespace);
    await server().cluster.admin.create(pods, smallPod('x', {}, { nodeName: 'n1' }));
    const marked = read(await remove(`${pods}/x`));
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    expect(marked.metadata).toHaveProperty('deletionTimestamp');
    expect(read(await remove(`${pods}/x?gracePeriodSeconds=60`)).metadata).toEqual(marked.metadata);
    expect(read(await remove(`${pods}/x?gracePeriodSeconds=10`)).metadata).toMatchObject({
      deletionGracePeriodSeconds: 10,
    });
    expect((await server().send('GET', `${pods}/x`)).status).toBe(200);
    expect((await remove(`${pods}/x?gracePeriodSeconds=0`)).status).toBe(200);
    expect((await server().send('GET', `${pods}/x`)).status).toBe(404);
  });

  it('of a collection deletes the selected objects', async () => {
    const pods = paths.pods(await server().namespace());
    for (const [name, app] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const) {
      await server().cluster.admin.create(pods, smallPod(name, { labels: { app } }));
    }
    expect((await remove(`${pods}?labelSelector=app%3Dx`)).status).toBe(200);
    const left = await server().cluster.admin.list(pods);
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  describe.each([
    { kind: 'Service', path: paths.services, body: service('x', { clusterIP: 'None' }) },
    { kind: 'EndpointSlice', path: paths.slices, body: slice('x', {}) },
    { kind: 'Pod', path: paths.pods, body: smallPod('x') },
  ])('of a $kind with a finalizer', ({ path, body }) => {
    const held = async () => {
      const collection = path(await server().namespace());
      const finalizers = ['example.com/a', 'example.com/b'];
      const made = await server().cluster.admin.create(collection, {
        ...body,
        metadata: { ...body.metadata, finalizers },
      });
      return { collection, object: `${collection}/x`, made };
    };
    const patch = (object: string, metadata: object) =>
      server().send('PATCH', object, {
        body: { metadata },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    const finalizers = (...letters: string[]) => ({ finalizers: letters.map((letter) => `example.com/${letter}`) });

    it('waits until it has none', async () => {
      const { object, collection, made } = await held();
      const answer = read(await remove(object));
      expect(answer).toMatchObject({ kind: made.kind, metadata: { deletionGracePeriodSeconds: 0 } });
      expect(answer.metadata).toHaveProperty('deletionTimestamp');
      expect(Number(answer.metadata['generation'] ?? 0)).toBe(made.metadata['generation'] === undefined ? 0 : 2);
      // A second one changes nothing.
      expect(read(await remove(object)).metadata).toEqual(answer.metadata);
      expect((await patch(object, { labels: { a: '1' }, ...finalizers('b') })).status).toBe(200);
      const { resourceVersion, ...left } = read(await server().send('GET', object)).metadata;
      expect(left).toMatchObject({ ...finalizers('b'), labels: { a: '1' }, uid: made.metadata.uid });
      const watch = await server().watch(`${collection}?watch=1&resourceVersion=${resourceVersion}`);
      expect(read(await patch(object, { labels: { a: '2' }, finalizers: null })).metadata).toMatchObject({
        labels: { a: '2' },
      });
      expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: finalizers('b') } });
      watch.close();
      expect((await server().send('GET', object)).status).toBe(404);
    });

    it('takes no new one', async () => {
      const { object } = await held();
      await remove(object);
      expect(refusal(await patch(object, finalizers('a', 'c')))).toEqual({
        status: 422,
        reason: 'Invalid',
        causes: ['metadata.finalizers FieldValueForbidden'],
      });
    });
  });

  it('of a namespace refuses new objects in it, while something in it has a finalizer', async () => {
    const namespace = await server().namespace();
    const slices = paths.slices(namespace);
    await server().cluster.admin.create(slices, slice('x', {}, { finalizers: ['example.com/a'] }));
    expect((await remove(`/api/v1/namespaces/${namespace}`)).status).toBe(200);
    const left = read(await server().send('GET', `/api/v1/namespaces/${namespace}`));
    expect(left).toMatchObject({ status: { phase: 'Terminating' } });
    const body = slice('y', {});
    expect(refusal(await server().send('POST', slices, { body }))).toEqual({
      status: 403,
      reason: 'Forbidden',
      causes: ['metadata.namespace NamespaceTerminating'],
    });
    expect((await server().send('PUT', `${slices}/x`, { body: { ...body, metadata: { name: 'x' } } })).status).toBe(
      200,
    );
  });
});
