import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { type EmbeddedCluster, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { Codec, podKind, type WatchEvent } from '@kube-semaphore/kube-objects';
import { createPod, deletePod, pod, type ScriptedAnswer, startScriptedServer } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { KubeClient } from '../src/index.ts';
import { openClient, signal } from './open-client.ts';

const pods = new Codec(podKind);
const longTimeouts = { timeoutSeconds: 60, idleTimeoutMs: 50_000, signal } as const;

type Event = WatchEvent<{ readonly metadata: { readonly name: string } }>;
type Stream = Awaited<ReturnType<KubeClient['watch']>>;

/** What an event says, in a few words. */
function told(event: Event): string {
  switch (event.type) {
    case 'BOOKMARK':
      return event.initialEventsEnd ? 'initial events end' : `bookmark ${event.resourceVersion}`;
    case 'ERROR':
      return `error ${event.status.code}`;
    case 'DELETED':
      return `DELETED ${event.metadata.name}`;
    default:
      return `${event.type} ${event.object.metadata.name}`;
  }
}

/** The events up to one that says `last`, or up to the end, and the error that the stream ended with. */
async function read(stream: Stream, last?: string): Promise<{ events: string[]; error?: unknown }> {
  const events: string[] = [];
  try {
    for await (const batch of stream) {
      events.push(...batch.map((event) => told(event as Event)));
      if (last !== undefined && events.includes(last)) break;
    }
    return { events };
  } catch (error) {
    return { events, error };
  }
}

describe.each([{ jsonOnly: false }, { jsonOnly: true }])(
  'a watch of a server with jsonOnly: $jsonOnly',
  ({ jsonOnly }) => {
    let cluster: EmbeddedCluster;
    let token: string;
    let proxy: FaultProxy;
    let client: KubeClient;
    let connection: Connection;

    beforeAll(async () => {
      cluster = await startEmbeddedCluster({ name: 'c1', jsonOnly, bookmarkIntervalMs: 50 });
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }];
      ({ token } = await cluster.account('reader', rules));
      proxy = await startFaultProxy(cluster);
    });

    beforeEach(async () => {
      ({ client, connection } = await openClient(await proxy.kubeconfig(token)));
    });

    afterEach(async () => {
      await proxy.clear();
      const left = await cluster.admin.list('/api/v1/pods');
      await Promise.all(left.map(({ metadata }) => deletePod(cluster.admin, metadata)));
    });

    afterAll(async () => {
      await proxy.stop();
      await cluster.stop();
    });

    const create = (name: string) => createPod(cluster.admin, pod({ name, ips: ['10.0.0.1'] }));
    const listed = async () => (await client.list(pods, { signal })).resourceVersion;

    it('yields what changes after a version', async () => {
      await create('before');
      const stream = await client.watch(pods, { ...longTimeouts, resourceVersion: await listed() });
      await create('a');
      await deletePod(cluster.admin, { name: 'before' });
      const { events } = await read(stream, 'DELETED before');
      expect(events.filter((event) => !event.startsWith('bookmark'))).toEqual([
        'ADDED a',
        'MODIFIED a',
        'MODIFIED before',
        'DELETED before',
      ]);
    });

    it('yields what exists, and then an end of the initial events, as a WatchList', async () => {
      await create('a');
      const { events } = await read(
        await client.watch(pods, { ...longTimeouts, sendInitialEvents: true }),
        'initial events end',
      );
      expect(events).toEqual(['ADDED a', 'initial events end']);
    });

    it('yields bookmarks', async () => {
      const resourceVersion = await listed();
      const stream = await client.watch(pods, { ...longTimeouts, resourceVersion });
      const { events } = await read(stream, `bookmark ${resourceVersion}`);
      expect(events).toEqual([`bookmark ${resourceVersion}`]);
    });

    it('yields an ERROR event with its Status', async () => {
      await proxy.set({ kind: 'answer', status: 410, as: 'event' });
      expect(await read(await client.watch(pods, longTimeouts))).toEqual({ events: ['error 410'] });
    });

    it('yields an ERROR event if its version is too old', async () => {
      const resourceVersion = await listed();
      await create('a');
      cluster.compact();
      const outcome = await client
        .watch(pods, { ...longTimeouts, resourceVersion })
        .then(read, (error: unknown) => ({ error }));
      expect(outcome).toEqual({ events: ['error 410'] });
    });

    it('ends normally after timeoutSeconds', async () => {
      const { error } = await read(
        await client.watch(pods, { ...longTimeouts, timeoutSeconds: 1, resourceVersion: await listed() }),
      );
      expect(error).toBeUndefined();
    });

    it('fails when it ends within an event', async () => {
      await create('a');
      await proxy.set({ kind: 'truncate', after: 'mid-event', by: 'clean' });
      const { error } = await read(await client.watch(pods, { ...longTimeouts, sendInitialEvents: true }));
      expect(error).toMatchObject({ code: 'KUBE_DECODE' });
    });

    it.each(['reset', 'close'] as const)('fails with KUBE_CONNECTION when its connection ends by %s', async (by) => {
      const stream = await client.watch(pods, { ...longTimeouts, resourceVersion: await listed() });
      await proxy.set({ kind: 'cut', everyMs: 50, by });
      expect((await read(stream)).error).toMatchObject({ code: 'KUBE_CONNECTION' });
    });

    it('fails with KUBE_IDLE when it freezes', async () => {
      const stream = await client.watch(pods, { ...longTimeouts, idleTimeoutMs: 500, resourceVersion: await listed() });
      await proxy.set({ kind: 'stall' });
      const { error } = await read(stream);
      expect(error).toMatchObject({ code: 'KUBE_IDLE', message: 'the watch sent no event for 500 ms' });
    });

    it('closes its connection when the reader leaves', async () => {
      const stream = await client.watch(pods, { ...longTimeouts, sendInitialEvents: true });
      await read(stream, 'initial events end');
      const { agent } = await connection.authorize({ signal });
      await eventually(() => Object.keys(agent.sockets), []);
    });
  },
);

