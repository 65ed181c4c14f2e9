import { eventually } from '@kube-semaphore/eventually';
import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { addBlock, defineIpam, useBlock } from '../support/calico-ipam.ts';
import { itWithMesh } from '../support/mesh-it.ts';
import { blocksOn } from '../support/mesh-nodes.ts';

const DEVICE = 'wireguard.c2';

// Calico's IPAM has custom resources, for which a real API server behaves in its own way.
const it = itWithMesh
  .extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 2 }))
  .extend('realServers', { scope: 'file' }, () => ['c2']);

it('reaches pods by Calico’s IPAM: in each block of a node, and at a borrowed address', async ({ mesh }) => {
  const [near, lender, borrower] = mesh.nodes;
  const { server } = mesh.cluster('c2');
  await defineIpam(server);
  // Outside of the podCIDRs, so that these can't help.
  const lent = '10.2.66.0/26';
  await addBlock(server, { cidr: lent, node: 'n1', uses: { 5: 'n2', 10: 'n1' } });
  await addBlock(server, { cidr: '10.2.64.0/26', node: 'n2', uses: { 10: 'n2' } });
  await addBlock(server, { cidr: '10.2.65.0/26', node: 'n2', uses: { 10: 'n2' } });
  await addBlock(server, { cidr: 'fd00:2:0:77::/122', node: 'n2', uses: { 10: 'n2' } });
  await lender!.machine.addPod(['10.2.66.10']);
  for (const ips of [['10.2.64.10'], ['10.2.65.10', 'fd00:2:0:77::a'], ['10.2.66.5']])
    await borrower!.machine.addPod(ips);
  await Promise.all(
    mesh.nodes.map(async (node) =>
      (await mesh.startAgent(node, { remotes: { c2: { allowedIPsFrom: 'calico-blocks' } } })).ready(),
    ),
  );
  await mesh.complete();

  const own = '10.2.64.0/26 10.2.65.0/26';
  await eventually(() => blocksOn(near!, DEVICE), [`${own} 10.2.66.5/32 fd00:2:0:77::/122`, lent].toSorted());
  for (const ip of ['10.2.66.10', '10.2.64.10', '10.2.65.10', 'fd00:2:0:77::a', '10.2.66.5']) {
    const ping = await startPing(near!.pod, ip);
    await ping.replies(10);
    expect([ip, await ping.stop()]).toMatchObject([ip, { lost: 0 }]);
  }

  // A returned address belongs to the block's owner again; no other peer changes.
  const ping = await startPing(near!.pod, '10.2.66.10');
  await useBlock(server, { cidr: lent, uses: { 10: 'n1' } });
  await eventually(() => blocksOn(near!, DEVICE), [`${own} fd00:2:0:77::/122`, lent].toSorted());
  await ping.replies(10);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
});
