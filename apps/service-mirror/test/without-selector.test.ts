import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxy as it } from './support/it.ts';
import { argvOf, usualFlags } from './support/mirror-process.ts';

const db = { name: 'db', selector: null };
const mirror = 'c2-default-73736d-db';
const slice = (name: string, ...endpoints: readonly string[]) => ({ name, service: 'db', endpoints });
/** Requests for slices without the labels of Services. */
const unlabelled = { target: /endpointslices\?.*notin/ };
const skipped = 'semaphore_service_mirror_skipped_objects';

describe('a Service without a selector', () => {
  it('is mirrored with slices that lack its labels, as they come and go', async ({ sources, mirrors, start }) => {
    await sources.add(db);
    await sources.addHandMadeSlice(slice('db-a', '10.4.0.1'));
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await sources.patch('endpointslices', { name: 'db-a' }, { endpoints: [{ addresses: ['10.4.0.2'] }] });
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    await sources.addHandMadeSlice(slice('db-b', '10.4.0.3'));
    await sources.remove('endpointslices', { name: 'db-a' });
    await mirrors.become({ [mirror]: ['10.4.0.3'] });
    await sources.remove('services', db);
    await mirrors.become({});
  });

  it('may appear, lose its selector, and have slices with its labels besides', async ({ sources, mirrors, start }) => {
    await sources.add({ name: 'web' });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.1.1'] });
    await sources.addHandMadeSlice(slice('db-a', '10.4.0.1'));
    const web = 'c2-default-73736d-web';
    await start();
    await mirrors.become({ [web]: ['10.4.1.1'] });
    await sources.add(db);
    await mirrors.become({ [web]: ['10.4.1.1'], [mirror]: ['10.4.0.1'] });
    await sources.addHandMadeSlice({ ...slice('db-b', '10.4.0.2'), labels: { mirror: 'true' } });
    await mirrors.become({ [web]: ['10.4.1.1'], [mirror]: ['10.4.0.1', '10.4.0.2'] });
    await sources.addHandMadeSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.1.2'] });
    await sources.patch('services', { name: 'web' }, { spec: { selector: null } });
    await mirrors.become({ [web]: ['10.4.1.1', '10.4.1.2'], [mirror]: ['10.4.0.1', '10.4.0.2'] });
  });

  it('has no slice of another Service, whatever their labels are', async ({ sources, mirrors, start }) => {
    await sources.add(db);
    await sources.addHandMadeSlice(slice('db-a', '10.4.0.1'));
    await sources.addHandMadeSlice({ name: 'db-b', service: 'other', endpoints: ['192.0.2.1'] });
    await sources.addHandMadeSlice({ ...slice('db-c', '10.4.0.3'), service: 'other', labels: { mirror: 'true' } });
    await sources.addHandMadeSlice({
      ...slice('db-d', '10.4.0.4'),
      labels: { 'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror' },
    });
    const program = await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    // What another Service has is no problem of ours.
    expect((await program.get('/metrics')).body).not.toMatch(new RegExp(`^${skipped}.*problem.* [^0]`, 'm'));
  });

  it('is the only one that has slices without its labels, and plan names those of others', async ({
    accounts,
    sources,
    startWith,
  }) => {
    await sources.add({ name: 'web' });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.1.1'] });
    await sources.addHandMadeSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.1.2'] });
    await sources.addHandMadeSlice({ name: 'other', service: 'other', endpoints: ['10.4.1.3'] });
    const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], { ready: false });
    expect(await plan.exited).toMatchObject({ code: 0 });
    expect(plan.stdout().match(/^skip.*$/gm)).toEqual([
      expect.stringContaining('its slice default/web-b lacks the labels of the Service, which has a selector'),
    ]);
  });

  it('has only addresses that the remote may announce, and the others are counted, and named by plan', async ({
    accounts,
    sources,
    mirrors,
    start,
    startWith,
  }) => {
    await sources.add(db);
    await sources.addHandMadeSlice(slice('db-a', '10.4.0.1', '192.0.2.1'));
    const planned = async () => {
      const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], { ready: false });
      expect(await plan.exited).toMatchObject({ code: 0 });
      return plan.stdout().replaceAll(/-[0-9a-f]{20}/g, '-HASH');
    };
    const problem = /skip! .*default\/db.*: 192\.0\.2\.1 is outside of allowedPodCIDRs/;
    const before = await planned();
    expect(before).toContain(`create  EndpointSlice ${mirror}-HASH  1 endpoint\n`);
    expect(before).toMatch(problem);
    const program = await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    const refused = { remote: 'c2', reason: 'address-not-allowed', kind: 'problem' };
    await eventually(() => program.metric(skipped, refused), 1);
    const after = await planned();
    expect(after).toContain('Nothing to change.');
    expect(after).toMatch(problem);
    await sources.remove('services', db);
    await eventually(() => program.metric(skipped, refused), 0);
  });

  it('keeps its endpoints while its slices are unknown, and no other Service waits', async ({
    sources,
    mirrors,
    remoteProxy,
    viaProxy,
    start,
  }) => {
    await sources.add(db);
    await sources.addHandMadeSlice(slice('db-a', '10.4.0.1'));
    await sources.add({ name: 'web' });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.1.1'] });
    const web = 'c2-default-73736d-web';
    const first = await start(viaProxy);
    await mirrors.become({ [mirror]: ['10.4.0.1'], [web]: ['10.4.1.1'] });
    await first.stop();
    await sources.patch('endpointslices', { name: 'db-a' }, { endpoints: [{ addresses: ['10.4.0.2'] }] });
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.4.1.2'] }] });
    const undo = await remoteProxy.set({ kind: 'answer', status: 500 }, unlabelled);
    const second = await start(viaProxy, { ready: false });
    await mirrors.become({ [mirror]: ['10.4.0.1'], [web]: ['10.4.1.2'] });
    await eventually(() => second.metric('semaphore_service_mirror_remote_up', { remote: 'c2' }), 0);
    await undo();
    await mirrors.become({ [mirror]: ['10.4.0.2'], [web]: ['10.4.1.2'] });
    await eventually(() => second.metric('semaphore_service_mirror_remote_up', { remote: 'c2' }), 1);
  });

  it('keeps them in a restart, and a list of labelled slices that lacks them is no loss', async ({
    sources,
    mirrors,
    history,
    start,
  }) => {
    await sources.add(db);
    for (let i = 1; i <= 12; i += 1) await sources.addHandMadeSlice(slice(`db-${i}`, `10.4.0.${i}`));
    const all = Array.from({ length: 12 }, (_, i) => `10.4.0.${i + 1}`).toSorted();
    const first = await start();
    await mirrors.become({ [mirror]: all });
    await first.stop();
    await sources.remove('endpointslices', { name: 'db-12' });
    const second = await start();
    await mirrors.become({ [mirror]: all.filter((address) => address !== '10.4.0.12') });
    await eventually(() => second.metric('semaphore_service_mirror_held_deletions', { remote: 'c2' }), 0);
    expect(second.log().filter(({ level }) => level === 'warn')).toEqual([]);
    await history.caughtUp();
    expect(history.addressGaps(mirror)).toEqual(['10.4.0.12']);
  });

  it('alone causes a watch of unlabelled slices', async ({ sources, mirrors, remoteProxy, viaProxy, start }) => {
    const opened = () => remoteProxy.requests().filter(({ target }) => unlabelled.target.test(target)).length;
    await sources.add({ name: 'web' });
    await sources.addHandMadeSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.1.1'] });
    await sources.add({ name: 'away', spec: { type: 'ExternalName', externalName: 'example.com', selector: null } });
    await start(viaProxy);
    await mirrors.become({ 'c2-default-73736d-web': [] });
    expect(opened()).toBe(0);
    await sources.add(db);
    await sources.addHandMadeSlice(slice('db-a', '10.4.0.1'));
    await mirrors.become({ 'c2-default-73736d-web': [], [mirror]: ['10.4.0.1'] });
    expect(opened()).toBe(1);
    expect(remoteProxy.underWay().filter(({ target }) => target.includes('/endpointslices?'))).toHaveLength(2);
  });
});
