// Both: every app depends on these lists, watches and restarts.
import type { Connection } from '@kube-semaphore/cluster-auth';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { Codec, podKind } from '@kube-semaphore/kube-objects';
import { createPod, deletePod, pod, startCluster } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectTo, LONG_TIMEOUTS, reflectPods } from '../reflect-pods.ts';

let cluster: TestCluster;
let connection: Connection;

beforeAll(async () => {
  cluster = await startCluster({ name: 'c2' });
  connection = await connectTo(cluster.adminKubeconfig);
});

afterAll(async () => {
  connection.close();
  await cluster.stop();
});

afterEach(async () => {
  const pods = await cluster.admin.list('/api/v1/pods');
  await Promise.all(pods.map(({ metadata }) => deletePod(cluster.admin, metadata)));
});

const create = (name: string, ...ips: string[]) => createPod(cluster.admin, pod({ name, ips }));
const remove = (name: string) => deletePod(cluster.admin, { name });

/** Waits until the store is synced and has just these addresses. */
async function becomes(
  { addresses, store }: ReturnType<typeof reflectPods>,
  want: Record<string, string[]>,
): Promise<void> {
  await eventually(() => store.view.synced && JSON.stringify(addresses()) === JSON.stringify(want), true, {
    what: `a store of ${JSON.stringify(want)}`,
  });
}

/** How it asks first. The oldest Kubernetes refuses a WatchList. */
const firstBy = {
  auto: process.env['KUBERNETES'] === 'oldest' ? ['watch', 'list', 'watch'] : ['watch'],
  never: ['list', 'watch'],
};

describe.each([{ watchList: 'auto' }, { watchList: 'never' }] as const)(
  'Reflector with WatchList: $watchList',
  ({ watchList }) => {
    const first = firstBy[watchList];

    it('lists what exists, and follows what is added, changed and deleted', async () => {
      await create('a', '10.0.0.1');
      const reflected = reflectPods(connection, { ...LONG_TIMEOUTS, watchList });
      await becomes(reflected, { 'default/a': ['10.0.0.1'] });
      await create('b', '10.0.0.2', 'fd00::2');
      await becomes(reflected, { 'default/a': ['10.0.0.1'], 'default/b': ['10.0.0.2', 'fd00::2'] });
      await remove('a');
      await becomes(reflected, { 'default/b': ['10.0.0.2', 'fd00::2'] });
      await reflected.stop();
      expect(reflected.requests).toEqual(first);
      expect(reflected.restarts).toEqual([]);
    });

    it('is synced and empty where nothing exists', async () => {
      const reflected = reflectPods(connection, { watchList });
      await eventually(() => reflected.store.view.synced, true);
      await reflected.stop();
      expect(reflected.addresses()).toEqual({});
    });

    it('finds, after the API server was down, what was deleted and what was created again under an old name', async () => {
      await Promise.all([create('stays', '10.0.0.1'), create('goes', '10.0.0.2'), create('anew', '10.0.0.3')]);
      const reflected = reflectPods(connection, { watchList, idleTimeoutMs: 90_000 });
      await eventually(() => reflected.store.view.synced, true);
      reflected.changes.length = 0;
      await cluster.restart();
      await Promise.all([remove('goes'), remove('anew')]);
      await create('anew', '10.0.0.3');
      await eventually(() => 'default/goes' in reflected.addresses(), false);
      await eventually(
        () => reflected.changes.some(({ key, current }) => key === 'default/anew' && current?.ips.length === 1),
        true,
      );
      await reflected.stop();
      expect(reflected.changes.filter(({ key }) => key === 'default/stays')).toEqual([]);
      expect(reflected.changes.some(({ key, current }) => key === 'default/anew' && current === undefined)).toBe(true);
      expect(reflected.addresses()).toEqual({ 'default/anew': ['10.0.0.3'], 'default/stays': ['10.0.0.1'] });
    });

    it('lists again on request', async () => {
      await create('a', '10.0.0.1');
      const reflected = reflectPods(connection, { ...LONG_TIMEOUTS, watchList });
      await becomes(reflected, { 'default/a': ['10.0.0.1'] });
      await eventually(() => [...reflected.requests], first);
      reflected.reflector.relist();
      // What a server lacks isn't asked for again.
      await eventually(() => [...reflected.requests], [...first, ...first.slice(-2)]);
      await reflected.stop();
      expect(reflected.restarts).toEqual([]);
    });
  },
);

