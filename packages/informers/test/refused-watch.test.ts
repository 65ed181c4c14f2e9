import type { Connection } from '@kube-semaphore/cluster-auth';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { createPod, pod, startCluster } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { connectTo, LONG_TIMEOUTS, reflectPods } from './reflect-pods.ts';

let cluster: TestCluster;
let token: string;
let proxy: FaultProxy;
let connection: Connection;

beforeAll(async () => {
  cluster = await startCluster({ name: 'c2' });
  ({ token } = await cluster.account('reader', [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }]));
});

afterAll(() => cluster.stop());

beforeEach(async () => {
  proxy = await startFaultProxy(cluster);
  connection = await connectTo(await proxy.kubeconfig(token));
});

afterEach(async () => {
  connection.close();
  await proxy.stop();
});

/** Reflects with a poll interval of a minute; pauses are recorded, and end at once. */
function reflect() {
  const pauses: number[] = [];
  const reflected = reflectPods(connection, {
    ...LONG_TIMEOUTS,
    pollIntervalMs: 60_000,
    sleep: (ms) => new Promise((resolve) => (pauses.push(ms), setImmediate(resolve))),
  });
  return { ...reflected, pauses };
}

// An API server that has just started answers like this until it has read its roles.
it('requests a watch again soon if it is refused for a moment', async () => {
  // A WatchList, the watch after the pages that replace it, and both once more.
  await proxy.set({ kind: 'answer', status: 403 }, { verb: 'watch', times: 4 });
  const { pauses, restarts, requests, store, stop } = reflect();
  await eventually(() => requests.filter((verb) => verb === 'watch').length === 5, true);
  await createPod(cluster.admin, pod({ name: 'late', ips: ['10.0.0.1'] }));
  await eventually(() => store.size === 1, true);
  await stop();
  expect(pauses).toEqual([2_000, 2_000]);
  expect(restarts).toEqual(['poll', 'poll']);
  // The refusal doesn't mean that the server lacks WatchList.
  expect(proxy.requests().at(-1)?.target).toContain('sendInitialEvents');
});

it('requests a watch once per poll while it is refused, and watches again when it is allowed', async () => {
  const undo = await proxy.set({ kind: 'answer', status: 403 }, { verb: 'watch' });
  const { pauses, requests, stop } = reflect();
  await eventually(() => pauses.length >= 6, true);
  await undo();
  const refused = requests.length;
  await eventually(() => requests.slice(refused).includes('watch'), true);
  await stop();
  expect(pauses.slice(0, 6)).toEqual([2_000, 2_000, 60_000, 60_000, 60_000, 60_000]);
});
