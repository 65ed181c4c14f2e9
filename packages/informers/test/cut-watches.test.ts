import type { Connection } from '@kube-semaphore/cluster-auth';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { createPod, pod, startCluster } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectTo, LONG_TIMEOUTS, reflectPods } from './reflect-pods.ts';

let cluster: TestCluster;
let kubeconfig: string;
let proxy: FaultProxy;
let connection: Connection;

beforeAll(async () => {
  cluster = await startCluster({ name: 'c2' });
  const { token } = await cluster.account('reflector', [
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  ]);
  proxy = await startFaultProxy(cluster);
  kubeconfig = await proxy.kubeconfig(token);
  await createPod(cluster.admin, pod({ name: 'a', ips: ['10.0.0.1'] }));
});
afterAll(async () => {
  await proxy.stop();
  await cluster.stop();
});
beforeEach(async () => {
  connection = await connectTo(kubeconfig);
});
afterEach(async () => {
  connection.close();
  await proxy.clear();
});

type Restart = { readonly reason: string; readonly error: unknown };

/** A reflector whose restarts and accepted watches are recorded. */
function reflected(options: Parameters<typeof reflectPods>[1] = {}) {
  const restarts: Restart[] = [];
  let accepted = 0;
  const hooks = {
    onUp: () => void (accepted += 1),
    onRestart: ({ reason, error }: Restart) => void restarts.push({ reason, error }),
  };
  return { ...reflectPods(connection, { ...LONG_TIMEOUTS, ...options, hooks }), restarts, accepted: () => accepted };
}

describe('a watch whose connection ends', () => {
  it.each([
    { by: 'a reset', end: () => proxy.set({ kind: 'reset', connections: 'open' }) },
    { by: 'its peer', end: () => proxy.set({ kind: 'cut', everyMs: 1, by: 'close' }, { verb: 'watch' }) },
  ])('by $by is opened again, and nothing is wrong', async ({ end }) => {
    // It waits until the fault is over.
    let goOn = (): void => {};
    const sleep = () => new Promise<void>((resolve) => (goOn = resolve));
    const { restarts, accepted, stop } = reflected({ sleep });
    for (let cuts = 1; cuts <= 4; cuts++) {
      await eventually(accepted, cuts);
      await end();
      await eventually(() => restarts.length, cuts);
      await proxy.clear();
      goOn();
    }
    await eventually(accepted, 5);
    await stop();
    expect(restarts).toEqual(Array.from({ length: 4 }, () => ({ reason: 'cut', error: undefined })));
  });

  it('is an outage as soon as it can not be opened again', async () => {
    const { restarts, accepted, stop } = reflected();
    await eventually(accepted, 1);
    await proxy.set({ kind: 'reset', connections: 'all' });
    await eventually(() => restarts.length >= 2, true);
    await stop();
    expect(restarts.slice(0, 2)).toEqual([
      { reason: 'cut', error: undefined },
      { reason: 'unreachable', error: expect.objectContaining({ code: 'KUBE_CONNECTION' }) },
    ]);
  });
});

it.each([
  { name: 'cut', by: 'reset' },
  { name: 'ended', by: 'clean' },
] as const)('lists again if all watches are $name before the first bookmark, so that it knows', async ({ by }) => {
  let later = 0;
  // It waits until the fault is over: a request without an answer would be another reason for a list.
  let goOn = (): void => {};
  const sleep = () => new Promise<void>((resolve) => (goOn = resolve));
  const { store, restarts, accepted, stop } = reflected({ sleep, now: () => later });
  await eventually(() => store.view.synced, true);
  const lists = () => proxy.requests().filter(({ target }) => target.includes('sendInitialEvents')).length;
  const before = lists();
  for (const [round, unconfirmedMs] of [
    2 * LONG_TIMEOUTS.idleTimeoutMs,
    2 * LONG_TIMEOUTS.idleTimeoutMs + 1,
  ].entries()) {
    later = unconfirmedMs;
    await proxy.set({ kind: 'cut', everyMs: 1, by }, { verb: 'watch' });
    await eventually(() => restarts.length, round + 1);
    await proxy.clear();
    goOn();
    await eventually(accepted, round + 2);
    expect(lists() - before).toBe(round);
  }
  await stop();
});
