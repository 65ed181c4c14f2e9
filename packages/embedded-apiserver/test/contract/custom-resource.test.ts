import { eventually } from '@kube-semaphore/eventually';
import { globalNetworkSetCrd, type WatchEvent } from '@kube-semaphore/testkit';
import { beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read, refusal, type Server } from './harness.ts';
import { networkSet, object, paths } from './objects.ts';

const sets = paths.networkSets;
const mergePatch = { 'content-type': 'application/merge-patch+json' };
const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

/** The group in which Calico stores the same kind, which takes any nets, or none. */
const stored = sets.replace('projectcalico.org/v3', 'crd.projectcalico.org/v1');
const storedSet = (name: string, rest: Readonly<Record<string, unknown>> = {}) =>
  object('crd.projectcalico.org/v1 GlobalNetworkSet', name, rest);

/** A kind with a status, namespaced, in two versions. */
const gadgets: KubeObject = object('apiextensions.k8s.io/v1 CustomResourceDefinition', 'gadgets.example.com', {
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', shortNames: ['gd'] },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {} },
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
});

const defined = new WeakSet<Server>();

/** All definitions, once per server. */
async function define(server: Server): Promise<void> {
  if (defined.has(server)) return;
  defined.add(server);
  await server.cluster.defineResource(globalNetworkSetCrd('projectcalico.org'));
  await server.cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
  await server.cluster.defineResource(gadgets);
}

