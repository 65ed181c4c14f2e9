import { eventually } from '@kube-semaphore/eventually';
import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { itWithAgents } from '../support/mesh-it.ts';

const SILENT = 'c2.wireguard.semaphore.uw.io/silent';

const remotes = { c1: { deviceAddress: 'auto' }, c2: { deviceAddress: 'auto', reportSilentAfter: '20s' } };

const it = itWithAgents
  .extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 2 }))
  .extend('agentOptions', { scope: 'file' }, () => ({ remotes }));

it('names a node whose tunnel is dead, and not one that is quiet, until it answers again', async ({ mesh }) => {
  const [own, dead] = [mesh.cluster('c1').nodes[0]!, mesh.cluster('c2').nodes[0]!];
  const report = async () => (await own.cluster.server.admin.get('/api/v1/nodes/n1')).metadata.annotations?.[SILENT];
  const ping = await startPing(own.pod, dead.podIps.v4);
  await ping.replies(5);
  await ping.stop();
  // Its agent would repair it.
  await mesh.agent(dead).stop('SIGKILL');
  await dead.machine.run('ip', ['link', 'set', 'wireguard.c1', 'down']);
  await eventually(report, 'n1 of 2');
  // n2 was as quiet, for as long, and is asked again.
  await mesh.agent(own).logged('node is silent', { cluster: 'c2', node: 'n1' });
  const again = await mesh.startAgent(dead, { remotes });
  await again.ready();
  await eventually(report, undefined);
  const silent = mesh
    .agent(own)
    .log()
    .filter(({ msg }) => msg === 'node is silent');
  expect(silent.map(({ node }) => node)).toEqual(['n1']);
});
