// Real: the garbage collector works while a name is taken again.
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it as itOnClusters } from '../support/it.ts';

const mirror = 'c2-default-73736d-web';

/** The garbage collector releases the slices, and only then the Service ends. */
const it = itOnClusters.extend('localOptions', { scope: 'file' }, () => ({ controllers: [] }));

describe('a Service that changes between headless and not', () => {
  it.for([{ headless: true }, { headless: false }])(
    'is created again, and keeps its slices with their endpoints (headless before: $headless)',
    async ({ headless }, { sources, mirrors, history, start }) => {
      const web = { name: 'web', namespace: 'default' };
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
            owners: ((metadata['ownerReferences'] ?? []) as { uid?: string }[]).map(({ uid }) => uid),
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
});
