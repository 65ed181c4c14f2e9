import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it } from './support/go/file.ts';
import { addGlobals, type GoGlobal, globalName, goSliceName } from './support/go/globals.ts';
import { UNRESTRICTED } from './support/migration.ts';

/** More than the deletion guard lets be deleted at once. */
const ofRemote: readonly GoGlobal[] = [
  {
    name: 'web',
    localFirst: true,
    slices: { 'web-x1': ['10.4.0.1', '10.4.0.2'], 'web-x2': ['10.4.0.3'], 'web-x6': ['fd00::4'] },
  },
  { name: 'db', headless: true, slices: { 'db-x1': ['10.4.0.5'] } },
  { name: 'idle', slices: { 'idle-x1': [] } },
  ...Array.from({ length: 10 }, (_, i) => ({ name: `app-${i}`, slices: { [`app-${i}-x1`]: [`10.4.1.${i}`] } })),
];
const ofLocal: readonly GoGlobal[] = [{ name: 'web', localFirst: true, slices: { 'web-y1': ['10.1.0.1'] } }];

const endpointsOf = (...all: readonly GoGlobal[]) => {
  const names = [...new Set(all.map(({ name }) => name))];
  return Object.fromEntries(
    names.map((name) => [
      globalName(name),
      all
        .filter((each) => each.name === name)
        .flatMap(({ slices }) => Object.values(slices).flat())
        .toSorted(),
    ]),
  );
};

describe('the global services of a Go program', () => {
  it("are adopted with the local cluster's part, and none is ever without an endpoint", async ({
    sources,
    localSources,
    mirrors,
    history,
    goGlobals,
    goStartFile,
    globalAccount,
    sliceNames,
  }) => {
    await addGlobals(sources, ofRemote);
    await addGlobals(localSources, ofLocal);
    const go = goGlobals({ zones: ['eu-west-1a'] });
    await go.sync({ cluster: 'c1', isLocal: true }, ofLocal);
    await go.sync({ cluster: 'c2' }, ofRemote);
    const uids = async () =>
      Object.fromEntries((await mirrors.services()).map(({ metadata }) => [metadata.name, metadata.uid]));
    const before = await uids();
    const program = await goStartFile({ localCluster: { kubeConfigPath: globalAccount.kubeconfig } });
    const theirs = [...ofRemote, ...ofLocal].flatMap(({ slices }) => Object.keys(slices)).map(goSliceName);
    await eventually(async () => (await sliceNames()).filter((name) => theirs.includes(name)), []);
    await mirrors.become(endpointsOf(...ofRemote, ...ofLocal));
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
    expect(history.deletions).toEqual([]);
    expect(await uids()).toEqual(before);
    await eventually(async () => (await mirrors.service(globalName('web'))).metadata.annotations, {
      'global-svc-clusters': 'c1,c2',
      'mirror-svc-source': 'global/default/web',
      'service.kubernetes.io/topology-aware-hints': 'auto',
      'service.kubernetes.io/topology-mode': 'auto',
    });
    const owners = (await mirrors.slices(globalName('web'))).map(({ metadata }) =>
      (metadata['ownerReferences'] as { uid: string }[]).map(({ uid }) => uid),
    );
    expect(owners).toEqual(Array.from({ length: 4 }, () => [before[globalName('web')]]));
    expect(
      program
        .log()
        .filter(({ level }) => level === 'warn' || level === 'error')
        .map(({ msg }) => msg),
    ).toEqual([UNRESTRICTED]);
  });

  it('are adopted under its Role, and the part of the local cluster stays', async ({
    sources,
    mirrors,
    history,
    goGlobals,
    goStartFile,
    sliceNames,
  }) => {
    await addGlobals(sources, ofRemote);
    const go = goGlobals();
    // It was allowed to list the local Services earlier.
    await go.sync({ cluster: 'c1', isLocal: true }, ofLocal);
    await go.sync({ cluster: 'c2' }, ofRemote);
    await goStartFile();
    const theirs = ofRemote.flatMap(({ slices }) => Object.keys(slices)).map(goSliceName);
    await eventually(async () => (await sliceNames()).filter((name) => theirs.includes(name)), []);
    await mirrors.become(endpointsOf(...ofRemote, ...ofLocal));
    expect(await sliceNames()).toContain(goSliceName('web-y1'));
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
    expect(history.deletions).toEqual([]);
  });

  it.for([
    { name: 'nothing', target: /./ },
    { name: 'no slices', target: /\/endpointslices/ },
  ])(
    'stay while the remote lists $name',
    async (
      { target },
      { sources, mirrors, history, goGlobals, goStartFile, goRemoteAccount, remoteProxy, sliceNames },
    ) => {
      await addGlobals(sources, ofRemote);
      await goGlobals().sync({ cluster: 'c2' }, ofRemote);
      await remoteProxy.set({ kind: 'empty' }, { target });
      const remote = { kubeConfigPath: await remoteProxy.kubeconfig(goRemoteAccount) };
      const program = await goStartFile({ remote }, { words: ['-deletion-guard-hold=1h'] });
      await program.logged('services listed', { cluster: 'c2' });
      await remoteProxy.clear();
      // The object that the watch reports is listed, and so are all others.
      await addGlobals(sources, [{ name: 'new', slices: { 'new-x1': ['10.4.2.1'] } }]);
      await eventually(async () => (await mirrors.endpoints())[globalName('new')], ['10.4.2.1']);
      await mirrors.become({ ...endpointsOf(...ofRemote), [globalName('new')]: ['10.4.2.1'] });
      // When the remote lists its objects, everything is adopted.
      await program.stop();
      await goStartFile();
      const theirs = ofRemote.flatMap(({ slices }) => Object.keys(slices)).map(goSliceName);
      await eventually(async () => (await sliceNames()).filter((each) => theirs.includes(each)), []);
      await history.caughtUp();
      expect(history.gaps).toEqual([]);
      expect(history.deletions).toEqual([]);
    },
  );

  it('lose parts without a source, and Services without any', async ({
    sources,
    mirrors,
    history,
    goGlobals,
    goStartFile,
  }) => {
    await addGlobals(sources, [{ name: 'web', slices: { 'web-x1': ['10.4.0.1'] } }]);
    await goGlobals().sync({ cluster: 'c2' }, [
      { name: 'web', slices: { 'web-x1': ['10.4.0.1'], 'web-x2': ['10.4.0.99'] } },
      { name: 'gone', slices: { 'gone-x1': ['10.4.0.98'] } },
    ]);
    await goStartFile();
    await mirrors.become({ [globalName('web')]: ['10.4.0.1'] });
    await eventually(async () => (await mirrors.slices()).length, 1);
    await history.caughtUp();
    expect(history.deletions).toEqual([globalName('gone')]);
    expect(history.gaps).toEqual([globalName('gone')]);
  });
});
