// Real: the garbage collector works while a name is taken again.
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect, onTestFinished } from 'vitest';
import { it as itOnClusters } from '../support/it.ts';
import { mirror, startWithMirror, web } from '../support/written-mirror.ts';

/** The garbage collector releases the slices, and only then the Service ends. */
const it = itOnClusters.extend('localOptions', { scope: 'file' }, () => ({ controllers: [] }));

const ownersOf = (metadata: { readonly [field: string]: unknown }): readonly unknown[] =>
  ((metadata['ownerReferences'] ?? []) as { uid?: string }[]).map(({ uid }) => uid);

describe('a Service that changes between headless and not', () => {
  it.for([{ headless: true }, { headless: false }])(
    'is created again, and keeps its slices with their endpoints (headless before: $headless)',
    async ({ headless }, { sources, mirrors, history, start }) => {
      await sources.add({ ...web, headless });
      await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
      await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['fd00::1'] });
      const first = await start();
      await mirrors.become({ [mirror]: ['10.4.0.1', 'fd00::1'] });
      // A source is immutable, too, and is created again. We don't see the moment in between.
      await first.stop();
      const before = await mirrors.service(mirror);
      const slices = await mirrors.slices();

      await sources.remove('services', web);
      await sources.add({ ...web, headless: !headless });
      const program = await start();
      const isHeadless = async () =>
        (await mirrors.services()).map(({ spec }) => (spec as { clusterIP?: string }).clusterIP === 'None');
      await eventually(isHeadless, [!headless]);
      const after = await mirrors.service(mirror);
      expect(after.metadata.uid).not.toBe(before.metadata.uid);
      // The same slices, with the new owner, and labelled accordingly.
      const kept = slices.map(({ metadata }) => metadata.uid);
      await eventually(
        async () =>
          (await mirrors.slices()).map(({ metadata }) => ({
            uid: metadata.uid,
            owners: ownersOf(metadata),
            headless: metadata.labels?.['service.kubernetes.io/headless'] !== undefined,
          })),
        kept.map((uid) => ({ uid, owners: [after.metadata.uid], headless: !headless })),
      );
      await history.caughtUp();
      expect(history.gaps).toEqual([]);
      expect(history.deletions).toEqual([mirror]);
      await program.logged('service deleted, to be created again', { service: mirror });
      // The gap that clients saw.
      const { gapMs } = await program.logged('service created', { service: mirror });
      expect(gapMs).toBeGreaterThanOrEqual(0);
    },
  );

  it('keeps its slices if the watch of slices is the first to report its end', async ({
    local,
    accounts,
    sources,
    mirrors,
    start,
  }) => {
    const first = await startWithMirror({ sources, mirrors, start });
    await first.stop();
    // The Service exists for a while after the garbage collector has released its slices.
    await mirrors.patch('services', mirror, { metadata: { finalizers: ['cloud.example/load-balancer'] } });
    await sources.remove('services', web);
    await sources.add({ ...web, headless: true });
    const slices = async () =>
      (await mirrors.slices()).map(({ metadata }) => ({ uid: metadata.uid, owners: ownersOf(metadata) }));
    const [slice] = await slices();
    const released = [{ uid: slice?.uid, owners: [] }];

    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    const sendDeletes = await proxy.set({ kind: 'stall' }, { verb: 'delete' });
    const program = await start({ 'kube-config': await proxy.kubeconfig(accounts.local) });
    const ofServices = { verb: 'watch', target: /\/services\?/ } as const;
    const reportServices = await proxy.set({ kind: 'stall', direction: 'answers' }, ofServices);
    await sendDeletes();
    await program.logged('service deleted, to be created again', { service: mirror });
    await eventually(slices, released);
    // When this is here, so is what the program made of the event before.
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.4.0.2'] }] });
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    expect(await slices()).toEqual(released);
    await mirrors.patch('services', mirror, { metadata: { finalizers: null } });
    await reportServices();
    await program.logged('service created', { service: mirror });
    const { uid } = (await mirrors.service(mirror)).metadata;
    await eventually(slices, [{ uid: slice?.uid, owners: [uid] }]);
  });
});