onEachServer('a custom resource', (server) => {
  beforeAll(() => define(server()));

  it('names its kind in every answer', async () => {
    const made = await server().cluster.admin.create(sets, networkSet('named', { nets: [] }));
    const list = read(await server().send('GET', sets));
    const watch = await server().watch(`${sets}?watch=1&fieldSelector=metadata.name%3Dnamed`);
    const kind = { apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkSet' };
    expect([made, list.items[0], (await watch.next())?.object]).toMatchObject([kind, kind, kind]);
    expect(list).toMatchObject({ apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkSetList' });
    watch.close();
  });

  it('is served as JSON only', async () => {
    const accept = (text: string) => server().send('GET', sets, { headers: { accept: text } });
    const both = await accept('application/vnd.kubernetes.protobuf,application/json');
    expect({ status: both.status, type: both.contentType }).toEqual({ status: 200, type: 'application/json' });
    expect((await accept('application/vnd.kubernetes.protobuf')).status).toBe(406);
  });

  it('increments its generation when the spec changes', async () => {
    const { admin } = server().cluster;
    const first = await admin.create(sets, networkSet('counted', { nets: [] }));
    const patch = async (body: unknown) =>
      (await admin.request('PATCH', `${sets}/counted`, body)).body.metadata['generation'];
    expect([
      first.metadata['generation'],
      await patch({ metadata: { labels: { a: 'b' } } }),
      await patch({ spec: { nets: ['192.0.2.1/32'] } }),
      await patch({ spec: { nets: ['192.0.2.1/32'] } }),
    ]).toEqual([1, 1, 2, 2]);
  });

  it('loses fields that its schema does not have', async () => {
    const made = await server().cluster.admin.create(sets, networkSet('pruned', { nets: ['192.0.2.1/32'], more: 1 }));
    expect(made['spec']).toEqual({ nets: ['192.0.2.1/32'] });
  });

  const required = (field: string) => ({ status: 422, reason: 'Invalid', causes: [`${field} FieldValueRequired`] });
  it.each([
    {
      what: 'a duplicate in a set',
      body: networkSet('x', { nets: ['192.0.2.1/32', '192.0.2.1/32'] }),
      want: { status: 422, reason: 'Invalid', causes: ['spec.nets[1] FieldValueDuplicate'] },
    },
    {
      what: 'a number for a string',
      body: networkSet('x', { nets: [1] }),
      want: { status: 422, reason: 'Invalid', causes: ['spec.nets[0] FieldValueTypeInvalid'] },
    },
    { what: 'no spec', body: object('projectcalico.org/v3 GlobalNetworkSet', 'x'), want: required('spec') },
    { what: 'no kind', body: { metadata: { name: 'x' }, spec: {} }, want: { status: 400, reason: 'BadRequest' } },
  ])('refuses $what', async ({ body, want }) => {
    expect(refusal(await server().send('POST', sets, { body }))).toEqual(want);
  });

  it('refuses a PUT without a resourceVersion, a stale PUT, and a PUT of a missing object', async () => {
    await server().cluster.admin.create(sets, networkSet('updated', { nets: [] }));
    const put = (name: string, metadata = {}) =>
      server().send('PUT', `${sets}/${name}`, { body: networkSet(name, { nets: [] }, metadata) });
    expect([
      refusal(await put('updated')),
      refusal(await put('updated', { resourceVersion: '1' })),
      refusal(await put('missing', { resourceVersion: '1' })),
      refusal(await put('missing')),
    ]).toEqual([
      { status: 422, reason: 'Invalid', causes: ['metadata.resourceVersion FieldValueInvalid'] },
      { status: 409, reason: 'Conflict' },
      { status: 404, reason: 'NotFound' },
      { status: 404, reason: 'NotFound' },
    ]);
  });

  it('is deleted with preconditions and a Status, and has a field selector for its name only', async () => {
    const { metadata } = await server().cluster.admin.create(sets, networkSet('deleted', { nets: [] }));
    const selected = read(await server().send('GET', `${sets}?fieldSelector=metadata.name%3Ddeleted`)).items;
    expect(selected.map((item) => item.metadata.name)).toEqual(['deleted']);
    expect(refusal(await server().send('GET', `${sets}?fieldSelector=spec.nets%3Dx`))).toEqual({
      status: 400,
      reason: 'BadRequest',
    });
    const remove = (uid: string) => server().send('DELETE', `${sets}/deleted`, { body: { preconditions: { uid } } });
    expect(refusal(await remove('x'))).toEqual({ status: 409, reason: 'Conflict' });
    expect(read(await remove(metadata.uid!))).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  it('has a status subresource if defined, and the same objects in each version', async () => {
    const namespace = await server().namespace();
    const gadgetsIn = (version: string) => `/apis/example.com/${version}/namespaces/${namespace}/gadgets`;
    const gadget = object('example.com/v1 Gadget', 'x', { spec: { size: 1 }, status: { ready: true } });
    const made = await server().cluster.admin.create(gadgetsIn('v1'), gadget);
    expect(made).not.toHaveProperty('status');
    const body = { spec: { size: 2 }, status: { ready: true } };
    const after = read(await server().send('PATCH', `${gadgetsIn('v2')}/x/status`, { body, headers: mergePatch }));
    expect(after).toMatchObject({ apiVersion: 'example.com/v2', spec: { size: 1 }, status: { ready: true } });
    expect(after.metadata).toMatchObject({ generation: 1 });
    const again = read(
      await server().send('PATCH', `${gadgetsIn('v1')}/x`, {
        body: { spec: { size: 3 }, status: null },
        headers: mergePatch,
      }),
    );
    expect(again).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 3 }, status: { ready: true } });
    expect(again.metadata).toMatchObject({ generation: 2 });
  });

  it('keeps its status and its generation in a PUT without them', async () => {
    const namespace = await server().namespace();
    const path = `/apis/example.com/v1/namespaces/${namespace}/gadgets`;
    const gadget = object('example.com/v1 Gadget', 'x', { spec: { size: 1 } });
    await server().cluster.admin.create(path, gadget);
    const body = { status: { ready: true } };
    const { metadata } = read(await server().send('PATCH', `${path}/x/status`, { body, headers: mergePatch }));
    const { name, uid, resourceVersion } = metadata;
    const changed = { ...gadget, metadata: { name, uid, resourceVersion, labels: { a: 'b' } } };
    const after = read(await server().send('PUT', `${path}/x`, { body: changed }));
    expect(after).toMatchObject({ metadata: { labels: { a: 'b' }, generation: 1 }, status: { ready: true } });
  });

  it('has a status that is written only if the version is that of the patch, whatever its UID', async () => {
    const path = `/apis/example.com/v1/namespaces/${await server().namespace()}/gadgets`;
    const { metadata } = await server().cluster.admin.create(path, object('example.com/v1 Gadget', 'x', { spec: {} }));
    const { uid, resourceVersion } = metadata;
    const patch = (known: object, name = 'x') =>
      server().send('PATCH', `${path}/${name}/status`, {
        body: { metadata: known, status: { ready: true } },
        headers: mergePatch,
      });
    const conflict = { status: 409, reason: 'Conflict' };
    expect([
      refusal(await patch({ uid, resourceVersion: '1' })),
      refusal(await patch({ uid, resourceVersion }, 'missing')),
    ]).toEqual([conflict, { status: 404, reason: 'NotFound' }]);
    const another = '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11';
    expect(read(await patch({ uid: another, resourceVersion }))).toMatchObject({
      metadata: { uid },
      status: { ready: true },
    });
    expect(refusal(await patch({ uid, resourceVersion }))).toEqual(conflict);
    const whole = await server().send('PATCH', `${path}/x`, {
      body: { metadata: { uid: another } },
      headers: mergePatch,
    });
    expect(refusal(whole)).toEqual({ status: 422, reason: 'Invalid', causes: ['metadata.uid FieldValueInvalid'] });
  });

  it('needs a namespace that exists, if it is namespaced', async () => {
    const body = object('example.com/v1 Gadget', 'x', { spec: {} });
    const reply = await server().send('POST', '/apis/example.com/v1/namespaces/nowhere/gadgets', { body });
    expect(refusal(reply)).toEqual({ status: 404, reason: 'NotFound' });
  });

  it('has a DNS subdomain as its name', async () => {
    const create = async (name: string) => {
      const reply = await server().send('POST', sets, { body: networkSet(name, { nets: [] }) });
      return reply.status === 201 ? 201 : refusal(reply);
    };
    const badName = { status: 422, reason: 'Invalid', causes: ['metadata.name FieldValueInvalid'] };
    const names = ['c2-a.b', '1', 'a'.repeat(253), 'c2-default-My_App', 'c2-default-', 'a'.repeat(254)];
    expect(await Promise.all(names.map(create))).toEqual([201, 201, 201, badName, badName, badName]);
  });

  it('is another object than one of the same kind and name in another group', async () => {
    const { admin } = server().cluster;
    const [one, other] = [
      await admin.create(sets, networkSet('both', { nets: ['192.0.2.1/32'] })),
      await admin.create(stored, storedSet('both', { spec: { nets: ['192.0.2.1/32', '192.0.2.1/32'] } })),
    ];
    expect(one.metadata.uid).not.toBe(other.metadata.uid);
    expect(refusal(await server().send('POST', stored, { body: storedSet('both') }))).toEqual({
      status: 409,
      reason: 'AlreadyExists',
    });
    await admin.delete(`${sets}/both`);
    expect(await admin.get(`${stored}/both`)).toEqual(other);
  });

  it('may lose its spec and its labels, unless its schema requires them', async () => {
    const { admin } = server().cluster;
    await admin.create(stored, storedSet('bare'));
    const body = { spec: { nets: ['x'] }, metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } };
    const full = read(await server().send('PATCH', `${stored}/bare`, { body, headers: mergePatch }));
    expect(full).toMatchObject(body);
    const nothing = { spec: null, metadata: { labels: null, annotations: null } };
    const after = read(await server().send('PATCH', `${stored}/bare`, { body: nothing, headers: mergePatch }));
    expect(after).not.toHaveProperty('spec');
    expect(Object.keys(after.metadata)).not.toEqual(expect.arrayContaining(['labels']));
    expect(Object.keys(after.metadata)).not.toEqual(expect.arrayContaining(['annotations']));
    await admin.create(sets, networkSet('strict', { nets: [] }));
    expect(
      refusal(await server().send('PATCH', `${sets}/strict`, { body: { spec: null }, headers: mergePatch })),
    ).toEqual(required('spec'));
  });

  it('is watched as JSON from a WatchList on, also by a client that prefers protobuf', async () => {
    const { admin } = server().cluster;
    await admin.create(stored, storedSet('listed', { spec: {} }));
    const accept = 'application/vnd.kubernetes.protobuf;stream=watch, application/json';
    const query = `${watchList}&fieldSelector=metadata.name%3Dlisted`;
    const watch = await server().watch(`${stored}?${query}`, { headers: { accept } });
    expect({ status: watch.status, type: watch.contentType }).toEqual({ status: 200, type: 'application/json' });
    const isInitialEnd = ({ object: { metadata } }: WatchEvent) =>
      metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
    const listed = await watch.until(isInitialEnd);
    await admin.delete(`${stored}/listed`);
    const after = await watch.until(({ type }) => type === 'DELETED');
    expect([listed[0], listed.at(-1), after.at(-1)]).toMatchObject([
      { type: 'ADDED', object: { kind: 'GlobalNetworkSet', metadata: { name: 'listed' } } },
      { type: 'BOOKMARK', object: { kind: 'GlobalNetworkSet' } },
      { type: 'DELETED', object: { kind: 'GlobalNetworkSet', metadata: { name: 'listed' } } },
    ]);
    watch.close();
  });

  it('is listed in consistent pages', async () => {
    const path = `/apis/example.com/v1/namespaces/${await server().namespace()}/gadgets`;
    const create = (name: string) =>
      server().cluster.admin.create(path, object('example.com/v1 Gadget', name, { spec: {} }));
    for (const name of ['a', 'c', 'd']) await create(name);
    const first = read(await server().send('GET', `${path}?limit=2`));
    for (const name of ['b', 'e']) await create(name);
    const token = first.metadata['continue'] as string;
    const second = read(await server().send('GET', `${path}?limit=2&continue=${token}`));
    expect([first, second].map(({ items }) => items.map(({ metadata }) => metadata.name))).toEqual([['a', 'c'], ['d']]);
    expect(second.metadata).toMatchObject({ resourceVersion: first.metadata.resourceVersion });
    expect(second.metadata['continue'] ?? '').toBe('');
  });

  it('is deleted with all others of its kind', async () => {
    const path = `/apis/example.com/v1/namespaces/${await server().namespace()}/gadgets`;
    for (const name of ['a', 'b'])
      await server().cluster.admin.create(path, object('example.com/v1 Gadget', name, { spec: {} }));
    expect((await server().send('DELETE', path)).status).toBe(200);
    expect(await server().cluster.admin.list(path)).toEqual([]);
  });

  it('has a group from its definition on', async () => {
    const group = 'example.edu';
    const root = `/apis/${group}`;
    const status = async (path: string) => (await server().send('GET', path)).status;
    const all = [root, `${root}/v1`, `${root}/v1/later`, `${root}/v1/later/x`, `${root}/v1/later?${watchList}`];
    expect(await Promise.all(all.map(status))).toEqual([404, 404, 404, 404, 404]);
    await server().cluster.defineResource(
      object('apiextensions.k8s.io/v1 CustomResourceDefinition', `later.${group}`, {
        spec: {
          group,
          scope: 'Cluster',
          names: { kind: 'Later', plural: 'later', singular: 'later' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      }),
    );
    await eventually(() => status(root), 200);
    expect(read(await server().send('GET', root))).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: `${group}/v1` },
    });
    expect(await Promise.all(all.slice(1, 4).map(status))).toEqual([200, 200, 404]);
  });

  it('is deleted with its definition', async () => {
    const crd = object('apiextensions.k8s.io/v1 CustomResourceDefinition', 'passing.example.net', {
      spec: {
        group: 'example.net',
        scope: 'Cluster',
        names: { kind: 'Passing', plural: 'passing', singular: 'passing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    await server().cluster.defineResource(crd);
    await server().cluster.admin.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/passing.example.net');
    const gone = () => server().send('GET', '/apis/example.net/v1/passing');
    await eventually(async () => (await gone()).status, 404);
  });
});
