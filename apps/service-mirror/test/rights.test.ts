import type { PolicyRule } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { componentRules } from './support/accounts.ts';
import { it as itByFile } from './support/go/file.ts';
import { addGlobals, type GoGlobal, globalName, goLabels } from './support/go/globals.ts';
import { accountInNamespace, goRemoteRules, goRules, type GoSource, mirrorName } from './support/go/program.ts';
import { addSources, UNRESTRICTED } from './support/migration.ts';
import type { MirrorProcess } from './support/mirror-process.ts';
import { DRY_RUNS, writesOf } from './support/requests.ts';

const LEFT_OUT = [
  'listing EndpointSlices of all namespaces is forbidden: the local cluster has no part in global services until a ClusterRole allows it',
  'listing Nodes is forbidden: hints of local endpoints name the zone "local", which has no Nodes, until a ClusterRole allows it',
  'listing Services of all namespaces is forbidden: the local cluster has no part in global services until a ClusterRole allows it',
];

const mirrored: readonly GoSource[] = [{ name: 'db', addresses: ['10.4.0.3'] }];
const web = (address: string): GoGlobal => ({ name: 'web', slices: { 'web-x': [address] } });

const warningsOf = (program: MirrorProcess) =>
  program.log().filter(({ level }) => level === 'warn' || level === 'error');

/** An account whose ClusterRole, `growing`, allows nothing at first. */
const it = itByFile.extend('growing', ({ local }, { onCleanup }) => {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/growing';
  const become = async (rules: readonly PolicyRule[]): Promise<void> =>
    void (await local.admin.request('PATCH', path, { rules }));
  onCleanup(() => become([]));
  return { account: accountInNamespace(local, 'growing', goRules.latest), become };
});

describe('the Role of the Go program', () => {
  it("is enough for the Go program's file: what needs more is skipped, with one warning each", async ({
    local,
    sources,
    localSources,
    mirrors,
    growing,
    goStartFile,
  }) => {
    await sources.add({ name: 'db', labels: goLabels.mirror });
    await sources.addSlice({ name: 'db-x', service: 'db', labels: goLabels.mirror, endpoints: ['10.4.0.3'] });
    await addGlobals(sources, [web('10.4.0.1')]);
    await addGlobals(localSources, [web('10.1.0.1')]);
    const { kubeconfig } = await growing.account;
    const remote = { allowedPodCIDRs: ['10.4.0.0/16'] };
    const program = await goStartFile(
      { localCluster: { zones: [], kubeConfigPath: kubeconfig }, remote },
      { env: { SSM_LOG_LEVEL: 'debug' } },
    );
    const partly = { [mirrorName('db')]: ['10.4.0.3'], [globalName('web')]: ['10.4.0.1'] };
    await mirrors.become(partly);
    const written = DRY_RUNS + 4;
    await eventually(() => writesOf(program), written);

    // They are requested again and again, with a growing pause.
    const refusals = () => program.log().filter(({ msg, cluster }) => LEFT_OUT.includes(msg) && cluster === 'c1');
    await eventually(() => refusals().length >= 6, true);
    expect(
      refusals()
        .slice(0, 6)
        .reduce((sum, { retryInMs }) => sum + Number(retryInMs), 0),
    ).toBeGreaterThan(500);
    expect(await writesOf(program)).toBe(written);
    await eventually(
      () =>
        warningsOf(program)
          .map(({ msg }) => msg)
          .toSorted(),
      LEFT_OUT,
    );
    for (const { error } of warningsOf(program))
      expect(JSON.stringify(error)).toMatch(/forbidden.* at the cluster scope/);
    expect((await program.get('/readyz')).status).toBe(200);
    expect(await program.metric('semaphore_service_mirror_remote_up', { remote: 'c1' })).toBe(0);
    expect(await program.metric('semaphore_service_mirror_remote_up', { remote: 'local' })).toBe(1);
    // Everything else works, and what a ClusterRole allows is used at once.
    await sources.patch(
      'endpointslices',
      { name: 'db-x' },
      { endpoints: [{ addresses: ['10.4.0.4'], conditions: { ready: true } }] },
    );
    await mirrors.become({ ...partly, [mirrorName('db')]: ['10.4.0.4'] });
    await growing.become(componentRules);
    await eventually(async () => (await mirrors.endpoints())[globalName('web')], ['10.1.0.1', '10.4.0.1']);
    // It stays without the right: unknown is not empty.
    await growing.become([]);
    await local.restart();
    await eventually(() => warningsOf(program).filter(({ msg }) => msg === LEFT_OUT[2]).length, 2);
    await eventually(async () => (await mirrors.endpoints())[globalName('web')], ['10.1.0.1', '10.4.0.1']);
  });

  it('is enough for a plan, which does not wait for what is forbidden', async ({ sources, goStartFile }) => {
    await addGlobals(sources, [web('10.4.0.1')]);
    const program = await goStartFile({}, { words: ['plan'], ready: false });
    expect(await program.exited).toEqual({ code: 0, signal: null });
    expect(program.stdout()).toContain(`create  Service ${globalName('web')}`);
    expect(program.stdout()).toContain('c1: listing all namespaces is forbidden: no part in global services');
  });

  it("is enough for the Go program's command line, with only the warning to restrict its remote", async ({
    sources,
    mirrors,
    goStart,
  }) => {
    await addSources(sources, mirrored);
    const program = await goStart();
    await mirrors.become({ [mirrorName('db')]: ['10.4.0.3'] });
    expect(warningsOf(program).map(({ msg }) => msg)).toEqual([UNRESTRICTED]);
  });
});

describe('the ClusterRole of the first Go programs, without slices', () => {
  it('leaves all objects as they are, and the log names the missing rights', async ({
    remote,
    sources,
    mirrors,
    history,
    goProgram,
    goStart,
  }) => {
    await addSources(sources, mirrored);
    await goProgram.sync(mirrored);
    const older = await remote.account('older', goRemoteRules.older);
    const program = await goStart({ env: { SSM_TARGET_KUBE_CONFIG: older.kubeconfig }, ready: false });
    const denied = () =>
      program.metric('semaphore_service_mirror_remote_watch_restarts_total', { remote: 'c2', reason: 'denied' });
    await program.logged('started');
    await eventually(async () => ((await denied()) ?? 0) >= 3, true);
    await program.logged('watch failed');
    expect(warningsOf(program).map(({ msg, cluster }) => ({ msg, cluster }))).toEqual([
      { msg: UNRESTRICTED, cluster: 'c2' },
      { msg: 'watch failed', cluster: 'c2' },
    ]);
    expect(JSON.stringify(warningsOf(program))).toContain('endpointslices.discovery.k8s.io is forbidden');
    await history.caughtUp();
    expect(history.deletions).toEqual([]);
    expect(history.gaps).toEqual([]);
    await mirrors.become({ [mirrorName('db')]: ['10.4.0.3'] });
  });
});
