// Both: a server ends an object when its last finalizer is removed, and collects garbage then.
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it as itOnClusters } from '../support/it.ts';
import { argvOf, usualFlags } from '../support/mirror-process.ts';
import { mirror, startWithMirror, web } from '../support/written-mirror.ts';

const finalizers = ['cloud.example/load-balancer'];
const skipped = { remote: 'c2', reason: 'terminating', kind: 'problem' };
const detail =
  `the Service ${mirror} was deleted, and exists until its finalizers are removed: ` + '"cloud.example/load-balancer"';

const it = itOnClusters
  .extend('localOptions', { scope: 'file' }, () => ({ controllers: [] }))
  .extend('program', async ({ sources, mirrors, start }) => {
    const program = await startWithMirror({ sources, mirrors, start });
    await mirrors.patch('services', mirror, { metadata: { finalizers } });
    return program;
  })
  .extend('waiting', ({ program }) => ({
    count: () => program.metric('semaphore_service_mirror_skipped_objects', skipped),
  }));

describe('a mirror that was deleted, and waits for the finalizer of another controller', () => {
  it('has the endpoints of its source, says why it exists, and is created again with the same slices', async ({
    accounts,
    sources,
    mirrors,
    history,
    program,
    waiting,
    startWith,
  }) => {
    const before = await mirrors.service(mirror);
    const [slice] = await mirrors.slices();
    await mirrors.remove('services', mirror);
    await program.logged('skipped', { cluster: 'c2', subject: 'c2/default/web', reason: 'terminating', detail });
    await eventually(waiting.count, 1);
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.4.0.2'] }] });
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.3'] });
    await mirrors.become({ [mirror]: ['10.4.0.2', '10.4.0.3'] });
    await sources.patch('services', web, { spec: { sessionAffinity: 'ClientIP' } });
    const present = async () => {
      const { metadata, spec } = await mirrors.service(mirror);
      const { sessionAffinity } = spec as { sessionAffinity: string };
      return { uid: metadata.uid, finalizers: metadata['finalizers'], sessionAffinity };
    };
    await eventually(present, { uid: before.metadata.uid, finalizers, sessionAffinity: 'ClientIP' });
    const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], { ready: false });
    expect(await plan.exited).toEqual({ code: 0, signal: null });
    expect(plan.stdout()).toContain(`skip!   c2/default/web: ${detail}\n`);
    const { remotes } = JSON.parse((await program.get('/status')).body) as { remotes: [{ skipped: object }] };
    expect(remotes[0].skipped).toMatchObject([
      { reason: 'terminating', count: 1, example: `c2/default/web: ${detail}` },
    ]);

    await mirrors.patch('services', mirror, { metadata: { finalizers: null } });
    await eventually(
      async () => (await mirrors.services()).map(({ metadata }) => metadata.uid !== before.metadata.uid),
      [true],
    );
    const { uid } = (await mirrors.service(mirror)).metadata;
    const owners = async () =>
      (await mirrors.slices()).map(({ metadata }) =>
        (metadata['ownerReferences'] as { uid?: string }[] | undefined)?.map((owner) => owner.uid),
      );
    await eventually(owners, [[uid], [uid]]);
    expect((await mirrors.slices()).map(({ metadata }) => metadata.uid)).toContain(slice?.metadata.uid);
    await eventually(waiting.count, 0);
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
    expect(history.deletions).toEqual([mirror]);
    expect(
      program.log().filter(({ level, msg }) => level === 'error' || (level === 'warn' && msg !== 'skipped')),
    ).toEqual([]);
  });

  it('loses its endpoints with its source, and is not created again', async ({
    sources,
    mirrors,
    program,
    waiting,
  }) => {
    await mirrors.remove('services', mirror);
    await eventually(waiting.count, 1);
    await sources.remove('services', web);
    await sources.remove('endpointslices', { name: 'web-a' });
    await eventually(() => mirrors.slices(), []);
    expect((await mirrors.service(mirror)).metadata['finalizers']).toEqual(finalizers);
    expect(await waiting.count()).toBe(1);
    await mirrors.patch('services', mirror, { metadata: { finalizers: null } });
    await mirrors.become({});
    await eventually(waiting.count, 0);
    expect(program.log().filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('has endpoints until it can become headless', async ({ sources, mirrors, history, program, start }) => {
    // A source is created again to become headless. We don't see the moment in between.
    await program.stop();
    await sources.remove('services', web);
    await sources.add({ ...web, headless: true });
    const second = await start();
    await second.logged('service deleted, to be created again', { service: mirror });
    const count = () => second.metric('semaphore_service_mirror_skipped_objects', skipped);
    await eventually(count, 1);
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.4.0.2'] }] });
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    const areHeadless = async () => [
      ...(await mirrors.services()).map(({ spec }) => (spec as { clusterIP: string }).clusterIP === 'None'),
      ...(await mirrors.slices()).map(({ metadata }) => 'service.kubernetes.io/headless' in (metadata.labels ?? {})),
    ];
    expect(await areHeadless()).toEqual([false, false]);
    await mirrors.patch('services', mirror, { metadata: { finalizers: null } });
    await second.logged('service created', { service: mirror });
    await eventually(areHeadless, [true, true]);
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    await eventually(count, 0);
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
  });
});
