import { eventually } from '@kube-semaphore/eventually';
import { expect, test } from 'vitest';
import { startSet } from '../support/mcs/cluster-set.ts';

const it = test.extend('set', async ({ task }, { onCleanup }) => {
  const set = await startSet({ names: ['c1', 'c2', 'c3'] });
  onCleanup(async () => {
    if (task.result?.state === 'fail') console.error(set.output().join('\n'));
    await set.stop();
  });
  return set;
});

const withoutHashes = (text: string): readonly string[] =>
  text
    .replaceAll(/derived-\w{16}/g, 'derived')
    .replaceAll(/-[0-9a-f]{20}\b/g, '-HASH')
    .split('\n');

it('cleanup removes a cluster from imports, then everything, and nothing of others', async ({ set }) => {
  const [c1, c2, c3] = set.members as [(typeof set.members)[0], (typeof set.members)[0], (typeof set.members)[0]];
  const imports = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceimports';
  const foreign = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceImport', metadata: { name: 'foreign' } };
  const { metadata } = await c1.cluster.admin.create(imports, { ...foreign, spec: { type: 'Headless', ports: [] } });
  await c1.start();
  await c1.export('web', ['10.4.1.1']);
  await c3.export('web', ['10.4.3.1']);
  await c3.export('own', ['10.4.3.2']);
  await c2.export('db', ['10.4.2.3'], { headless: true });
  await eventually(() => c1.addresses('web'), { c1: ['10.4.1.1'], c3: ['10.4.3.1'] });
  await eventually(() => c1.addresses('own'), { c3: ['10.4.3.2'] });
  await eventually(() => c1.addresses('db'), { c2: ['10.4.2.3'] });
  // The status comes last.
  await eventually(() => c1.importedFrom('own'), ['c3']);
  await c1.stop();

  // Someone removes c3 from the config.
  const remotes = ['c2'];
  await c1.start({ remotes });
  const orphans = (): Promise<number | undefined> =>
    c1.mirror.metric('semaphore_service_mirror_orphans', { cluster: 'c3' });
  await eventually(() => c1.importedFrom('web'), ['c1']);
  // Two slices, and the import that only it has.
  await eventually(orphans, 3);
  expect(await c1.addresses('web')).toEqual({ c1: ['10.4.1.1'], c3: ['10.4.3.1'] });
  expect(await c1.addresses('own')).toEqual({ c3: ['10.4.3.2'] });
  expect(await c1.importedFrom('own')).toEqual(['c3']);
  const plan = await c1.run(['plan'], { remotes });
  expect(plan.stdout).toMatch(/^Nothing to change\.$/m);
  expect(plan.stdout).toContain('c3: not in the config: 3 objects would stay; "cleanup -cluster c3" removes them');
  const cleaned = await c1.run(['cleanup', '-cluster=c3', '-yes'], { remotes });
  expect([cleaned.code, cleaned.stderr]).toEqual([0, '']);
  expect(withoutHashes(cleaned.stdout)).toEqual([
    'delete  ServiceImport shop/own',
    'delete  EndpointSlice shop/own-HASH',
    'delete  Service shop/derived',
    'delete  EndpointSlice shop/web-HASH',
    'Cleaned up cluster c3.',
    '',
  ]);
  await eventually(orphans, 0);
  expect(await c1.addresses('web')).toEqual({ c1: ['10.4.1.1'] });
  expect(await c1.import('own')).toBeUndefined();
  expect(await c1.derived()).toHaveLength(1);
  await c1.stop();

  // Someone switches Multi-Cluster Services off.
  const refused = await c1.run(['cleanup', '-mcs', '-yes'], { remotes });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    'semaphore-service-mirror: mcs is in the config: remove it there, restart the program, then clean up\n',
  ]);
  const all = await c1.run(['cleanup', '-mcs', '-yes'], { mcs: null, remotes });
  expect([all.code, all.stderr]).toEqual([0, '']);
  expect(withoutHashes(all.stdout)).toEqual([
    'delete  ServiceImport shop/db',
    'delete  EndpointSlice shop/db-HASH',
    'delete  ServiceImport shop/web',
    'delete  EndpointSlice shop/web-HASH',
    'delete  Service shop/derived',
    'change  ServiceExport shop/web  no conditions',
    'Cleaned up Multi-Cluster Services.',
    '',
  ]);
  expect(await c1.derived()).toEqual([]);
  expect(await c1.conditions('web')).toEqual([]);
  expect((await c1.import('foreign'))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  expect((await c1.cluster.admin.list(imports)).map((found) => found.metadata.name)).toEqual(['foreign']);
  const again = await c1.run(['cleanup', '-mcs', '-yes'], { mcs: null, remotes });
  expect([again.code, again.stdout]).toEqual([0, 'Nothing to remove of Multi-Cluster Services.\n']);
});
