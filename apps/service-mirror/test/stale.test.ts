import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxy as it } from './support/it.ts';
import type { MirrorProcess } from './support/mirror-process.ts';
import { itWithTwoRemotes } from './support/remotes.ts';

const mirrorOf = (name: string) => `c2-default-73736d-${name}`;
const held = ['semaphore_service_mirror_held_deletions', { remote: 'c2' }] as const;
const remoteUp = ['semaphore_service_mirror_remote_up', { remote: 'c2' }] as const;

/** How much the diagnostics of a remote say is left behind. */
const leftBehind = (program: MirrorProcess, remote: string) =>
  program.metric('semaphore_service_mirror_skipped_objects', { remote, kind: 'problem', reason: 'left-behind' });

const slices = /\/endpointslices/;
const services = /\/services/;

/** More than the guard lets be deleted at once. */
const many = Array.from({ length: 12 }, (_, i) => `app-${String(i).padStart(2, '0')}`);
const all = Object.fromEntries(many.map((name, i) => [mirrorOf(name), [`10.4.0.${i}`]]));

describe('a mirror whose source was deleted before the start', () => {
  it.for([
    { name: 'goes', flags: {}, left: {} },
    { name: 'stays with -svc-sync=false', flags: { 'svc-sync': 'false' }, left: { [mirrorOf('gone')]: ['10.4.0.1'] } },
  ])('$name', async ({ flags, left }, { sources, mirrors, start }) => {
    await sources.add({ name: 'gone' });
    await sources.addSlice({ name: 'gone-a', service: 'gone', endpoints: ['10.4.0.1'] });
    const first = await start(flags);
    await mirrors.become({ [mirrorOf('gone')]: ['10.4.0.1'] });
    await first.stop();
    await sources.remove('endpointslices', { name: 'gone-a' });
    await sources.remove('services', { name: 'gone' });
    await sources.add({ name: 'seen' });
    await start(flags);
    await mirrors.become({ ...left, [mirrorOf('seen')]: [] });
    // A deletion that the watch reports is followed, whatever the flag says.
    await sources.remove('services', { name: 'seen' });
    await mirrors.become(left);
    expect(await mirrors.slices()).toHaveLength(Object.keys(left).length);
  });

  itWithTwoRemotes.for([
    { name: 'stays, by default of the file', global: {}, left: [mirrorOf('gone')] },
    { name: 'is deleted with serviceSync', global: { serviceSync: true }, left: [] },
  ])('$name', async ({ global, left }, { sources, mirrors, startWithFile }) => {
    await sources.add({ name: 'gone' });
    const first = await startWithFile(global);
    await mirrors.become({ [mirrorOf('gone')]: [] });
    await first.stop();
    await sources.remove('services', { name: 'gone' });
    await sources.add({ name: 'stays' });
    await startWithFile(global);
    await eventually(
      async () => Object.keys(await mirrors.endpoints()).toSorted(),
      [...left, mirrorOf('stays')].toSorted(),
    );
  });

  itWithTwoRemotes(
    'is reported with the cure while it stays, and so is its part in a global Service',
    async ({ local, sources, mirrors, startWithFile, startWith }) => {
      const globals = { globalSvcLabelSelector: 'global=true' };
      const [mirror, global] = [mirrorOf('gone'), 'gl-default-73736d-gone'];
      const labels = { global: 'true' };
      const addGone = async (): Promise<void> => {
        await sources.add({ name: 'gone', labels });
        await sources.addSlice({ name: 'gone-a', service: 'gone', labels, endpoints: ['10.4.0.1'] });
      };
      const removeGone = async (): Promise<void> => {
        await sources.remove('endpointslices', { name: 'gone-a' });
        await sources.remove('services', { name: 'gone' });
      };
      const stayed = { [mirrorOf('stays')]: [], 'gl-default-73736d-stays': [] };
      await addGone();
      await sources.add({ name: 'stays', labels });
      const first = await startWithFile(globals);
      await mirrors.become({ ...stayed, [mirror]: ['10.4.0.1'], [global]: ['10.4.0.1'] });
      await first.stop();
      await removeGone();

      const second = await startWithFile(globals);
      const used = 'stays, with 1 address that other Pods may have now';
      const cure = (setting: string) => `${used}: set ${setting} to true, or delete it`;
      const ofMirror = `c2 has no such Service to mirror, but Service ${mirror} ${cure('serviceSync (-svc-sync)')}`;
      const ofGlobal = `no known cluster has such a Service to merge, but Service ${global} ${cure('endpointSliceSync')}`;
      const reason = 'left-behind';
      await second.logged('skipped', { cluster: 'c2', subject: 'c2/default/gone', reason, detail: ofMirror });
      await second.logged('skipped', { cluster: 'c1', subject: 'global/default/gone', reason, detail: ofGlobal });
      expect([await leftBehind(second, 'c2'), await leftBehind(second, 'c1')]).toEqual([1, 1]);
      const skipped = (example: string) => [{ kind: 'problem', reason, count: 1, example }];
      expect(await second.status()).toMatchObject({
        remotes: [{ name: 'c2', skipped: skipped(`c2/default/gone: ${ofMirror}`) }, { name: 'c2-a' }],
        localServices: { name: 'c1', skipped: skipped(`global/default/gone: ${ofGlobal}`) },
      });
      const plan = await startWith(['plan', `-config=${join(local.dir, 'service-mirror.json')}`], { ready: false });
      expect(await plan.exited).toEqual({ code: 0, signal: null });
      expect(plan.stdout()).toMatch(/^Nothing to change\.\n/);
      expect(plan.stdout()).toContain(`\nskip!   c2/default/gone: ${ofMirror}\n`);
      expect(plan.stdout()).toContain(`\nskip!   global/default/gone: ${ofGlobal}\n`);

      // Either cure ends it, and so does the Service when it is back.
      await mirrors.remove('services', global);
      await eventually(() => leftBehind(second, 'c1'), 0);
      await addGone();
      await eventually(() => leftBehind(second, 'c2'), 0);
      await mirrors.become({ ...stayed, [mirror]: ['10.4.0.1'], [global]: ['10.4.0.1'] });
      await second.stop();
      await removeGone();
      await startWithFile({ ...globals, serviceSync: true, endpointSliceSync: true });
      await mirrors.become(stayed);
    },
  );

  itWithTwoRemotes(
    'leaves only its slices to report, if a cluster that is not in the config has slices of the global Service',
    async ({ sources, mirrors, startWithFile }) => {
      const globals = { globalSvcLabelSelector: 'global=true' };
      const labels = { global: 'true', mirror: 'false' };
      const global = 'gl-default-73736d-gone';
      await sources.add({ name: 'gone', labels });
      await sources.addSlice({ name: 'gone-a', service: 'gone', labels, endpoints: ['10.4.0.1'] });
      await sources.add({ name: 'stays', labels });
      const first = await startWithFile(globals);
      await mirrors.become({ [global]: ['10.4.0.1'], 'gl-default-73736d-stays': [] });
      await first.stop();
      await sources.remove('endpointslices', { name: 'gone-a' });
      await sources.remove('services', { name: 'gone' });
      const [own] = await mirrors.slices(global);
      const others = { ...own!.metadata.labels, 'mirror-endpointslice-sync-name': 'c9' };
      const theirs = { metadata: { name: `${global}-c9`, labels: others }, endpoints: [{ addresses: ['10.9.0.1'] }] };
      await mirrors.create('endpointslices', { addressType: 'IPv4', ports: [], ...theirs });

      const second = await startWithFile(globals);
      await eventually(() => leftBehind(second, 'c1'), 1);
      const [line] = second.log().filter(({ msg, reason }) => msg === 'skipped' && reason === 'left-behind');
      expect(line?.['detail']).toContain(`, but EndpointSlice ${own!.metadata.name} stays, with 1 address`);
      await mirrors.remove('endpointslices', own!.metadata.name);
      await eventually(() => leftBehind(second, 'c1'), 0);
      expect(await mirrors.endpoints()).toMatchObject({ [global]: ['10.9.0.1'] });
    },
  );
});

