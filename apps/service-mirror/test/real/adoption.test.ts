// Real: a controller of Kubernetes mirrors the Endpoints that the Go program left.
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { accountInNamespace, goRules, type GoSource, mirrorName } from '../support/go/program.ts';
import { addSources, it, UNRESTRICTED } from '../support/migration.ts';

/** More than the deletion guard lets be deleted at once. */
const left: readonly GoSource[] = [
  { name: 'web', addresses: ['10.4.0.1', '10.4.0.2'] },
  { name: 'db', headless: true, addresses: ['10.4.0.3'] },
  { name: 'dual', addresses: ['10.4.0.4', 'fd00::4'] },
  {
    name: 'ports',
    addresses: ['10.4.0.5'],
    ports: [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'metrics', port: 9090, targetPort: 9090 },
    ],
  },
  { name: 'idle', addresses: [] },
  ...Array.from({ length: 8 }, (_, i) => ({ name: `app-${i}`, addresses: [`10.4.1.${i}`] })),
];

const mirrorsOf = (sources: readonly GoSource[]) =>
  Object.fromEntries(sources.map(({ name, addresses }) => [mirrorName(name), addresses.toSorted()]));

describe('the objects of the Go program', () => {
  it('are adopted under its flags, its variables and its Role, and no Service is without an endpoint', async ({
    sources,
    mirrors,
    history,
    goProgram,
    goStart,
  }) => {
    await addSources(sources, left);
    await goProgram.sync(left);
    const uids = async () =>
      Object.fromEntries((await mirrors.services()).map(({ metadata }) => [metadata.name, metadata.uid]));
    const before = await uids();
    const program = await goStart();
    await eventually(() => mirrors.endpointsObjects(), []);
    await mirrors.become(mirrorsOf(left));
    await eventually(
      async () =>
        new Set(
          (await mirrors.slices()).map(({ metadata }) => metadata.labels?.['endpointslice.kubernetes.io/managed-by']),
        ),
      new Set(['semaphore-service-mirror']),
    );
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
    expect(history.deletions).toEqual([]);
    expect(await uids()).toEqual(before);
    expect(
      program
        .log()
        .filter(({ level }) => level === 'warn' || level === 'error')
        .map(({ msg }) => msg),
    ).toEqual([UNRESTRICTED]);
    // It continues from there.
    await sources.patch(
      'endpointslices',
      { name: 'web-0' },
      { endpoints: [{ addresses: ['10.4.0.9'], conditions: { ready: true } }] },
    );
    await eventually(async () => (await mirrors.endpoints())[mirrorName('web')], ['10.4.0.9']);
  });

  it('are deleted if their source is gone, and updated if it changed', async ({
    sources,
    mirrors,
    history,
    goProgram,
    goStart,
  }) => {
    const stays = left.filter(({ name }) => name !== 'app-0');
    await addSources(sources, stays);
    await goProgram.sync(
      left.map((source) => (source.name === 'web' ? { ...source, addresses: ['10.4.0.1', '10.4.0.99'] } : source)),
    );
    await goStart();
    await mirrors.become(mirrorsOf(stays));
    await eventually(() => mirrors.endpointsObjects(), []);
    await history.caughtUp();
    expect(history.deletions).toEqual([mirrorName('app-0')]);
    expect(history.gaps).toEqual([mirrorName('app-0')]);
  });

  it.for([
    { name: 'nothing', target: /./ },
    { name: 'no slices', target: /\/endpointslices/ },
  ])(
    'stay while the remote lists $name',
    async ({ target }, { sources, mirrors, history, goProgram, goStart, remoteProxy, viaProxy }) => {
      await addSources(sources, left);
      await goProgram.sync(left);
      await remoteProxy.set({ kind: 'empty' }, { target });
      const SSM_TARGET_KUBE_CONFIG = viaProxy['target-kube-config'];
      const program = await goStart({ flags: ['-deletion-guard-hold=1h'], env: { SSM_TARGET_KUBE_CONFIG } });
      await program.logged('services listed', { cluster: 'c2' });
      await remoteProxy.clear();
      // The object that the watch reports is listed, and so are all others.
      await sources.add({ name: 'new' });
      await sources.addSlice({ name: 'web-9', service: 'web', endpoints: ['10.4.0.9'] });
      await eventually(async () => Object.keys(await mirrors.endpoints()).length, left.length + 1);
      await history.caughtUp();
      expect(history.gaps).toEqual([]);
      expect(history.deletions).toEqual([]);
      // When the remote lists its objects, everything is adopted.
      await program.stop();
      await goStart();
      await eventually(() => mirrors.endpointsObjects(), []);
      await history.caughtUp();
      expect(history.gaps).toEqual([]);
    },
  );

  it('are deleted when the remote lists nothing for as long as the guard holds', async ({
    sources,
    mirrors,
    goProgram,
    goStart,
  }) => {
    const [web] = left;
    await sources.add({ name: 'web' });
    await goProgram.sync([web!]);
    await goStart({ flags: ['-deletion-guard-hold=1s'] });
    await eventually(() => mirrors.endpointsObjects(), []);
    await mirrors.become({ [mirrorName('web')]: [] });
  });

  it('stay as they are under a Role that does not allow slices, with one warning', async ({
    local,
    sources,
    mirrors,
    history,
    goProgram,
    goStart,
  }) => {
    await addSources(sources, left);
    await goProgram.sync(left);
    const older = await accountInNamespace(local, 'older', goRules.older);
    const program = await goStart({ env: {}, flags: [`-kube-config=${older.kubeconfig}`], ready: false });
    const denied = () =>
      program.metric('semaphore_service_mirror_remote_watch_restarts_total', { remote: 'local', reason: 'denied' });
    await eventually(async () => ((await denied()) ?? 0) >= 3, true);
    await program.logged('watch failed', { cluster: 'local' });
    const warnings = program.log().filter(({ level }) => level === 'warn' || level === 'error');
    expect(warnings.map(({ msg, cluster }) => ({ msg, cluster }))).toEqual([
      { msg: UNRESTRICTED, cluster: 'c2' },
      { msg: 'watch failed', cluster: 'local' },
    ]);
    expect(JSON.stringify(warnings)).toContain('endpointslices');
    expect((await program.get('/readyz')).status).toBe(503);
    await mirrors.become(mirrorsOf(left));
    expect(await mirrors.endpointsObjects()).toHaveLength(left.length);
    await history.caughtUp();
    expect(history.deletions).toEqual([]);
  });
});