it('opens a silent watch again, from where it was', async () => {
  await create('a', '10.0.0.1');
  const reflected = reflectPods(connection, { ...LONG_TIMEOUTS, idleTimeoutMs: 300 });
  await eventually(() => reflected.restarts.filter((reason) => reason === 'idle').length >= 2, true);
  await create('b', '10.0.0.2');
  await becomes(reflected, { 'default/a': ['10.0.0.1'], 'default/b': ['10.0.0.2'] });
  await reflected.stop();
  // One WatchList; after that, a check of the history and a watch each time.
  expect(reflected.requests.slice(0, 5)).toEqual(['watch', 'list', 'watch', 'list', 'watch']);
  expect(reflected.changes.filter(({ key }) => key === 'default/a')).toHaveLength(1);
});

it('continues without a field selector that the server does not know', async () => {
  await create('a', '10.0.0.1');
  const reflected = reflectPods(connection, { ...LONG_TIMEOUTS, fieldSelector: 'spec.noSuchField=x' });
  await becomes(reflected, { 'default/a': ['10.0.0.1'] });
  await reflected.stop();
  expect(reflected.restarts[0]).toBe('rejected');
});

it('lists again and again where watching is forbidden', async () => {
  const account = await cluster.account('list-only', [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  ]);
  const limited = await connectTo(account.kubeconfig);
  await create('a', '10.0.0.1');
  const reflected = reflectPods(limited, LONG_TIMEOUTS);
  await becomes(reflected, { 'default/a': ['10.0.0.1'] });
  await create('b', '10.0.0.2');
  await becomes(reflected, { 'default/a': ['10.0.0.1'], 'default/b': ['10.0.0.2'] });
  await remove('a');
  await becomes(reflected, { 'default/b': ['10.0.0.2'] });
  await reflected.stop();
  limited.close();
  expect(new Set(reflected.restarts)).toEqual(new Set(['poll']));
});

it('does not store the answer to a write of ours that the watch has overtaken', async () => {
  const answer = await create('a', '10.0.0.1');
  const reflected = reflectPods(connection, LONG_TIMEOUTS);
  await becomes(reflected, { 'default/a': ['10.0.0.1'] });
  await remove('a');
  await becomes(reflected, {});
  reflected.reflector.wrote(new Codec(podKind).objectFromJson(answer));
  expect(reflected.store.size).toBe(0);
  await reflected.stop();
});

it('rechecks at most once every few seconds, however often it is asked', async () => {
  let later = 0;
  const reflected = reflectPods(connection, { ...LONG_TIMEOUTS, watchList: 'never', now: () => later });
  const count = (verb: string) => reflected.requests.filter((each) => each === verb).length;
  const watched = (times: number) => eventually(() => count('watch') === times, true, { what: `watch ${times}` });
  await watched(1);
  reflected.reflector.recheck();
  await watched(2);
  reflected.reflector.recheck();
  // If that had ended the watch, another list would bring this Pod.
  await create('a', '10.0.0.1');
  await becomes(reflected, { 'default/a': ['10.0.0.1'] });
  expect(count('list')).toBe(2);
  later = 5_000;
  reflected.reflector.recheck();
  await watched(3);
  expect(count('list')).toBe(3);
  await reflected.stop();
});

it('rechecks later if it is asked again too soon', async () => {
  let later = 0;
  const reflected = reflectPods(connection, { ...LONG_TIMEOUTS, watchList: 'never', now: () => later });
  const listed = (times: number) =>
    eventually(() => reflected.requests.filter((verb) => verb === 'list').length === times, true, {
      what: `list ${times}`,
    });
  await listed(1);
  reflected.reflector.recheck();
  await listed(2);
  later = 4_990;
  reflected.reflector.recheck();
  expect(await listed(3)).toBe(true);
  await reflected.stop();
});

it('ends at once when aborted, whatever it waits for', async () => {
  const reflected = reflectPods(connection, { ...LONG_TIMEOUTS, idleTimeoutMs: 3_600_000 });
  await eventually(() => reflected.store.view.synced, true);
  // Its watch is silent: the timeout of that would come long after the end of this test.
  await reflected.stop();
});