describe('a remote', () => {
  it('that is not reached at the start leaves all objects as they are', async ({
    sources,
    mirrors,
    history,
    remoteProxy,
    viaProxy,
    start,
  }) => {
    await sources.add({ name: 'web' });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    const first = await start();
    await mirrors.become({ [mirrorOf('web')]: ['10.4.0.1'] });
    await first.stop();
    await remoteProxy.set({ kind: 'refuse' });
    const second = await start(viaProxy, { ready: false });
    await second.logged('watch failed', { cluster: 'c2' });
    expect(await second.metric(...remoteUp)).toBe(0);
    const lastError = { message: expect.stringContaining('ECONNREFUSED') as string };
    const c2 = { name: 'c2', up: false, synced: false, lastSync: null, lastError, objects: null };
    expect(await second.status()).toMatchObject({ local: { up: true, synced: true }, remotes: [c2] });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    await remoteProxy.clear();
    await mirrors.become({ [mirrorOf('web')]: ['10.4.0.1', '10.4.0.2'] });
    await eventually(() => second.metric(...remoteUp), 1);
    expect(await second.status()).toMatchObject({
      schemaVersion: '1',
      app: 'semaphore-service-mirror',
      leader: true,
      remotes: [
        {
          ...c2,
          up: true,
          synced: true,
          lastSync: expect.any(String) as string,
          objects: { services: 1, mirrors: 1 },
          stale: false,
        },
      ],
    });
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
    expect(history.deletions).toEqual([]);
  });

  it('that forbids only its slices leaves all objects as they are, with one warning', async ({
    sources,
    mirrors,
    history,
    remoteProxy,
    viaProxy,
    start,
  }) => {
    await sources.add({ name: 'web' });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    const first = await start();
    await mirrors.become({ [mirrorOf('web')]: ['10.4.0.1'] });
    await first.stop();
    await remoteProxy.set({ kind: 'answer', status: 403 }, { target: slices });
    await sources.remove('services', { name: 'web' });
    await sources.add({ name: 'web', headless: true });
    const second = await start(viaProxy, { ready: false });
    const restarts = () =>
      second.metric('semaphore_service_mirror_remote_watch_restarts_total', { remote: 'c2', reason: 'denied' });
    await eventually(async () => ((await restarts()) ?? 0) >= 3, true);
    await second.logged('watch failed');
    expect(second.log().filter(({ msg, level }) => msg === 'watch failed' && level === 'warn')).toHaveLength(1);
    expect(await second.metric(...remoteUp)).toBe(0);
    expect(await mirrors.endpoints()).toEqual({ [mirrorOf('web')]: ['10.4.0.1'] });
    await history.caughtUp();
    expect(history.deletions).toEqual([]);
  });
});

