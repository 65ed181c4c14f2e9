import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxy as it } from './support/it.ts';
import { DRY_RUNS, requestsOf, writesOf } from './support/requests.ts';

const web = { name: 'web', namespace: 'default' };
const mirror = 'c2-default-73736d-web';
const addresses = (count: number, network = '10.4.0') => Array.from({ length: count }, (_, i) => `${network}.${i + 1}`);
const endpointsOf = (ips: readonly string[]) => ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } }));

describe('the writes of a mirror', () => {
  it('are one for one endpoint, whatever the number of slices', async ({ sources, mirrors, start }) => {
    await sources.add(web);
    for (const n of [1, 2, 3, 4, 5])
      await sources.addSlice({ name: `web-${n}`, service: 'web', endpoints: addresses(20, `10.4.${n}`) });
    const program = await start();
    await eventually(async () => (await mirrors.endpoints())[mirror]?.length, 100);
    await eventually(() => writesOf(program), DRY_RUNS + 6);
    await sources.patch('endpointslices', { name: 'web-3' }, { endpoints: endpointsOf(addresses(21, '10.4.3')) });
    await eventually(async () => (await mirrors.endpoints())[mirror]?.length, 101);
    await eventually(() => writesOf(program), DRY_RUNS + 7);
    // A change of unused fields causes no write.
    await sources.patch('endpointslices', { name: 'web-3' }, { metadata: { annotations: { note: 'x' } } });
    await sources.patch('services', web, { metadata: { labels: { team: 'shop' } } });
    await sources.patch('endpointslices', { name: 'web-4' }, { endpoints: endpointsOf(addresses(21, '10.4.4')) });
    await eventually(async () => (await mirrors.endpoints())[mirror]?.length, 102);
    await eventually(() => writesOf(program), DRY_RUNS + 8);
  });

  it('are no change to react to: each changed endpoint is one reconcile', async ({ sources, mirrors, start }) => {
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    const program = await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    const adds = () => program.metric('semaphore_service_mirror_queue_adds_total', { name: 'c2-service' });
    const before = (await adds())!;
    for (const ip of Array.from({ length: 10 }, (_, i) => `10.4.0.${i + 2}`)) {
      await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: endpointsOf([ip]) });
      await mirrors.become({ [mirror]: [ip] });
    }
    // The first writes may be answered late, so no exact count; two reconciles for each would be 20.
    expect((await adds())! - before).toBeLessThan(15);
  });

  it('are few for a burst of changes', async ({ sources, mirrors, start }) => {
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: [] });
    const program = await start({ 'min-write-interval': '1h' });
    await mirrors.become({ [mirror]: [] });
    await eventually(async () => (await mirrors.slices()).length, 1);
    await program.stop();
    const paced = await start({ 'min-write-interval': '500ms' });
    const began = performance.now();
    for (let n = 1; n <= 100; n++)
      await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: endpointsOf(addresses(n)) });
    await eventually(async () => (await mirrors.endpoints())[mirror]?.length, 100);
    const most = 5 + Math.ceil((performance.now() - began) / 500);
    expect(await writesOf(paced)).toBeLessThanOrEqual(most);
  });

  it('are sent at once five times, then wait while their key is delayed, and delay no other key', async ({
    sources,
    mirrors,
    start,
  }) => {
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    const program = await start({ 'min-write-interval': '1h' });
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    for (const ip of ['10.4.0.2', '10.4.0.3', '10.4.0.4', '10.4.0.5']) {
      await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: endpointsOf([ip]) });
      await mirrors.become({ [mirror]: [ip] });
    }
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: endpointsOf(['10.4.0.6']) });
    await sources.add({ name: 'other' });
    await mirrors.become({ [mirror]: ['10.4.0.5'], 'c2-default-73736d-other': [] });
    expect(await requestsOf(program, ['PUT'])).toBe(4);
  });

  it('are none for an unchanged relist, and as few as possible for a changed one', async ({
    sources,
    mirrors,
    remoteProxy,
    viaProxy,
    start,
  }) => {
    await sources.add(web);
    await sources.add({ name: 'gone' });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    const program = await start(viaProxy);
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'], 'c2-default-73736d-gone': [] });
    const before = DRY_RUNS + 4;
    await eventually(() => writesOf(program), before);
    const restarts = () =>
      program.metric('semaphore_service_mirror_remote_watch_restarts_total', { remote: 'c2', reason: 'expired' });

    const relist = async (change: () => Promise<void>) => {
      const known = (await restarts()) ?? 0;
      await remoteProxy.set({ kind: 'answer', status: 410, as: 'event' }, { verb: 'watch', times: 2 });
      await remoteProxy.set({ kind: 'reset', connections: 'open' });
      await change();
      await eventually(async () => ((await restarts()) ?? 0) >= known + 2, true);
      await remoteProxy.clear();
    };
    await relist(async () => {});
    await sources.add({ name: 'one-more' });
    await mirrors.become({
      [mirror]: ['10.4.0.1', '10.4.0.2'],
      'c2-default-73736d-gone': [],
      'c2-default-73736d-one-more': [],
    });
    await eventually(() => writesOf(program), before + 1);

    await relist(async () => {
      await sources.remove('endpointslices', { name: 'web-b' });
      await sources.remove('services', { name: 'gone' });
    });
    await mirrors.become({ [mirror]: ['10.4.0.1'], 'c2-default-73736d-one-more': [] });
    await eventually(() => writesOf(program), before + 3);
  });
});
