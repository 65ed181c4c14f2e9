import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxies as it } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

const pod = (number: number) => ({ name: `app-${number}`, app: 'app', ips: [`10.4.0.${number}`] });
const nets = (...numbers: readonly number[]) => ({ 'c2-default-app': numbers.map((number) => `10.4.0.${number}/32`) });
const noted = (n: number) => ({ metadata: { annotations: { note: String(n) } } });
const localUp = ['semaphore_policy_remote_up', { remote: 'local' }] as const;
const requeues = 'semaphore_policy_sync_requeue_total';

describe('the local API server', () => {
  it('can restart while pods come and go', async ({ local, pods, sets, history, start }) => {
    await pods.add(pod(1), pod(2));
    await start();
    await sets.become(nets(1, 2));
    await Promise.all([
      local.restart(),
      pods.remove('app-2'),
      pods.add(pod(3), { name: 'z', app: 'other', ips: ['10.4.0.9'] }),
    ]);
    await sets.served();
    await sets.become({ ...nets(1, 3), 'c2-default-other': ['10.4.0.9/32'] });
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('can be away for a while, with one warning', async ({ localProxy, viaLocalProxy, pods, sets, start }) => {
    await pods.add(pod(1));
    const policy = await start(viaLocalProxy);
    await sets.become(nets(1));
    await localProxy.set({ kind: 'refuse' });
    await pods.add(pod(2), pod(3));
    await eventually(() => policy.metric(...localUp), 0);
    await eventually(async () => ((await policy.metric(requeues)) ?? 0) >= 3, true);
    expect((await policy.get('/healthz')).status).toBe(200);
    const warnings = policy.log().filter(({ level }) => level === 'warn');
    expect(warnings.filter(({ msg }) => msg === 'set not written, retrying')).toHaveLength(1);

    await localProxy.clear();
    await sets.become(nets(1, 2, 3));
    await eventually(() => policy.metric(...localUp), 1);
  });

  it('can list empty for a moment: a set that exists causes another list', async ({
    localProxy,
    viaLocalProxy,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(pod(1));
    const policy = await start(viaLocalProxy);
    await sets.become(nets(1));
    await localProxy.set({ kind: 'empty' });
    const expire = { kind: 'answer', status: 410, as: 'event' } as const;
    await localProxy.set(expire, { verb: 'watch', times: 1 });
    await localProxy.set({ kind: 'reset', connections: 'open' });
    await eventually(async () => ((await policy.metric(requeues)) ?? 0) >= 1, true);
    await localProxy.clear();
    await pods.add(pod(2));
    await sets.become(nets(1, 2));
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('can be away at the start: the process waits', async ({ localProxy, viaLocalProxy, pods, sets, start }) => {
    await pods.add(pod(1));
    await localProxy.set({ kind: 'refuse' });
    const policy = await start(viaLocalProxy, { ready: false });
    await eventually(() => policy.get('/readyz'), { status: 503, body: 'the local cluster is not listed yet\n' });
    expect((await policy.get('/healthz')).status).toBe(200);
    await localProxy.clear();
    await policy.ready();
    await sets.become(nets(1));
  });

  it('can refuse a write three times before it accepts it', async ({
    localProxy,
    viaLocalProxy,
    pods,
    sets,
    start,
  }) => {
    for (const [index, status] of [500, 429, 503].entries()) {
      await localProxy.set({ kind: 'answer', status }, { method: 'POST', every: index + 1, times: 1 });
    }
    await pods.add(pod(1));
    const policy = await start(viaLocalProxy);
    await sets.become(nets(1));
    const failed = { type: 'create', success: '0' };
    expect(await policy.metric('semaphore_policy_calico_client_request_total', failed)).toBe(3);
    expect(await policy.metric(requeues)).toBe(3);
  });
});

describe('another writer of the same set', () => {
  it.for([
    { name: 'created', method: 'POST', first: [1] },
    { name: 'changed', method: 'PUT', first: [1, 2] },
  ])(
    'can delete it before the process learns that its own write $name it',
    async ({ method, first }, { localProxy, viaLocalProxy, pods, sets, start }) => {
      const hear = await localProxy.set({ kind: 'stall', direction: 'answers' }, { method });
      const policy = await start(viaLocalProxy);
      for (const number of first) {
        await pods.add(pod(number));
        await eventually(async () => (await sets.nets())['c2-default-app']?.length, number);
      }
      await sets.remove('c2-default-app');
      // The watch reports this after the deletion.
      await sets.add({ name: 'later', labels: labelsOf('app', { cluster: 'c9' }), nets: [] });
      await eventually(() => policy.metric('semaphore_policy_orphans', { cluster: 'c9' }), 1);
      await hear();
      await sets.become({ later: [], ...nets(...first) });
    },
  );

  it('is never overwritten, and delays nothing', async ({ pods, sets, start }) => {
    await pods.add(pod(1));
    await start({ 'min-write-interval': '0' });
    await sets.become(nets(1));
    const notes = async () => {
      for (let n = 0; n < 30; n++) await sets.patch('c2-default-app', noted(n));
    };
    const rollout = async () => {
      for (let n = 2; n <= 20; n++) await pods.add(pod(n));
    };
    await Promise.all([notes(), rollout()]);
    await sets.become(nets(...Array.from({ length: 20 }, (_, i) => i + 1)));
    expect((await sets.get('c2-default-app')).metadata.annotations).toEqual({ note: '29' });
  });
});
