import type { TestAccount } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { node } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { componentRules, globalRules, localRules } from './support/accounts.ts';
import { addGlobals, type GoGlobal, globalName } from './support/go/globals.ts';
import { it as itByFile } from './support/go/file.ts';

const UNKNOWN =
  'listing Nodes is forbidden: hints of local endpoints name the zone "local", which has no Nodes, until a ClusterRole allows it';

const at = (address: string): GoGlobal => ({ name: 'web', slices: { 'web-x': [address] } });

type Hints = Readonly<Record<string, readonly string[] | undefined>>;
type Hinted = {
  readonly addresses: readonly string[];
  readonly hints?: { readonly forZones: readonly { readonly name: string }[] };
};

const it = itByFile
  /** May list Services and slices, but no Nodes. */
  .extend('zoneless', { scope: 'file' }, ({ local }) => {
    const globals = componentRules.map((rule) => ({
      ...rule,
      resources: rule.resources.filter((each) => each !== 'nodes'),
    }));
    return local.account('zoneless', [...localRules, ...globals]);
  })
  .extend('nodes', ({ local }, { onCleanup }) => {
    const made = new Set<string>();
    onCleanup(async () => {
      for (const name of made) await local.admin.delete(`/api/v1/nodes/${name}`);
    });
    return {
      add: async (name: string, zone: string) => {
        made.add(name);
        await local.admin.create('/api/v1/nodes', node({ name, zone }));
      },
    };
  })
  /** The hints of the endpoint of each address. */
  .extend('hints', ({ mirrors }) => async (): Promise<Hints> => {
    const endpoints = (await mirrors.slices(globalName('web'))).flatMap(
      (each) => each.endpoints ?? [],
    ) as readonly Hinted[];
    return Object.fromEntries(
      endpoints.map(({ addresses, hints }) => [addresses[0]!, hints?.forZones.map(({ name }) => name)]),
    );
  })
  /** Only changes in these tests cause a reconcile. */
  .extend(
    'startWithZones',
    ({ goStartFile }) =>
      (zones: readonly string[], { kubeconfig }: Pick<TestAccount, 'kubeconfig'>) => {
        return goStartFile(
          {
            localCluster: { zones, kubeConfigPath: kubeconfig },
            remote: { resyncPeriod: '0', allowedPodCIDRs: ['10.4.0.0/16'] },
          },
          { words: ['-min-write-interval=0'] },
        );
      },
  )
  .extend('web', async ({ sources, localSources }) => {
    await addGlobals(sources, [at('10.4.0.1')]);
    await addGlobals(localSources, [at('10.1.0.1')]);
  });

describe('local endpoints of global services', () => {
  it('have hints to the zones of the file, whatever the Nodes say', async ({
    web: _web,
    nodes,
    globalAccount,
    hints,
    startWithZones,
  }) => {
    await nodes.add('n1', 'elsewhere');
    const program = await startWithZones(['b', 'a'], globalAccount);
    await eventually(hints, { '10.1.0.1': ['a', 'b'], '10.4.0.1': ['remote'] });
    expect(program.log().filter(({ msg }) => msg === 'zones of the local cluster')).toEqual([]);
  });

  it('have hints to the zones of the Nodes, also new ones, if the file has none', async ({
    web: _web,
    local,
    nodes,
    globalAccount,
    hints,
    startWithZones,
  }) => {
    await nodes.add('n1', 'b');
    await nodes.add('n2', 'b');
    const program = await startWithZones([], globalAccount);
    await eventually(hints, { '10.1.0.1': ['b'], '10.4.0.1': ['remote'] });
    await nodes.add('n3', 'a');
    await eventually(hints, { '10.1.0.1': ['a', 'b'], '10.4.0.1': ['remote'] });
    await local.admin.delete('/api/v1/nodes/n3');
    await eventually(hints, { '10.1.0.1': ['b'], '10.4.0.1': ['remote'] });
    expect(program.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('have hints to a zone without Nodes while listing Nodes is forbidden, with one warning', async ({
    web: _web,
    local,
    nodes,
    zoneless,
    hints,
    startWithZones,
  }) => {
    await nodes.add('n1', 'b');
    const program = await startWithZones([], zoneless);
    await eventually(hints, { '10.1.0.1': ['local'], '10.4.0.1': ['remote'] });
    expect(await program.logged(UNKNOWN)).toMatchObject({ level: 'warn' });
    const forbidden = () =>
      program.metric('semaphore_service_mirror_kube_http_request_total', {
        host: new URL(local.url).host,
        code: '403',
        method: 'GET',
      });
    await eventually(async () => ((await forbidden()) ?? 0) >= 4, true);
    expect(
      program
        .log()
        .filter(({ level }) => level === 'warn')
        .map(({ msg }) => msg),
    ).toEqual([UNKNOWN]);
    await local.admin.request('PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/zoneless', {
      rules: globalRules,
    });
    await eventually(hints, { '10.1.0.1': ['b'], '10.4.0.1': ['remote'] });
  });
});
