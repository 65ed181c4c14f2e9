// Real: kubectl runs the commands that users copy.
import { eventually } from '@kube-semaphore/eventually';
import { bash, docBlocks, goesWithoutKubectl } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { it } from '../support/go/file.ts';
import { addGlobals, type GoGlobal, globalName, goSliceName } from '../support/go/globals.ts';

const ofRemote: readonly GoGlobal[] = [
  { name: 'web', slices: { 'web-x1': ['10.4.0.1', '10.4.0.2'], 'web-x6': ['fd00::1'] } },
  { name: 'db', headless: true, slices: { 'db-x1': ['10.4.0.3'] } },
  { name: 'idle', slices: { 'idle-x1': [] } },
];
const ofLocal: readonly GoGlobal[] = [{ name: 'web', slices: { 'web-y1': ['10.1.0.1'] } }];
const merged = {
  [globalName('web')]: ['10.1.0.1', '10.4.0.1', '10.4.0.2', 'fd00::1'],
  [globalName('db')]: ['10.4.0.3'],
  [globalName('idle')]: [],
};
const theirs = [...ofRemote, ...ofLocal]
  .flatMap(({ slices }) => Object.keys(slices))
  .map(goSliceName)
  .toSorted();

/** What the page says to paste: while neither program runs, and when the Go program runs. */
const [before, after] = docBlocks('migration.md', 'The way back of global services');

describe.skipIf(goesWithoutKubectl)('a rollback of global services to the Go program', () => {
  it.for([{ endpointSliceSync: true }, { endpointSliceSync: false }])(
    'leaves no Service without an endpoint, and no object of ours (endpointSliceSync: $endpointSliceSync)',
    async (
      { endpointSliceSync },
      { local, sources, localSources, mirrors, history, goGlobals, goStartFile, globalAccount, sliceNames },
    ) => {
      const start = () =>
        goStartFile({ global: { endpointSliceSync }, localCluster: { kubeConfigPath: globalAccount.kubeconfig } });
      await addGlobals(sources, ofRemote);
      await addGlobals(localSources, ofLocal);
      const program = await start();
      await mirrors.become(merged);
      await eventually(async () => (await mirrors.slices()).length, 5);
      await program.stop();
      // The slice of another process, for other clusters.
      const labels = {
        'mirrored-endpoint-slice': 'true',
        'mirror-endpointslice-sync-name': 'c9',
        'kubernetes.io/service-name': 'gl-x',
        'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
      };
      await mirrors.create('endpointslices', {
        metadata: { name: 'gl-x-0', labels },
        addressType: 'IPv4',
        endpoints: [],
        ports: [],
      });

      await bash(before!, local);
      const commands = bash(after!, local);
      const go = goGlobals({ endpointSliceSync });
      await go.sync({ cluster: 'c2' }, ofRemote);
      // A slice without a successor stays.
      const ofC1 = (await mirrors.slices()).find(
        ({ metadata }) => metadata.annotations?.['mirror-svc-source'] === 'c1/default/web-y1',
      )?.metadata.name;
      await eventually(
        sliceNames,
        [...theirs.filter((name) => name !== goSliceName('web-y1')), String(ofC1), 'gl-x-0'].toSorted(),
      );
      await go.sync({ cluster: 'c1', isLocal: true }, ofLocal);
      await commands;
      expect(await sliceNames()).toEqual([...theirs, 'gl-x-0'].toSorted());
      await mirrors.become({ ...merged, 'gl-x': [] });
      await history.caughtUp();
      expect(history.gaps).toEqual([]);
      expect(history.deletions).toEqual([]);
      // A second run does nothing, and the Go program's objects can be adopted again.
      await bash(after!, local);
      await start();
      await eventually(async () => (await sliceNames()).filter((name) => theirs.includes(name)), []);
      await mirrors.become({ ...merged, 'gl-x': [] });
      await history.caughtUp();
      expect(history.gaps).toEqual([]);
    },
  );

  it('may be reverted half way', async ({ local, sources, mirrors, history, goStartFile }) => {
    await addGlobals(sources, ofRemote);
    const first = await goStartFile();
    const ofC2 = { ...merged, [globalName('web')]: ['10.4.0.1', '10.4.0.2', 'fd00::1'] };
    await mirrors.become(ofC2);
    await eventually(async () => (await mirrors.slices()).length, 4);
    await first.stop();
    await bash(before!, local);
    await goStartFile();
    await eventually(
      async () => new Set((await mirrors.slices()).map(({ metadata }) => metadata.labels?.['mirrored-endpoint-slice'])),
      new Set(['true']),
    );
    await mirrors.become(ofC2);
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
  });
});
