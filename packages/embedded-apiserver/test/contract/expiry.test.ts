import { eventually, isDefined } from '@kube-semaphore/eventually';
import { globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read, type Server } from './harness.ts';
import { lease, networkSet, paths, smallPod } from './objects.ts';

const names = (items: readonly KubeObject[]) => items.map(({ metadata }) => metadata.name);

async function makePods(server: Server, pods: string, wanted: readonly string[]): Promise<KubeObject[]> {
  const made: KubeObject[] = [];
  for (const name of wanted) made.push(await server.cluster.admin.create(pods, smallPod(name)));
  return made;
}

onEachServer('what a restart forgets', (server) => {
  it('ends an old watch with an ERROR event, and open watches without one', async () => {
    const pods = paths.pods(await server().namespace());
    const [first] = await makePods(server(), pods, ['a', 'b', 'c']);
    const open = await server().watch(`${pods}?watch=1&resourceVersion=${first!.metadata.resourceVersion}`);
    expect((await open.take(2)).map(({ object }) => object.metadata.name)).toEqual(['b', 'c']);
    const cut = open.next().then(
      () => 'an event',
      (error: Error) => (error as NodeJS.ErrnoException).code,
    );
    await server().cluster.restart();
    expect(await cut).toBe('ECONNRESET');

    const watch = await server().watch(`${pods}?watch=1&resourceVersion=${first!.metadata.resourceVersion}`);
    const events = await watch.until(() => false);
    expect({ status: watch.status, events }).toMatchObject({
      status: 200,
      events: [{ type: 'ERROR', object: { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' } }],
    });
    expect(events[0]?.object['message']).toMatch(/^too old resource version: \d+ \(\d+\)$/);
    expect(names(await server().cluster.admin.list(pods))).toEqual(['a', 'b', 'c']);
  });
});

onEachServer('what a restart keeps', (server) => {
  it('is all objects, definitions, rights and tokens, and versions go on', async () => {
    const namespace = await server().namespace();
    const { cluster } = server();
    const { admin, url } = cluster;
    await cluster.defineResource(globalNetworkSetCrd('projectcalico.org'));
    const set = await admin.create(paths.networkSets, networkSet('x', { nets: [] }));
    const held = await admin.create(paths.leases(namespace), lease('x', { holderIdentity: 'me' }));
    const { token } = await cluster.account('lasting', [
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    ]);
    const [pod] = await makePods(server(), paths.pods(namespace), ['a']);
    await cluster.restart();
    expect(cluster.url).toBe(url);
    // A real server that has just started may answer 403, 404 or 429 until it knows its roles and definitions.
    const listed = async (path: string, as?: string) => {
      const reply = await server().send('GET', path, { ...(as !== undefined && { token: as }) });
      return reply.status === 200 ? read(reply).items.map(({ metadata }) => metadata) : [];
    };
    await eventually(async () => (await listed(paths.networkSets)).map(({ uid }) => uid), [set.metadata.uid]);
    await eventually(
      async () => (await listed(paths.pods(namespace), token)).map(({ uid }) => uid),
      [pod!.metadata.uid],
    );
    expect(await admin.get(`${paths.leases(namespace)}/x`)).toEqual(held);

    const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await server().watch(`${paths.pods(namespace)}?${watchList}`, { token });
    const { resourceVersion } = held.metadata;
    const renewed = await server().send('PUT', `${paths.leases(namespace)}/x`, {
      body: lease('x', { holderIdentity: 'other' }, { resourceVersion }),
    });
    expect(Number(read(renewed).metadata.resourceVersion)).toBeGreaterThan(Number(pod!.metadata.resourceVersion));
    await makePods(server(), paths.pods(namespace), ['b']);
    const events = await watch.until(({ object }) => object.metadata.name === 'b');
    watch.close();
    const added = events
      .filter(({ type }) => type !== 'BOOKMARK')
      .map(({ type, object }) => `${type} ${object.metadata.name}`);
    expect(added).toEqual(['ADDED a', 'ADDED b']);
  });
});

onEachServer(
  'what compaction forgets',
  (server) => {
    it('expires a continue token, and offers one that continues with the present objects', async () => {
      const pods = paths.pods(await server().namespace());
      await makePods(server(), pods, ['a', 'b', 'c']);
      const page = read(await server().send('GET', `${pods}?limit=1`));
      const next = `${pods}?limit=1&continue=${page.metadata['continue'] as string}`;
      await makePods(server(), pods, ['aa', 'd']);
      server().compact();
      const gone = await eventually(
        async () => {
          const reply = await server().send('GET', next);
          return reply.status === 410 ? read(reply) : undefined;
        },
        isDefined,
        { intervalMs: 200 },
      );
      expect(gone).toMatchObject({ kind: 'Status', reason: 'Expired', code: 410 });
      const rest: KubeObject[] = [];
      for (let token = gone.metadata['continue'] as string; token;) {
        const reply = await server().send('GET', `${pods}?limit=2&continue=${token}`);
        // This token may expire meanwhile, too; then ask again.
        if (reply.status !== 410) rest.push(...read(reply).items);
        token = read(reply).metadata['continue'] as string;
      }
      expect(names(rest)).toEqual(['aa', 'b', 'c', 'd']);
    });

    it('does not lose events of an open watch', async () => {
      const pods = paths.pods(await server().namespace());
      const watch = await server().watch(`${pods}?watch=1`);
      server().compact();
      await makePods(server(), pods, ['a']);
      expect((await watch.next())?.object.metadata.name).toBe('a');
      watch.close();
    });
  },
  { apiserverFlags: { 'etcd-compaction-interval': '1s' } },
);
