import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { localRules } from './support/accounts.ts';
import { it } from './support/it.ts';
import { argvOf, usualFlags } from './support/mirror-process.ts';

const nowhere = 'nowhere';
const names = ['a', 'b', 'c'];
const WARNING = 'mirror namespace is missing: create it, or nothing can be written';

/** With rights in all namespaces: with a Role, the API server reports missing rights instead of the missing namespace. */
const anywhere = async (local: TestCluster, name: string, rules = localRules) =>
  (await local.account(name, rules)).kubeconfig;

describe('a missing mirror namespace', () => {
  it('is logged at the start, before the first write, and ends nothing', async ({ local, start }) => {
    const program = await start({ 'mirror-ns': nowhere, 'kube-config': await anywhere(local, 'early') });
    await program.logged(WARNING, { level: 'warn', namespace: nowhere });
    expect((await program.get('/readyz')).status).toBe(200);
  });

  it('is printed by plan, for people and for programs, with exit code 1', async ({
    accounts,
    local,
    sources,
    startWith,
  }) => {
    await sources.add({ name: 'a' });
    const kubeconfig = await anywhere(local, 'planner');
    const argv = argvOf({ ...usualFlags(accounts), 'mirror-ns': nowhere, 'kube-config': kubeconfig });
    const plan = (...more: string[]) => startWith(['plan', ...more, ...argv], { ready: false });
    const [text, json] = await Promise.all([plan(), plan('-o=json')]);
    expect([await text.exited, await json.exited]).toMatchObject([{ code: 1 }, { code: 1 }]);
    const [missing, ...changes] = text.stdout().split('\n\n');
    expect(missing).toBe('missing Namespace nowhere: create it, or nothing can be written');
    expect(changes[0]).toMatch(/^create {2}Service /);
    expect(JSON.parse(json.stdout())).toMatchObject({ missingNamespace: nowhere, changes: [{ change: 'create' }] });
  });

  it('is not reported to an account that may not list there', async ({ accounts, startWith }) => {
    const argv = argvOf({ ...usualFlags(accounts), 'mirror-ns': nowhere });
    const plan = await startWith(['plan', '-timeout=10s', ...argv], { ready: false });
    expect(await plan.exited).toEqual({ code: 1, signal: null });
    expect(plan.stderr()).toMatch(/couldn't be read within 10000 ms: .*forbidden.* in the namespace "nowhere"/);
  });

  it('is not reported to an account that may only read', async ({ accounts, local, startWith }) => {
    const rules = localRules.map((rule) => ({ ...rule, verbs: ['list', 'watch'] }));
    const argv = argvOf({ ...usualFlags(accounts), 'kube-config': await anywhere(local, 'onlooker', rules) });
    const plan = await startWith(['plan', ...argv], { ready: false });
    expect(await plan.exited).toEqual({ code: 0, signal: null });
    expect(plan.stdout()).toMatch(/^Nothing to change\.\n/);
  });

  it('is logged once, and all Services are written when it is created', async ({ local, sources, start }) => {
    for (const name of names) await sources.add({ name });
    const program = await start({ 'mirror-ns': nowhere, 'kube-config': await anywhere(local, 'anywhere') });
    await eventually(() => program.metric('semaphore_service_mirror_remote_up', { remote: 'local' }), 0);
    await eventually(async () => {
      const retries = await program.metric('semaphore_service_mirror_queue_retries_total', { name: 'c2-service' });
      return (retries ?? 0) >= 2 * names.length;
    }, true);
    expect(program.log().filter(({ msg }) => msg === WARNING)).toHaveLength(1);
    const complaints = program.log().filter(({ msg }) => msg === 'service not written, retrying');
    expect(complaints).toMatchObject([
      {
        level: 'warn',
        error: { code: 'NO_NAMESPACE', message: expect.stringContaining(`the mirror namespace ${nowhere} is missing`) },
      },
    ]);

    await local.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: nowhere },
    });
    const services = async () =>
      (await local.admin.list(`/api/v1/namespaces/${nowhere}/services`))
        .map(({ metadata }) => metadata.name)
        .toSorted();
    // The pause between two retries is at most 10 s.
    await eventually(
      services,
      names.map((name) => `c2-default-73736d-${name}`),
    );
    await program.logged('local writes recovered');
    await eventually(() => program.metric('semaphore_service_mirror_remote_up', { remote: 'local' }), 1);
  });
});
