import { setTimeout as delay } from 'node:timers/promises';
import { KubeClient } from '@kube-semaphore/kube-client';
import { podKind } from '@kube-semaphore/kube-objects';
import { createPod, pod, startEmbeddedCluster, startFaultProxy, waitFor } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { Reflector, Store } from '../src/index.ts';
import { connectTo, reflectPods } from './reflect-pods.ts';

async function setup(n = 5) {
  const cluster = await startEmbeddedCluster({ name: 'c' });
  cluster.seed(Array.from({ length: n }, (_, i) => pod({ name: `p${i}`, ips: ['10.0.0.1'] })));
  const { token } = await cluster.account('x', [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }]);
  const proxy = await startFaultProxy(cluster);
  const connection = await connectTo(await proxy.kubeconfig(token));
  return { cluster, proxy, connection };
}

it('F3 a WatchList that is ended in peace before its bookmark', async () => {
  const { proxy, connection } = await setup();
  const undo = await proxy.set({ kind: 'truncate', after: 0, by: 'clean' }, { verb: 'watch', times: 1 });
  const r = reflectPods(connection, { idleTimeoutMs: 90_000 });
  await waitFor('synced', () => r.store.view.synced || undefined);
  await undo();
  const before = proxy.requests().length;
  r.reflector.relist();
  await waitFor('relisted', () => proxy.requests().length >= before + 2 || undefined).catch(() => {});
  console.log('F3', r.restarts, proxy.requests().map(({ verb, target }) => `${verb} ${target.includes('sendInitial') ? 'WatchList' : ''}`));
  await r.stop();
});

it('F3b a WatchList that is stalled for a moment', async () => {
  const { proxy, connection } = await setup();
  const undo = await proxy.set({ kind: 'stall' }, { verb: 'watch', times: 1 });
  const r = reflectPods(connection, { idleTimeoutMs: 90_000 });
  await waitFor('synced', () => r.store.view.synced || undefined);
  await undo();
  const before = proxy.requests().length;
  r.reflector.relist();
  await waitFor('relisted', () => proxy.requests().length >= before + 2 || undefined).catch(() => {});
  console.log('F3b', r.restarts, proxy.requests().map(({ verb, target }) => `${verb} ${target.includes('sendInitial') ? 'WatchList' : ''}`));
  await r.stop();
});

it('F2 a page that is cut after 19 bytes', async () => {
  const { proxy, connection } = await setup(30);
  const r = reflectPods(connection, { watchList: 'never', idleTimeoutMs: 90_000 });
  await waitFor('synced', () => r.store.view.synced || undefined);
  r.changes.length = 0;
  await proxy.set({ kind: 'truncate', after: 19, by: 'clean' }, { verb: 'list', times: 1 });
  r.reflector.relist();
  await waitFor('a loss', () => r.changes.length > 0 || undefined).catch(() => {});
  console.log('F2', r.changes.filter(({ current }) => current === undefined).length, 'of 30 deleted');
  await r.stop();
});

it('F1 lists for ever, every watch expires', async () => {
  const { proxy, connection } = await setup(5);
  await proxy.set({ kind: 'answer', status: 410, as: 'event' }, { verb: 'watch' });
  const pauses: number[] = [];
  const aborter = new AbortController();
  const reflector = new Reflector({
    client: new KubeClient({ connection, userAgent: 'test' }), kind: podKind, watchList: 'never',
    project: ({ metadata }) => ({ uid: metadata.uid }), store: new Store<{ uid: string }>({ equal: () => true, onChange: () => {} }),
    idleTimeoutMs: 90_000, pollIntervalMs: 60_000, random: () => 0.5, sleep: async (ms) => void pauses.push(ms),
  });
  const done = reflector.run({ signal: aborter.signal });
  await waitFor('15', () => pauses.length >= 15 || undefined);
  aborter.abort(); await done;
  console.log('F1', pauses.slice(0, 15), proxy.requests().slice(0, 12).map(({ verb, target }) => `${verb} ${target}`));
});
