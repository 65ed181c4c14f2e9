import { expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { lease, paths, service, smallPod } from './objects.ts';

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
});
