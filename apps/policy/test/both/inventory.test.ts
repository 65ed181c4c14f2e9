// Both: the remotes are objects of a CustomResourceDefinition of others, which a real API server checks, and a plugin reads Secrets.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { deployComponent, TestInventory } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { folders } from '../support/accounts.ts';
import { it as itOnClusters } from '../support/it.ts';

const it = itOnClusters.extend('inventory', { scope: 'file' }, async ({ local, accounts }) => {
  await deployComponent(local, folders.local, 'policy/components/inventory');
  const inventory = new TestInventory(local);
  const file = { local: { kubeConfigPath: accounts.local.kubeconfig }, remotesFrom: await inventory.begin() };
  const path = join(local.dir, 'inventory.json');
  /** Remotes of the file itself. */
  const write = (...remotes: readonly object[]) => writeFile(path, JSON.stringify({ ...file, remotes }));
  await write();
  return { inventory, path, write };
});

const FLAGS = ['-listen-address=127.0.0.1:0', '-local-cluster-name=c1', '-deletion-guard-hold=1s'];
const IN_C2 = { 'semaphore.uw.io/allowed-pod-cidrs': '10.4.0.0/16' };

it('has remotes whose sets are written, which come and go while the program runs', async ({
  inventory: { inventory, path },
  remote,
  accounts,
  pods,
  sets,
  startWith,
}) => {
  await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
  await pods.add({ name: 'b', app: 'app', ips: ['10.9.0.1'] });
  const policy = await startWith([`-config=${path}`, ...FLAGS]);
  expect(await policy.status()).toMatchObject({ remotes: [], inventory: { synced: true, profiles: [] } });

  await inventory.add({ cluster: remote, token: accounts.remote.token, annotations: IN_C2 });
  await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  await inventory.annotate('c2', { 'semaphore.uw.io/allowed-pod-cidrs': '10.9.0.0/16' });
  await sets.become({ 'c2-default-app': ['10.9.0.1/32'] });
  await inventory.annotate('c2', IN_C2);
  await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });

  const cleanup = async () => {
    const local = `-local-kube-config=${accounts.local.kubeconfig}`;
    const program = await startWith(['cleanup', '-cluster=c2', '-yes', `-config=${path}`, local], { ready: false });
    return { ...(await program.exited), said: program.stderr() };
  };
  expect(await cleanup()).toMatchObject({
    code: 2,
    said: 'semaphore-policy: c2 is in the inventory: remove its ClusterProfile fleet/c2 first\n',
  });

  await inventory.remove('c2');
  await eventually(() => policy.metric('semaphore_policy_orphans', { cluster: 'c2' }), 1);
  expect(await policy.status()).toMatchObject({ remotes: [] });
  await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  expect(await cleanup()).toMatchObject({ code: 0 });
  await sets.become({});
});

it('has remotes that come while a changed file waits for a restart, as its names are in the Lease', async ({
  inventory: { inventory, path, write },
  remote,
  accounts,
  pods,
  sets,
  startWith,
  onTestFinished,
}) => {
  onTestFinished(async () => {
    await inventory.clear();
    await write();
  });
  await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
  const policy = await startWith([`-config=${path}`, ...FLAGS, '-leader-elect', '-lease-namespace=semaphore-policy']);
  await write({ name: 'c3', kubeConfigPath: accounts.remote.kubeconfig, allowedPodCIDRs: ['10.5.0.0/16'] });
  await policy.logged('restart to apply these fields');
  await inventory.add({ cluster: remote, token: accounts.remote.token, annotations: IN_C2 });
  await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  expect(await policy.status()).toMatchObject({
    remotes: [{ name: 'c2' }],
    configFile: { problems: [], needRestart: [expect.stringContaining('-lease-name')] },
  });
});