it('gets a list of a server that answers 410 to an old token', async () => {
  const cluster = await startEmbeddedCluster({ name: 'c1' });
  onTestFinished(() => cluster.stop());
  const { client } = await openClient(cluster.adminKubeconfig);
  cluster.seed(['a', 'b', 'c'].map((name) => pod({ name })));
  const first = await client.list(pods, { limit: 2, signal });
  cluster.compact();
  const second = client.list(pods, { limit: 2, continue: first.continue, signal });
  await expect(second).rejects.toMatchObject({ code: 'KUBE_API', status: 410, reason: 'Expired' });
});

describe('a watch of a broken server', () => {
  const added = (name: string) =>
    `${JSON.stringify({ type: 'ADDED', object: { apiVersion: 'v1', kind: 'Pod', metadata: { name } } })}\n`;

  async function watched(answer: ScriptedAnswer, idleTimeoutMs = 50_000) {
    const server = await startScriptedServer([], answer);
    onTestFinished(server.stop);
    const { client } = await openClient(server.kubeconfig);
    return client.watch(pods, { ...longTimeouts, idleTimeoutMs });
  }

  const sends =
    (...chunks: readonly string[]): ScriptedAnswer =>
    async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const chunk of chunks) await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
    };

  it('yields the good events of a chunk before it fails at the bad one', async () => {
    const { events, error } = await read(await watched(sends(`${added('a')}${added('b')}rubbish\n${added('c')}`)));
    expect(events).toEqual(['ADDED a', 'ADDED b']);
    expect(error).toMatchObject({ code: 'KUBE_DECODE' });
  });

  it('gives way to the event loop while it has many events', async () => {
    const stream = await watched(sends(Array.from({ length: 200 }, (_, i) => added(`pod-${i}`)).join('')));
    let most = 0;
    let inTurn = 0;
    let counting = setImmediate(function count() {
      inTurn = 0;
      counting = setImmediate(count);
    });
    for await (const batch of stream) {
      most = Math.max(most, ++inTurn);
      const beganAt = performance.now();
      while (performance.now() - beganAt < 3);
      if (batch.some((event) => told(event as Event) === 'ADDED pod-199')) break;
    }
    clearImmediate(counting);
    // Two batches take 6 ms; the count of a turn begins before or after them.
    expect(most).toBeLessThanOrEqual(4);
  });

  it('makes the server wait while its reader does', async () => {
    const enough = 64;
    let sent = 0;
    const { promise: waits, resolve } = Promise.withResolvers<void>();
    const flood = async (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const megabyte = added('a').repeat(10_000);
      for (; sent < enough && !response.destroyed; sent++)
        if (!response.write(megabyte)) {
          const timer = setTimeout(resolve, 500);
          await once(response, 'drain');
          clearTimeout(timer);
        }
      resolve();
    };
    for await (const _ of await watched((_, response) => void flood(response))) {
      await waits;
      break;
    }
    expect(sent).toBeLessThan(enough);
  });

  it('yields an event that arrives in pieces once', async () => {
    const text = added('a');
    const { events } = await read(await watched(sends(text.slice(0, 9), text.slice(9), added('b'))), 'ADDED b');
    expect(events).toEqual(['ADDED a', 'ADDED b']);
  });

  it('fails when one event is larger than 10 MiB', async () => {
    const { error } = await read(await watched(sends('x'.repeat(10 * 1024 * 1024 + 1))));
    expect(error).toMatchObject({ code: 'KUBE_DECODE', message: expect.stringContaining('larger than') });
  });

  it('fails with KUBE_IDLE when it sends bytes and ends no event', async () => {
    const trickle: ScriptedAnswer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 10);
      response.once('close', () => clearInterval(timer));
    };
    expect((await read(await watched(trickle, 300))).error).toMatchObject({ code: 'KUBE_IDLE' });
  });

  it('gets another idle timeout from setIdleTimeout', async () => {
    const stream = await watched(sends(added('a')));
    stream.setIdleTimeout(300);
    expect(await read(stream)).toMatchObject({ events: ['ADDED a'], error: { code: 'KUBE_IDLE' } });
  });
});
