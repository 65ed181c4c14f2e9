import { eventually } from '@kube-semaphore/eventually';
import type { SeenRequest } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { itBehindProxies as it } from './support/it.ts';

const writes = (requests: readonly SeenRequest[]) => requests.filter(({ method }) => method !== 'GET');

/** Requested once, to compare the clusters. */
const KEYS = '/openid/v1/jwks';

const forPods = (requests: readonly SeenRequest[]) =>
  requests.filter(({ target }) => target.startsWith('/api/v1/pods?'));

const notForPods = (requests: readonly SeenRequest[]) =>
  requests.map(({ target }) => target).filter((target) => !target.startsWith('/api/v1/pods?'));

const podsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `app-${i}`, app: 'app', ips: [`10.4.1.${i}`] }));

describe('requests', () => {
  it('are one for each set that changes (Go made two)', async ({ localProxy, viaLocalProxy, pods, sets, start }) => {
    await start(viaLocalProxy);
    const before = localProxy.requests().length;
    await pods.add({ name: 'a', app: 'one', ips: ['10.4.0.1'] }, { name: 'b', app: 'two', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-one': ['10.4.0.1/32'], 'c2-default-two': ['10.4.0.2/32'] });
    await pods.add({ name: 'c', app: 'one', ips: ['10.4.0.3'] });
    await sets.become({ 'c2-default-one': ['10.4.0.1/32', '10.4.0.3/32'], 'c2-default-two': ['10.4.0.2/32'] });
    await pods.remove('b');
    await sets.become({ 'c2-default-one': ['10.4.0.1/32', '10.4.0.3/32'] });
    const made = localProxy.requests().slice(before);
    expect(made.map(({ method }) => method)).toEqual(['POST', 'POST', 'PUT', 'DELETE']);
  });

  it('are one watch for the pods of each label domain while none is chosen', async ({
    remoteProxy,
    viaRemoteProxy,
    pods,
    sets,
    start,
  }) => {
    await pods.add({ name: 'a', app: 'app', domain: 'policy.semaphore.uw.io', ips: ['10.4.0.1'] });
    await start(viaRemoteProxy);
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    const asked = forPods(remoteProxy.requests()).map(({ target }) =>
      new URLSearchParams(target.split('?')[1]).get('labelSelector'),
    );
    expect(asked).toHaveLength(2);
    expect(new Set(asked)).toEqual(new Set(['semaphore.uw.systems/name', 'policy.semaphore.uw.io/name']));
  });

  it('are one watch for the pods, and one for the sets', async ({
    localProxy,
    remoteProxy,
    viaLocalProxy,
    viaRemoteProxy,
    pods,
    sets,
    start,
  }) => {
    await pods.add(...podsOf(10));
    await start({ ...viaLocalProxy, ...viaRemoteProxy, 'label-domain': 'semaphore.uw.systems' });
    await eventually(async () => (await sets.nets())['c2-default-app']?.length, 10);
    const asked = [...remoteProxy.requests(), ...localProxy.requests()].filter(({ target }) =>
      target.includes('sendInitialEvents=true'),
    );
    expect(asked).toHaveLength(2);
    expect(forPods(remoteProxy.requests())).toHaveLength(1);
    expect(notForPods(remoteProxy.requests())).toEqual([KEYS]);
  });

  it('are none for each -pod-resync-period', async ({
    localProxy,
    remoteProxy,
    viaLocalProxy,
    viaRemoteProxy,
    pods,
    sets,
    start,
  }) => {
    await start({
      ...viaLocalProxy,
      ...viaRemoteProxy,
      'label-domain': 'semaphore.uw.systems',
      'pod-resync-period': '5ms',
      'min-write-interval': '0',
    });
    const apps = Array.from({ length: 20 }, (_, i) => ({ name: `app-${i}`, app: `app-${i}`, ips: [`10.4.0.${i}`] }));
    for (const [i, pod] of apps.entries()) {
      await pods.add(pod);
      await eventually(async () => (await sets.list()).length, i + 1);
    }
    // Each took longer than the period.
    expect(writes(localProxy.requests())).toHaveLength(20);
    expect(forPods(remoteProxy.requests())).toHaveLength(1);
    expect(notForPods(remoteProxy.requests())).toEqual([KEYS]);
  });

  it('are a list for each -full-store-resync-period', async ({ localProxy, viaLocalProxy, pods, sets, start }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await start({ ...viaLocalProxy, 'full-store-resync-period': '100ms' });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    const lists = () => localProxy.requests().filter(({ target }) => target.includes('sendInitialEvents=true')).length;
    await eventually(() => lists() >= 5, true);
    expect(writes(localProxy.requests())).toHaveLength(1);
  });
});

describe('-min-write-interval', () => {
  const INTERVAL_MS = 1_000;

  it('limits a rollout of 200 pods to a few writes', async ({ pods, sets, history, start }) => {
    await start({ 'min-write-interval': `${INTERVAL_MS}ms` });
    const began = performance.now();
    await pods.add(...podsOf(200));
    await eventually(async () => (await sets.nets())['c2-default-app']?.length, 200);
    const tookMs = performance.now() - began;
    await history.caughtUp();
    expect(history.versions('c2-default-app')).toBeLessThanOrEqual(5 + tookMs / INTERVAL_MS);
    expect(
      history.gaps(
        'app',
        podsOf(200).map(({ ips: [ip] }) => `${ip}/32`),
      ),
    ).toEqual([]);
  });

  it('lets a set be written five times at once', async ({ pods, sets, start }) => {
    await start({ 'min-write-interval': '1h' });
    for (let n = 0; n < 5; n++) {
      await pods.add({ name: `p${n}`, app: 'app', ips: [`10.4.0.${n}`] });
      await eventually(async () => (await sets.nets())['c2-default-app']?.length, n + 1);
    }
    await pods.add({ name: 'p5', app: 'app', ips: ['10.4.0.5'] });
    await pods.add({ name: 'other', app: 'other', ips: ['10.4.0.6'] });
    await eventually(async () => Object.keys(await sets.nets()).length, 2);
    expect((await sets.nets())['c2-default-app']).toHaveLength(5);
  });

  it('does not delay a single change', async ({ pods, sets, start }) => {
    await start({ 'min-write-interval': '1h' });
    for (const [i, app] of ['one', 'two', 'three'].entries()) {
      await pods.add({ name: app, app, ips: [`10.4.0.${i}`] });
      await eventually(async () => (await sets.list()).length, i + 1);
    }
  });
});
