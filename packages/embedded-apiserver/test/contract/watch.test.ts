import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { WatchEvent } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { onEachServer, refusal } from './harness.ts';
import { lease, paths, smallPod } from './objects.ts';

const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

const seen = (events: readonly (WatchEvent | undefined)[]) =>
  events.map((event) => event && `${event.type} ${event.object.metadata.name}`);

const isInitialEnd = ({ object }: WatchEvent) => object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';

onEachServer('a watch', (server) => {
  const admin = () => server().cluster.admin;

  it('without a resourceVersion begins with the present objects, then sends changes', async () => {
    const pods = paths.pods(await server().namespace());
    await admin().create(pods, smallPod('old'));
    const watch = await server().watch(`${pods}?watch=1`);
    expect({ status: watch.status, type: watch.contentType }).toEqual({ status: 200, type: 'application/json' });
    const first = await watch.next();
    await admin().create(pods, smallPod('new'));
    await admin().request('PATCH', `${pods}/old`, { metadata: { labels: { a: 'b' } } });
    await admin().delete(`${pods}/new`);
    const rest = await watch.take(4);
    // Also a pod that ends at once is marked first.
    expect(seen([first, ...rest])).toEqual(['ADDED old', 'ADDED new', 'MODIFIED old', 'MODIFIED new', 'DELETED new']);
    expect(rest[2]?.object.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    expect(first?.object).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
    const versions = [first!, ...rest].map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(5);
    watch.close();
  });

  it('from a resourceVersion replays later changes, in order', async () => {
    const pods = paths.pods(await server().namespace());
    const { metadata } = await admin().create(pods, smallPod('a'));
    await admin().request('PATCH', `${pods}/a`, { metadata: { labels: { n: '1' } } });
    await admin().request('PATCH', `${pods}/a`, { metadata: { labels: { n: '2' } } });
    await admin().delete(`${pods}/a`);
    await admin().create(pods, smallPod('a'));
    const watch = await server().watch(`${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    const events = await watch.take(5);
    expect(events.map(({ type, object }) => `${type} ${object.metadata.labels?.['n'] ?? '-'}`)).toEqual([
      'MODIFIED 1',
      'MODIFIED 2',
      'MODIFIED 2',
      'DELETED 2',
      'ADDED -',
    ]);
    expect(new Set(events.map(({ object }) => object.metadata.uid)).size).toBe(2);
    watch.close();
  });

  it('sends ADDED when an object begins to match its selector, and DELETED with the last match when it stops', async () => {
    const pods = paths.pods(await server().namespace());
    const label = (app: string, n: string) =>
      admin().request('PATCH', `${pods}/a`, { metadata: { labels: { app, n } } });
    const { metadata } = await admin().create(pods, smallPod('a', { labels: { app: 'x', n: '0' } }));
    const watch = await server().watch(
      `${pods}?watch=1&labelSelector=app%3Dy&resourceVersion=${metadata.resourceVersion}`,
    );
    await label('y', '1');
    await label('y', '2');
    const { body } = await label('x', '3');
    await label('y', '4');
    const events = await watch.take(4);
    expect(events.map(({ type, object }) => `${type} ${object.metadata.labels?.['n']}`)).toEqual([
      'ADDED 1',
      'MODIFIED 2',
      'DELETED 2',
      'ADDED 4',
    ]);
    expect(events[2]?.object.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    watch.close();
  });

  it('with a field selector follows the phase', async () => {
    const pods = paths.pods(await server().namespace());
    await admin().create(pods, smallPod('a'));
    const watch = await server().watch(`${pods}?watch=1&fieldSelector=status.phase%3DRunning`);
    for (const phase of ['Running', 'Succeeded'])
      await admin().request('PATCH', `${pods}/a/status`, { status: { phase } });
    const events = await watch.take(2);
    expect(events.map(({ type, object }) => `${type} ${(object['status'] as { phase: string }).phase}`)).toEqual([
      'ADDED Running',
      'DELETED Running',
    ]);
    watch.close();
  });

  it('of one namespace sees no other; a watch of all sees every one', async () => {
    const [one, other] = [await server().namespace(), await server().namespace()];
    const now = (await admin().get('/api/v1/pods?limit=1')).metadata.resourceVersion;
    const narrow = await server().watch(`${paths.pods(one)}?watch=1&resourceVersion=${now}`);
    const wide = await server().watch(`/api/v1/pods?watch=1&resourceVersion=${now}`);
    await admin().create(paths.pods(other), smallPod('theirs'));
    await admin().create(paths.pods(one), smallPod('ours'));
    expect(seen([await narrow.next()])).toEqual(['ADDED ours']);
    expect(seen(await wide.take(2))).toEqual(['ADDED theirs', 'ADDED ours']);
    narrow.close();
    wide.close();
  });

  it('ends when its timeoutSeconds are over', async () => {
    const watch = await server().watch(`${paths.pods(await server().namespace())}?watch=1&timeoutSeconds=1`);
    expect(await watch.until(() => false)).toEqual([]);
  });

  it('with allowWatchBookmarks sends a bookmark shortly before it ends', async () => {
    const [silent, other] = [await server().namespace(), await server().namespace()];
    let pods = 0;
    const create = async () => (await admin().create(paths.pods(other), smallPod(`p${pods++}`))).metadata;
    // The bookmark comes two seconds before the end. Retries, because a busy machine may be too slow for it.
    const object = await eventually(async () => {
      const before = await create();
      const query = `watch=1&timeoutSeconds=4&allowWatchBookmarks=true&resourceVersion=${before.resourceVersion}`;
      const watch = await server().watch(`${paths.pods(silent)}?${query}`);
      const after = await create();
      const events = await watch.until(() => false);
      expect(events.filter(({ type }) => type !== 'BOOKMARK')).toEqual([]);
      const last = events.at(-1)?.object;
      return Number(last?.metadata.resourceVersion) >= Number(after.resourceVersion) ? last : undefined;
    }, isDefined);
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
    expect(object.metadata.annotations).toBeUndefined();
  });

  it('from a resourceVersion in the future sends nothing', async () => {
    const pods = paths.pods(await server().namespace());
    const watch = await server().watch(`${pods}?watch=1&timeoutSeconds=2&resourceVersion=100000000`);
    await admin().create(pods, smallPod('a'));
    expect({ status: watch.status, events: await watch.until(() => false) }).toEqual({ status: 200, events: [] });
  });

  const causes = ['resourceVersionMatch FieldValueForbidden'];
  it.each([
    {
      what: 'a resourceVersion that is not a number',
      query: 'watch=1&resourceVersion=x',
      want: { status: 500, reason: undefined },
    },
    {
      what: 'sendInitialEvents without resourceVersionMatch',
      query: 'watch=1&sendInitialEvents=true',
      want: { status: 422, reason: 'Invalid', causes },
    },
    {
      what: 'resourceVersionMatch without sendInitialEvents',
      query: 'watch=1&resourceVersionMatch=NotOlderThan',
      want: { status: 422, reason: 'Invalid', causes },
    },
    {
      what: 'a field without a selector',
      query: 'watch=1&fieldSelector=a%3Db',
      want: { status: 400, reason: 'BadRequest' },
    },
  ])('refuses $what before it begins', async ({ query, want }) => {
    expect(refusal(await server().send('GET', `/api/v1/pods?${query}`))).toEqual(want);
  });
});

onEachServer('a WatchList', (server) => {
  const admin = () => server().cluster.admin;

  it('lists, ends the list with a bookmark, then sends changes', async () => {
    const pods = paths.pods(await server().namespace());
    for (const name of ['a', 'b', 'c']) await admin().create(pods, smallPod(name));
    const watch = await server().watch(`${pods}?${watchList}`);
    const events = await watch.until(isInitialEnd);
    // In no order that a client could count on.
    expect(new Set(seen(events.slice(0, -1)))).toEqual(new Set(['ADDED a', 'ADDED b', 'ADDED c']));
    const end = events.at(-1)!;
    expect(end).toMatchObject({ type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod' } });
    expect(Object.keys(end.object.metadata.annotations ?? {})).toEqual(['k8s.io/initial-events-end']);
    const { metadata } = await admin().create(pods, smallPod('d'));
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(end.object.metadata.resourceVersion));
    expect(seen([await watch.next()])).toEqual(['ADDED d']);
    watch.close();
  });

  it('of no objects sends only a bookmark, with the resourceVersion of the cluster', async () => {
    const namespace = await server().namespace();
    const { metadata } = await admin().create(paths.leases(namespace), lease('x'));
    const watch = await server().watch(`${paths.pods(namespace)}?${watchList}`);
    const event = (await watch.next())!;
    expect(isInitialEnd(event)).toBe(true);
    expect(Number(event.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
    watch.close();
  });

  it('is implied by a watch from any version that allows bookmarks', async () => {
    const pods = paths.pods(await server().namespace());
    await admin().create(pods, smallPod('a'));
    for (const query of ['', '&resourceVersion=0']) {
      const watch = await server().watch(`${pods}?watch=1&allowWatchBookmarks=true${query}`);
      expect(seen(await watch.until(isInitialEnd))).toEqual(['ADDED a', expect.stringContaining('BOOKMARK')]);
      watch.close();
    }
  });

  it('with a selector lists the selected objects', async () => {
    const pods = paths.pods(await server().namespace());
    for (const app of ['x', 'y']) await admin().create(pods, smallPod(app, { labels: { app } }));
    const watch = await server().watch(`${pods}?${watchList}&labelSelector=app%3Dy`);
    expect(seen(await watch.until(isInitialEnd))).toEqual(['ADDED y', expect.stringContaining('BOOKMARK')]);
    watch.close();
  });

  it('without allowWatchBookmarks sends no bookmark after the list', async () => {
    const pods = paths.pods(await server().namespace());
    await admin().create(pods, smallPod('a'));
    const watch = await server().watch(
      `${pods}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    expect(seen(await watch.until(() => false))).toEqual(['ADDED a']);
  });

  it('without initial events sends only changes', async () => {
    const pods = paths.pods(await server().namespace());
    await admin().create(pods, smallPod('old'));
    const query = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await server().watch(`${pods}?${query}`);
    await admin().create(pods, smallPod('new'));
    const events = await watch.until(({ type }) => type === 'ADDED');
    expect(seen(events.filter(({ type }) => type === 'ADDED'))).toEqual(['ADDED new']);
    watch.close();
  });

  it('from a resourceVersion in the future fails after three seconds', async () => {
    const watch = await server().watch(`/api/v1/pods?${watchList}&resourceVersion=100000000`);
    const events = await watch.until(() => false);
    expect({ status: watch.status, events }).toMatchObject({
      status: 200,
      events: [
        {
          type: 'ERROR',
          object: {
            kind: 'Status',
            code: 504,
            reason: 'Timeout',
            details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
          },
        },
      ],
    });
  });
});
