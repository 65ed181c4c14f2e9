import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import { type Endpoint, endpointOf, globalNetworkSetCrd, pod, send, WatchStream } from '@kube-semaphore/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { type EmbeddedCluster, type EmbeddedClusterOptions, startEmbeddedCluster } from '../src/index.ts';

const pods = '/api/v1/namespaces/default/pods';
const sets = '/apis/projectcalico.org/v3/globalnetworksets';
const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

let running: EmbeddedCluster | undefined;
let endpoint: Endpoint;

async function start(options: Partial<EmbeddedClusterOptions> = {}): Promise<EmbeddedCluster> {
  const cluster = await startEmbeddedCluster({ name: 'behaviour', ...options });
  running = cluster;
  const { token } = await cluster.account('all', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
  endpoint = await endpointOf(cluster, token);
  return cluster;
}

afterEach(async () => {
  endpoint.agent.destroy();
  await running?.stop();
});

const types = async (path: string) => {
  const watch = await WatchStream.open(endpoint, path);
  return (await watch.until(() => false)).map(({ type }) => type);
};

describe('an embedded cluster that ignores sendInitialEvents', () => {
  it('sends the initial events and no bookmark, for the given groups', async () => {
    const cluster = await start({ ignoreSendInitialEvents: ['projectcalico.org'] });
    await cluster.defineResource(globalNetworkSetCrd('projectcalico.org'));
    await cluster.admin.create(sets, {
      apiVersion: 'projectcalico.org/v3',
      kind: 'GlobalNetworkSet',
      metadata: { name: 'a' },
      spec: {},
    });
    expect(await types(`${sets}?${watchList}&timeoutSeconds=1`)).toEqual(['ADDED']);
    expect(await types(`${pods}?${watchList}&timeoutSeconds=1`)).toEqual(['BOOKMARK']);
  });

  it('does so for all groups', async () => {
    await start({ ignoreSendInitialEvents: true });
    expect(await types(`${pods}?${watchList}&timeoutSeconds=1`)).toEqual([]);
  });
});

describe('an embedded cluster that speaks JSON only', () => {
  it('answers JSON to a client that prefers protobuf, and 406 to one that accepts nothing else', async () => {
    await start({ jsonOnly: true });
    const accept = (text: string) => send(endpoint, 'GET', pods, { headers: { accept: text } });
    const both = await accept('application/vnd.kubernetes.protobuf,application/json');
    const strict = await accept('application/vnd.kubernetes.protobuf');
    expect([both.contentType, strict.status, strict.contentType]).toEqual([
      'application/json',
      406,
      'application/json',
    ]);
  });
});

describe('bookmarks of an embedded cluster', () => {
  it('are sent to watches that request them, with the resourceVersion of the cluster', async () => {
    const { admin } = await start({ bookmarkIntervalMs: 20 });
    const { metadata: begin } = await admin.get(`${pods}?limit=1`);
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${begin.resourceVersion}`;
    const watch = await WatchStream.open(endpoint, `${pods}?${query}`);
    const { metadata } = await admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'x' },
    });
    const events = await watch.until(
      ({ object }) => Number(object.metadata.resourceVersion) >= Number(metadata.resourceVersion),
    );
    watch.close();
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']));
    expect(events.at(-1)?.object.metadata.annotations).toBeUndefined();
    expect(await types(`${pods}?watch=1&timeoutSeconds=1`)).toEqual([]);
  });
});

describe('what a test can observe of an embedded cluster', () => {
  it('is each request, once, with its user and status', async () => {
    const cluster = await start();
    const { token } = await cluster.account('app', [
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    ]);
    cluster.clearRequests();
    const before = Date.now();
    const headers = { 'user-agent': 'app/1' };
    await send(endpoint, 'GET', '/api/v1/pods?limit=5', { token, headers });
    const watch = await WatchStream.open(endpoint, `${pods}?watch=1`, { token, headers });
    await send(endpoint, 'DELETE', `${pods}/x`, { token });
    await send(endpoint, 'PATCH', '/api/v1/nodes/n/status', { token: 'x' });
    watch.close();
    const app = { user: 'system:serviceaccount:kube-system:app', group: '' };
    expect(cluster.requests()).toMatchObject([
      {
        ...app,
        verb: 'list',
        path: '/api/v1/pods',
        query: 'limit=5',
        resource: 'pods',
        namespace: '',
        name: '',
        userAgent: 'app/1',
        status: 200,
      },
      { ...app, verb: 'watch', resource: 'pods', namespace: 'default', userAgent: 'app/1', status: 200 },
      { ...app, verb: 'delete', resource: 'pods', namespace: 'default', name: 'x', userAgent: '', status: 403 },
      { user: '', verb: 'patch', resource: 'nodes/status', name: 'n', status: 401 },
    ]);
    expect(cluster.requests().every(({ at }) => at >= before && at <= Date.now())).toBe(true);
  });

  it('is each write, before its client gets the answer', async () => {
    const cluster = await start();
    const { admin } = cluster;
    const seen: string[] = [];
    const stop = cluster.onWrite((write) => {
      const { type, resource, namespace, name, resourceVersion } = write;
      seen.push(`${type} ${resource} ${namespace}/${name}`);
      expect(write.object().metadata).toMatchObject({ name, resourceVersion });
    });
    await admin.create(pods, pod({ name: 'a' }));
    await admin.request('PATCH', `${pods}/a`, {});
    await admin.request('PATCH', `${pods}/a`, { metadata: { labels: { a: 'b' } } });
    await admin.delete(`${pods}/a`);
    stop();
    await admin.create(pods, pod({ name: 'b' }));
    const a = 'pods default/a';
    expect(seen).toEqual([`ADDED ${a}`, `MODIFIED ${a}`, `MODIFIED ${a}`, `DELETED ${a}`]);
  });
});

describe('what a test can do to an embedded cluster', () => {
  it('seeds objects with their status', async () => {
    const cluster = await start();
    const { admin } = cluster;
    cluster.seed(Array.from({ length: 30 }, (_, index) => pod({ name: `p${index}`, ips: [`192.0.2.${index}`] })));
    expect(await admin.list(`${pods}?fieldSelector=status.phase%3DRunning`)).toHaveLength(30);
    expect(() => cluster.seed([{ apiVersion: 'v9', kind: 'Pod', metadata: { name: 'x' } }])).toThrow(
      'no resource for v9 Pod',
    );
  });

  it('compacts: an old watch gets 410, an open one continues', async () => {
    const cluster = await start();
    const { admin } = cluster;
    const { metadata } = await admin.create(pods, pod({ name: 'a' }));
    await admin.create(pods, pod({ name: 'b' }));
    const open = await WatchStream.open(endpoint, `${pods}?watch=1`);
    await open.take(2);
    cluster.compact();
    const late = await WatchStream.open(endpoint, `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    expect(await late.until(() => false)).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    await admin.create(pods, pod({ name: 'c' }));
    expect((await open.next())?.object.metadata.name).toBe('c');
    open.close();
  });

  it('disconnects: watches are reset, and lose nothing when they return', async () => {
    const cluster = await start();
    const { admin } = cluster;
    const { metadata } = await admin.create(pods, pod({ name: 'a' }));
    const open = await WatchStream.open(endpoint, `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    const end = open.next().catch((error: NodeJS.ErrnoException) => error.code);
    cluster.disconnect();
    expect(await end).toBe('ECONNRESET');
    await admin.create(pods, pod({ name: 'b' }));
    const again = await WatchStream.open(endpoint, `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    expect((await again.next())?.object.metadata.name).toBe('b');
    again.close();
  });

  it('restarts it with the same port, objects and tokens', async () => {
    const cluster = await start();
    const { admin, url } = cluster;
    await admin.create(pods, pod({ name: 'a' }));
    await cluster.restart();
    expect(cluster.url).toBe(url);
    expect(await admin.list(pods)).toHaveLength(1);
    expect((await send(endpoint, 'GET', pods)).status).toBe(200);
  });

  it('stops it, even twice, and leaves no port, folder or open watch', async () => {
    const cluster = await start();
    const { url, dir } = cluster;
    const open = await WatchStream.open(endpoint, `${pods}?watch=1`);
    const end = open.next().catch((error: NodeJS.ErrnoException) => error.code);
    await cluster.stop();
    expect(await end).toBe('ECONNRESET');
    await cluster.stop();
    await expect(access(dir)).rejects.toThrow('ENOENT');
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    expect(((await once(socket, 'error')) as [NodeJS.ErrnoException])[0].code).toBe('ECONNREFUSED');
  });
});
