import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { globalRules } from './support/accounts.ts';
import { MIRRORS } from './support/mirror-process.ts';
import { addAll, addresses, GLOBAL, itWithRoles, slice } from './support/roles.ts';

const CONFIG_MAPS = `/api/v1/namespaces/${MIRRORS}/configmaps`;
const DRAINS = `${CONFIG_MAPS}/semaphore-drains`;
const SINCE = 'semaphore_service_mirror_drained_since_seconds';

const it = itWithRoles
  .extend('configMap', async ({ local: { admin } }, { onCleanup }) => {
    const metadata = { name: 'semaphore-drains', namespace: MIRRORS };
    onCleanup(() => admin.delete(DRAINS));
    /** @param data a value of null removes a key */
    return async (data: Readonly<Record<string, string | null>>): Promise<void> => {
      const { status } = await admin.request('PATCH', DRAINS, { data });
      if (status === 404) await admin.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    };
  })
  .extend('all', ({ localSources, sources, secondSources }) => ({ localSources, sources, secondSources }));

const inOrder = { 'semaphore.uw.io/cluster-order': 'local; c2; *' };

describe('a drained cluster', () => {
  it('is used last, and /status and a metric say since when, until it is not drained any more', async ({
    all,
    configMap,
    roles,
    startGlobal,
  }) => {
    await addAll(all, inOrder);
    const program = await startGlobal();
    await eventually(roles, { c1: '110 z1', c2: '110 remote', 'c2-a': '011 remote' });
    const drain = { since: '2026-01-02T03:04:05.000Z', by: 'jane', reason: 'new kernels' };
    await configMap({ c1: JSON.stringify(drain) });
    await eventually(roles, { c1: '011 remote', c2: '110 z1', 'c2-a': '110 remote' });
    expect(await program.status()).toMatchObject({
      drains: [{ cluster: 'c1', ...drain }],
      orders: {
        services: { best: 0, other: 1, none: 0 },
        moved: [
          {
            service: 'global default/web',
            levels: [
              { level: 'local', clusters: ['c1'], role: 'standby', state: 'drained' },
              { level: 'c2', clusters: ['c2'], role: 'first', state: 'up' },
              { level: '*', clusters: ['c2-a'], role: 'second', state: 'up' },
            ],
          },
        ],
      },
    });
    expect(await program.metric(SINCE, { cluster: 'c1' })).toBe(Date.parse(drain.since) / 1_000);
    const skipped = { remote: 'c1', reason: 'standby', kind: 'expected' };
    await eventually(() => program.metric('semaphore_service_mirror_skipped_objects', skipped), 1);
    await eventually(() => program.metric('semaphore_service_mirror_ordered_services', { answers: 'other' }), 1);

    await configMap({ c1: null, c2: 'by hand' });
    await eventually(roles, { c1: '110 z1', c2: '011 remote', 'c2-a': '110 remote' });
    await configMap({ c2: null });
    await eventually(roles, { c1: '110 z1', c2: '110 remote', 'c2-a': '011 remote' });
    expect(await program.status()).toMatchObject({ drains: [] });
  });

  it('answers without an order, too, when no other cluster can', async ({ all, configMap, roles, startGlobal }) => {
    await addAll(all, {});
    await startGlobal({ globalSvcHints: 'labelled' });
    await eventually(roles, { c1: '110 none', c2: '110 none', 'c2-a': '110 none' });
    await configMap({ c2: '', 'c2-a': '' });
    await eventually(roles, { c1: '110 none', c2: '011 none', 'c2-a': '011 none' });
    await all.localSources.patch('endpointslices', { name: 'web-a' }, slice(addresses.c1, false));
    await eventually(roles, { c1: '000 none', c2: '110 none', 'c2-a': '110 none' });
  });

  it('gets no connections at a start', async ({ all, configMap, mirrors, roles, startGlobal }) => {
    await addAll(all, inOrder);
    await configMap({ c1: '' });
    const first = await startGlobal();
    await eventually(roles, { c1: '011 remote', c2: '110 z1', 'c2-a': '110 remote' });
    await first.stop();
    const before = await mirrors.slices(GLOBAL);
    const second = await startGlobal();
    // The last key of the queue, so that the others were reconciled.
    await all.sources.patch('endpointslices', { name: 'web-a' }, slice(addresses.c2, false));
    await eventually(roles, { c1: '011 remote', c2: '000 remote', 'c2-a': '110 z1' });
    await second.stop();
    const versionOf = (slices: typeof before) =>
      slices.find(({ metadata }) => metadata.labels?.['mirror-endpointslice-sync-name'] === 'c1')?.metadata
        .resourceVersion;
    expect(versionOf(await mirrors.slices(GLOBAL))).toBe(versionOf(before));
  });

  it('is none without the right to read the ConfigMap, and the app says so', async ({
    all,
    local,
    configMap,
    roles,
    startWithFile,
  }) => {
    const rules = globalRules.filter(({ resources }) => !resources.includes('configmaps'));
    const { kubeconfig } = await local.account('undrained', rules);
    await addAll(all, inOrder);
    await configMap({ c1: '' });
    const program = await startWithFile({ globalSvcLabelSelector: 'global=true' }, { kubeconfig });
    await eventually(roles, { c1: '110 z1', c2: '110 remote', 'c2-a': '011 remote' });
    expect(await program.status()).toMatchObject({ drains: null });
    await program.logged(
      "the ConfigMap semaphore-drains can't be read: no cluster is drained until a Role allows it",
      {},
    );
  });
});
