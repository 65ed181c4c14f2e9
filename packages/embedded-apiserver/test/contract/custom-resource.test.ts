import { eventually } from '@kube-semaphore/eventually';
import { globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read, refusal, type Server } from './harness.ts';
import { networkSet, object, paths } from './objects.ts';

const sets = paths.networkSets;
const mergePatch = { 'content-type': 'application/merge-patch+json' };

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

/** Both definitions, once per server. */
async function define(server: Server): Promise<void> {
  if (defined.has(server)) return;
  defined.add(server);
  await server.cluster.defineResource(globalNetworkSetCrd('projectcalico.org'));
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
