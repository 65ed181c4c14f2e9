import { eventually } from '@kube-semaphore/eventually';
import { deployComponent, TestInventory } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { folders } from './support/accounts.ts';
import { it as itOnClusters, ownNode } from './support/it.ts';

const it = itOnClusters.extend('inventory', { scope: 'file' }, async ({ local, accounts: _accounts }) => {
  await deployComponent(local, ...folders.agent, 'wireguard/components/inventory');
  const inventory = new TestInventory(local);
  return { inventory, remotesFrom: await inventory.begin() };
});

it('has remotes, which come and go while the agent runs', async ({
  inventory: { inventory, remotesFrom },
  local,
  remote,
  accounts,
  addNode,
  spawn,
}) => {
  await addNode(local, ownNode);
  const flags = { 'deletion-guard-hold': '1s', 'observe-period': '1h' };
  const agent = await spawn({ flags, file: { remotes: [], remotesFrom } });
  const names = async () =>
    ((await agent.status()) as { remotes: readonly { name: string }[] }).remotes.map(({ name }) => name);
  await agent.logged('started');
  await eventually(names, []);

  const annotations = {
    'semaphore.uw.io/allowed-pod-cidrs': '10.4.0.0/16',
    'semaphore.uw.io/wg-listen-port': '51821',
  };
  const { token } = accounts.remote.reader;
  await inventory.add({ cluster: remote, token, annotations });
  await agent.logged('remote nodes listed', { cluster: 'c2' });
  // It would take the port of c2.
  await inventory.add({ cluster: remote, token, annotations, name: 'other', status: named('c3') });
  await eventually(
    async () => ((await agent.status()) as { inventory: unknown }).inventory,
    (said) => JSON.stringify(said).includes('wgListenPort 51821 is used twice'),
  );
  expect(await names()).toEqual(['c2']);

  await inventory.remove('other');
  await inventory.remove('c2');
  await eventually(names, []);
});

const named = (value: string) => ({ properties: [{ name: 'cluster.clusterset.k8s.io', value }] });
