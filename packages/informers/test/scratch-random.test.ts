import { setTimeout as delay } from 'node:timers/promises';
import { createPod, deletePod, Dice, faultKinds, faultSeed, play, pod, randomSchedule, startEmbeddedCluster, startFaultProxy, waitFor } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { connectTo, reflectPods } from './reflect-pods.ts';

it.each(Array.from({ length: 12 }, (_, i) => ({ i, watchList: (['auto', 'never'] as const)[i % 2]!, longestMs: [100, 400, 1000][i % 3]! })))('random $i $watchList $longestMs', async ({ watchList, longestMs }) => {
  const seed = faultSeed({ env: {} });
  const cluster = await startEmbeddedCluster({ name: 'c', bookmarkIntervalMs: 100 });
  const stays = Array.from({ length: 30 }, (_, i) => `stays-${i}`);
  cluster.seed(stays.map((name) => pod({ name, ips: ['10.0.0.1'] })));
  const { token } = await cluster.account('x', [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }]);
  const proxy = await startFaultProxy(cluster);
  const connection = await connectTo(await proxy.kubeconfig(token));
  const r = reflectPods(connection, { watchList, idleTimeoutMs: 2000, requestIdleMs: 500 });
  await waitFor('synced', () => r.store.view.synced || undefined);
  const signal = AbortSignal.timeout(14_000);
  const dice = new Dice(seed);
  const present = new Set<string>();
  const churn = async () => {
    while (!signal.aborted) {
      const name = `pod-${dice.integer(0, 15)}`;
      if (present.delete(name)) await deletePod(cluster.admin, { name });
      else { await createPod(cluster.admin, pod({ name, ips: [`10.0.1.${dice.integer(1, 200)}`] })); present.add(name); }
      if (dice.integer(0, 50) === 0) cluster.compact();
      if (dice.integer(0, 200) === 0) await cluster.restart();
      await delay(dice.integer(0, 30));
    }
  };
  const [steps] = await Promise.all([play(proxy, randomSchedule(seed, { kinds: faultKinds.filter((k) => k !== 'empty'), longestMs }), { signal }), churn()]);
  const want = Object.fromEntries((await cluster.admin.list('/api/v1/pods')).map(({ metadata: { name, uid } }) => [`default/${name}`, uid]).toSorted());
  const got = () => (r.store.view.synced ? Object.fromEntries([...r.store.view.objects].map(([k, v]) => [k, v.uid]).toSorted()) : {});
  await waitFor('equal', () => JSON.stringify(got()) === JSON.stringify(want) || undefined, { timeoutMs: 20_000 }).catch(() => {});
  expect(got()).toEqual(want);
  expect(r.changes.filter(({ key, current }) => key.includes('stays') && !current)).toEqual([]);
  console.log(steps.length, 'steps', r.restarts.length, 'restarts', proxy.requests().length, 'requests', r.changes.length, 'changes');
  await r.stop(); connection.close(); await proxy.stop(); await cluster.stop();
});
