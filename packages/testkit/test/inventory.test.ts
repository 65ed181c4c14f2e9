import { expect, it, onTestFinished } from 'vitest';
import { TestInventory } from '../src/inventory.ts';
import { startCluster } from '../src/start.ts';

it('gives a ClusterProfile that is added again its new token', async () => {
  const cluster = await startCluster({ name: 'c1' });
  onTestFinished(() => cluster.stop());
  const inventory = new TestInventory(cluster);
  await inventory.begin();
  const kept = async () => {
    const secrets = await cluster.admin.list('/api/v1/namespaces/fleet/configmaps');
    return secrets.map(({ metadata, data }) => [metadata.name, atob((data as { readonly token: string }).token)]);
  };
  await inventory.add({ cluster, token: 'old', name: 'c2' });
  await expect(inventory.add({ cluster, token: 'new', name: 'c2' })).rejects.toThrow('409');
  await inventory.remove('c2');
  expect(await kept()).toEqual([]);
  await inventory.add({ cluster, token: 'new', name: 'c2' });
  expect(await kept()).toEqual([['c2', 'new']]);
});
