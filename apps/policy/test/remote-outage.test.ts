import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxies as it } from './support/it.ts';
import { hasFailed, isUp } from './support/remote-state.ts';
import { labelsOf } from './support/sets.ts';

const staying = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const both = { 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] };

describe('a remote that goes away', () => {
  it('changes neither sets nor health (Go was unhealthy)', async ({
    remoteProxy,
    viaRemoteProxy,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(staying, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    const policy = await start(viaRemoteProxy);
    await sets.become(both);
    expect(await isUp(policy)).toBe(1);

    await remoteProxy.set({ kind: 'refuse' });
    await hasFailed(policy, 'unreachable');
    expect(await isUp(policy)).toBe(0);
    expect([(await policy.get('/readyz')).status, (await policy.get('/healthz')).status]).toEqual([200, 200]);
    expect(policy.log().filter(({ level, cluster }) => level === 'warn' && cluster === 'c2')).toHaveLength(1);

    await pods.remove('b');
    await pods.add({ name: 'c', app: 'app', ips: ['10.4.0.3'] });
    await remoteProxy.clear();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.3/32'] });
    expect(await isUp(policy)).toBe(1);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('can lose its history and pods meanwhile', async ({
    remoteProxy,
    viaRemoteProxy,
    remote,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(
      staying,
      { name: 'b', app: 'app', ips: ['10.4.0.2'] },
      { name: 'c', app: 'gone', ips: ['10.4.0.3'] },
      { name: 'e', app: 'job', ips: ['10.4.0.5'] },
    );
    await start(viaRemoteProxy);
    await sets.become({ ...both, 'c2-default-gone': ['10.4.0.3/32'], 'c2-default-job': ['10.4.0.5/32'] });
    await remoteProxy.set({ kind: 'refuse' });
    await pods.remove('b', 'c');
    await pods.setStatus('e', { phase: 'Succeeded' });
    await pods.add({ name: 'd', app: 'app', ips: ['10.4.0.4'] });
    await remote.restart();
    await remoteProxy.clear();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.4/32'] });
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('can restart during a watch', async ({ remote, pods, sets, history, start }) => {
    await pods.add(staying, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await start();
    await sets.become(both);
    await remote.restart();
    await pods.remove('b');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });
});

describe('a remote that is away from the start', () => {
  it('delays readiness, and its sets stay (Go had no /healthz)', async ({
    remoteProxy,
    viaRemoteProxy,
    pods,
    sets,
    history,
    start,
  }) => {
    await sets.add({ name: 'c2-default-app', labels: labelsOf('app'), nets: both['c2-default-app'] });
    await pods.add(staying);
    await remoteProxy.set({ kind: 'refuse' });
    const policy = await start(viaRemoteProxy, { ready: false });
    await eventually(() => policy.get('/readyz'), { status: 503, body: 'waiting for the first list of c2\n' });
    await hasFailed(policy, 'unreachable');
    expect((await policy.get('/healthz')).status).toBe(200);
    const lastError = { message: expect.stringContaining('ECONNREFUSED') as string };
    const c2 = { name: 'c2', up: false, synced: false, lastSync: null, lastError, objects: null };
    expect(await policy.status()).toMatchObject({ local: { up: true }, remotes: [c2] });
    expect(await sets.nets()).toEqual(both);

    await remoteProxy.clear();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await policy.ready();
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });
});
