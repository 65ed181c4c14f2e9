import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read, refusal, type Server } from './harness.ts';
import { object, paths, smallPod } from './objects.ts';

const names = (items: readonly KubeObject[]) => items.map(({ metadata }) => metadata.name);

async function makePods(server: Server, namespace: string, wanted: readonly string[]): Promise<void> {
  for (const name of wanted)
    await server.cluster.admin.create(paths.pods(namespace), smallPod(name, { labels: { name } }));
}

onEachServer('a list', (server) => {
  const list = async (path: string) => {
    const reply = await server().send('GET', path);
    const { kind, apiVersion, metadata, items } = read(reply);
    return { status: reply.status, kind, apiVersion, metadata, items };
  };

  it('is ordered by namespace and name, and its items do not name their kind', async () => {
    const [first, second] = [await server().namespace(), await server().namespace()];
    await makePods(server(), second, ['b', 'a']);
    await makePods(server(), first, ['c', 'a.b', 'a-b']);
    const { kind, apiVersion, items } = await list('/api/v1/pods');
    const seen = items.filter(({ metadata }) => [first, second].includes(metadata.namespace!));
    expect({ kind, apiVersion, keys: Object.keys(items[0]!).toSorted() }).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      keys: ['metadata', 'spec', 'status'],
    });
    expect(names(seen)).toEqual(['a-b', 'a.b', 'c', 'a', 'b']);
  });

  it('has consistent pages, whatever changes meanwhile', async () => {
    const namespace = await server().namespace();
    await makePods(server(), namespace, ['a', 'b', 'c', 'd', 'e']);
    const path = `${paths.pods(namespace)}?limit=2`;
    const one = await list(path);
    await server().cluster.admin.delete(`${paths.pods(namespace)}/c`);
    await makePods(server(), namespace, ['f']);
    const two = await list(`${path}&continue=${one.metadata['continue'] as string}`);
    const three = await list(`${path}&continue=${two.metadata['continue'] as string}`);
    expect([one, two, three].map(({ items }) => names(items))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect([one, two, three].map(({ metadata }) => metadata['remainingItemCount'])).toEqual([3, 1, undefined]);
    expect(three.metadata['continue'] ?? '').toBe('');
    expect(two.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
    expect(three.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
  });

  it('counts the remaining items only without a selector', async () => {
    const namespace = await server().namespace();
    await makePods(server(), namespace, ['a', 'b', 'c']);
    const { items, metadata } = await list(`${paths.pods(namespace)}?limit=1&labelSelector=name!%3Da`);
    expect({ names: names(items), left: metadata['remainingItemCount'], more: Boolean(metadata['continue']) }).toEqual({
      names: ['b'],
      left: undefined,
      more: true,
    });
  });

  it('ignores the limit with resourceVersion=0, and a negative one', async () => {
    const namespace = await server().namespace();
    await makePods(server(), namespace, ['a', 'b']);
    // With resourceVersion=0 the answer may be older than the pods; a consistent read before it waits for them.
    await list(paths.pods(namespace));
    expect(names((await list(`${paths.pods(namespace)}?limit=1&resourceVersion=0`)).items)).toEqual(['a', 'b']);
    expect(names((await list(`${paths.pods(namespace)}?limit=-1`)).items)).toEqual(['a', 'b']);
  });

  it('has the resourceVersion of the cluster, even if it is empty', async () => {
    const namespace = await server().namespace();
    const { metadata } = await server().cluster.admin.create(
      paths.leases(namespace),
      object('coordination.k8s.io/v1 Lease', 'x'),
    );
    const { metadata: empty, items } = await list(paths.services(namespace));
    expect(items).toEqual([]);
    expect(Number(empty.resourceVersion)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
  });

  it('of a namespace that does not exist is empty', async () => {
    expect(await list(paths.pods('nowhere'))).toMatchObject({ status: 200, items: [] });
  });

  const forbidden = 'FieldValueForbidden';
  it.each([
    {
      what: 'a resourceVersion that is not a number',
      query: 'resourceVersion=x',
      want: { status: 400, reason: 'BadRequest' },
    },
    { what: 'a limit that is not a number', query: 'limit=x', want: { status: 400, reason: 'BadRequest' } },
    { what: 'an unknown continue token', query: 'continue=x', want: { status: 400, reason: 'BadRequest' } },
    {
      what: 'a field without a selector',
      query: 'fieldSelector=spec.x%3Dy',
      want: { status: 400, reason: 'BadRequest' },
    },
    {
      what: 'an invalid label selector',
      query: 'labelSelector=a%20in',
      want: { status: 400, reason: 'BadRequest' },
    },
    {
      what: 'an invalid field selector',
      query: 'fieldSelector=a',
      want: { status: 400, reason: 'BadRequest' },
    },
    {
      what: 'sendInitialEvents',
      query: 'sendInitialEvents=true',
      want: { status: 422, reason: 'Invalid', causes: [`sendInitialEvents ${forbidden}`] },
    },
    {
      what: 'resourceVersionMatch without a resourceVersion',
      query: 'resourceVersionMatch=NotOlderThan',
      want: { status: 422, reason: 'Invalid', causes: [`resourceVersionMatch ${forbidden}`] },
    },
    {
      what: 'a resourceVersion of the future, after three seconds',
      query: 'resourceVersion=100000000',
      want: { status: 504, reason: 'Timeout', causes: ['ResourceVersionTooLarge'] },
    },
  ])('refuses $what', async ({ query, want }) => {
    expect(refusal(await server().send('GET', `/api/v1/pods?${query}`))).toEqual(want);
  });
});

onEachServer('a selector', (server) => {
  const labels = [{}, { app: 'web' }, { app: 'web', tier: 'front' }, { app: 'db', tier: 'back' }, { tier: '' }];

  it('selects objects by label in every notation', async () => {
    const namespace = await server().namespace();
    for (const [index, each] of labels.entries()) {
      await server().cluster.admin.create(paths.pods(namespace), smallPod(`p${index}`, { labels: each }));
    }
    const picked = async (selector: string) => {
      const items = await server().cluster.admin.list(
        `${paths.pods(namespace)}?labelSelector=${encodeURIComponent(selector)}`,
      );
      return names(items).join(' ');
    };
    const selectors = [
      '',
      'app=web',
      'app==web',
      'app!=web',
      'app in (web,db)',
      'app notin (web, x)',
      'app',
      '!app',
      'tier=',
      'app,tier in (front)',
      'app=web,tier!=front',
      ' app = web ,!tier',
      'app in (web),app notin (web)',
    ];
    expect(Object.fromEntries(await Promise.all(selectors.map(async (text) => [text, await picked(text)])))).toEqual({
      '': 'p0 p1 p2 p3 p4',
      'app=web': 'p1 p2',
      'app==web': 'p1 p2',
      'app!=web': 'p0 p3 p4',
      'app in (web,db)': 'p1 p2 p3',
      'app notin (web, x)': 'p0 p3 p4',
      app: 'p1 p2 p3',
      '!app': 'p0 p4',
      'tier=': 'p4',
      'app,tier in (front)': 'p2',
      'app=web,tier!=front': 'p1',
      ' app = web ,!tier': 'p1',
      'app in (web),app notin (web)': '',
    });
  });

  it('selects pods by name, namespace, phase, node and host network', async () => {
    const namespace = await server().namespace();
    const pods = paths.pods(namespace);
    await server().cluster.admin.create(pods, smallPod('plain'));
    await server().cluster.admin.create(pods, smallPod('host', {}, { hostNetwork: true }));
    await server().cluster.admin.create(pods, smallPod('placed', {}, { nodeName: 'n1' }));
    await server().cluster.admin.request('PATCH', `${pods}/plain/status`, { status: { phase: 'Running' } });
    const picked = async (selector: string) =>
      names(await server().cluster.admin.list(`${pods}?fieldSelector=${encodeURIComponent(selector)}`)).join(' ');
    const selectors = [
      'metadata.name=host',
      `metadata.namespace=${namespace}`,
      'status.phase=Running',
      'status.phase!=Running',
      'spec.nodeName=n1',
      'spec.nodeName=',
      'spec.hostNetwork=true',
      'spec.hostNetwork=false,status.phase==Pending',
    ];
    expect(await Promise.all(selectors.map(picked))).toEqual([
      'host',
      'host placed plain',
      'plain',
      'host placed',
      'placed',
      'host plain',
      'host',
      'placed',
    ]);
  });
});
