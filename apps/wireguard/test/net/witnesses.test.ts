import { eventually } from '@kube-semaphore/eventually';
import { expect } from 'vitest';
import { itWithAgents } from '../support/mesh-it.ts';

const { signal } = new AbortController();
const SILENT = 'c2.wireguard.semaphore.uw.io/silent';

const remotes = { c1: { deviceAddress: 'auto' }, c2: { deviceAddress: 'auto', reportSilentAfter: '20s' } };

const it = itWithAgents
  .extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 2 }))
  .extend('agentOptions', { scope: 'file' }, () => ({ remotes }));

it('names a node whose tunnel is dead, and not one that is quiet, until it answers again', async ({ mesh }) => {
  const [own, dead] = [mesh.cluster('c1').nodes[0]!, mesh.cluster('c2').nodes[0]!];
  const report = async () => (await own.cluster.server.admin.get('/api/v1/nodes/n1')).metadata.annotations?.[SILENT];
  // Its agent would make it again.
  await mesh.agent(dead).stop('SIGKILL');
  await dead.tools.deleteLink('wireguard.c1', { signal });
  await eventually(report, 'n1 of 2');
  const again = await mesh.startAgent(dead, { remotes });
  await again.ready();
  await eventually(report, undefined);
  const silent = mesh
    .agent(own)
    .log()
    .filter(({ msg }) => msg === 'node is silent');
  expect(silent.map(({ node }) => node)).toEqual(['n1']);
});