describe('the deletion guard', () => {
  const guard = { 'deletion-guard-hold': '1h' };

  it.for([
    { what: 'Services', target: services },
    { what: 'slices', target: slices },
  ])(
    'holds what is missing from the first list of $what, for the hold time',
    async ({ target }, { sources, mirrors, history, remoteProxy, viaProxy, start }) => {
      await addAll(sources);
      const first = await start();
      await mirrors.become(all);
      await first.stop();
      await remoteProxy.set({ kind: 'empty' }, { target });
      const second = await start({ ...viaProxy, ...guard });
      await eventually(() => second.metric(...held), many.length);
      await second.logged('list is missing too many objects; deletions held', { cluster: 'c2' });
      // New objects are written.
      await remoteProxy.clear();
      await sources.add({ name: 'new' });
      await mirrors.become({ ...all, [mirrorOf('new')]: [] });
      await history.caughtUp();
      expect(history.deletions).toEqual([]);
      expect(history.gaps).toEqual([]);

      // The list after the hold is believed.
      await second.stop();
      await remoteProxy.set({ kind: 'empty' }, { target });
      const third = await start({ ...viaProxy, 'deletion-guard-hold': '1s' });
      const bare = Object.fromEntries([...many, 'new'].map((name) => [mirrorOf(name), []]));
      // A list without any Service isn't: the selector may be wrong.
      const left = target === services ? { ...all, [mirrorOf('new')]: [] } : bare;
      await mirrors.become(left);
      await eventually(() => third.metric(...held), 0);
      await mirrors.become(left);
    },
  );

  it('deletes after the hold what is missing from a first list with one Service', async ({
    sources,
    mirrors,
    history,
    start,
  }) => {
    await addAll(sources);
    const first = await start();
    await mirrors.become(all);
    await first.stop();
    const [left, ...gone] = many;
    for (const name of gone) {
      await sources.remove('endpointslices', { name: `${name}-a` });
      await sources.remove('services', { name });
    }
    const second = await start(guard);
    await second.logged('list is missing too many objects; deletions held', { cluster: 'c2' });
    // Each has a slice, too.
    await eventually(() => second.metric(...held), 2 * gone.length);
    const { remotes } = JSON.parse((await second.get('/status')).body) as { remotes: [{ objects: object }] };
    expect(remotes[0].objects).toMatchObject({ services: 1 });
    await history.caughtUp();
    expect(history.deletions).toEqual([]);
    await second.stop();
    const third = await start({ 'deletion-guard-hold': '1s' });
    await mirrors.become({ [mirrorOf(left!)]: ['10.4.0.0'] });
    await eventually(() => third.metric(...held), 0);
    expect(await mirrors.slices()).toHaveLength(1);
  });

  it('holds what is missing from one relist, until another one shows it', async ({
    sources,
    mirrors,
    history,
    remoteProxy,
    viaProxy,
    start,
  }) => {
    await addAll(sources);
    const program = await start({ ...viaProxy, ...guard });
    await mirrors.become(all);
    const relist = async () => {
      // Of Services and of slices.
      await remoteProxy.set(
        { kind: 'answer', status: 410, as: 'event' },
        { verb: 'watch', target: /[?&]resourceVersion=/, times: 2 },
      );
      await remoteProxy.set({ kind: 'reset', connections: 'open' });
    };
    await remoteProxy.set({ kind: 'empty' });
    await relist();
    await eventually(() => program.metric(...held), 2 * many.length);
    await remoteProxy.clear();
    await relist();
    await eventually(() => program.metric(...held), 0);
    await history.caughtUp();
    expect(history.deletions).toEqual([]);
    expect(history.gaps).toEqual([]);
    await sources.remove('services', { name: many[0]! });
    const { [mirrorOf(many[0]!)]: _, ...rest } = all;
    await mirrors.become(rest);
  });

  it('can be disabled', async ({ sources, mirrors, remoteProxy, viaProxy, start }) => {
    await addAll(sources);
    const first = await start();
    await mirrors.become(all);
    await first.stop();
    await remoteProxy.set({ kind: 'empty' });
    await start({ ...viaProxy, 'deletion-guard-percent': '100' });
    await mirrors.become({});
  });
});

async function addAll(sources: {
  add: (options: { name: string }) => Promise<void>;
  addSlice: (options: { name: string; service: string; endpoints: string[] }) => Promise<void>;
}): Promise<void> {
  for (const [i, name] of many.entries()) {
    await sources.add({ name });
    await sources.addSlice({ name: `${name}-a`, service: name, endpoints: [`10.4.0.${i}`] });
  }
}
