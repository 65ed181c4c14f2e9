import { text } from 'node:stream/consumers';
import { eventually } from '@kube-semaphore/eventually';
import { node as nodeObject } from '@kube-semaphore/testkit';
import { type Place, startPing, startTcpdump } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { addBlock, defineIpam } from '../support/calico-ipam.ts';
import { itWithMesh } from '../support/mesh-it.ts';
import { addShamNode, blocksOn, deleteNode } from '../support/mesh-nodes.ts';

/** Where a node reaches the metadata service of most clouds, over its own link. */
const METADATA = '169.254.169.254';

/** Alibaba Cloud's, in a range that clusters have for Pods. */
const IN_POD_SUBNET = '100.100.100.200';

const it = itWithMesh.extend('shape', { scope: 'file' }, () => ({ c1: 2, c2: 2 }));

it('sends no packet to a remote that claims a metadata service, by its Nodes, Calico’s blocks or endpoints', async ({
  mesh,
}) => {
  const c2 = mesh.cluster('c2');
  const near = mesh.cluster('c1').nodes;
  await defineIpam(c2.server);
  for (const [i, [ip, blockOfIp, ordinal]] of (
    [
      [METADATA, '169.254.169.192/26', 62],
      [IN_POD_SUBNET, '100.100.100.192/26', 8],
    ] as const
  ).entries()) {
    const { name, machine, podCidrs } = c2.nodes[i]!;
    await machine.addPod([ip]);
    await deleteNode(c2, name);
    const internalIPs = [machine.ipv4, machine.ipv6];
    const object = nodeObject({ name, podCIDRs: [`${ip}/32`, podCidrs[1]], internalIPs });
    await c2.server.admin.create('/api/v1/nodes', object);
    await addBlock(c2.server, { cidr: podCidrs[1].replace('/64', '/122'), node: name, uses: { 16: name } });
    // One has the block, the other one borrows from it.
    await addBlock(c2.server, { cidr: blockOfIp, node: i === 0 ? name : 'n9', uses: { [ordinal]: name } });
  }
  await addShamNode(c2, { name: 'n9', podCIDRs: ['10.2.9.0/24'], endpoint: `${METADATA}:51820` });

  const cloud = await mesh.network.addNode('cloud');
  await cloud.run('ip', ['address', 'add', `${METADATA}/32`, 'dev', 'eth0']);
  for (const { machine, podCidrs } of near) {
    await machine.run('ip', ['route', 'add', `${METADATA}/32`, 'dev', 'eth0']);
    await cloud.run('ip', ['route', 'add', podCidrs[0], 'via', machine.ipv4]);
  }
  const handshakes = await packetsOf(cloud, 'eth0', 'udp', 'and', 'host', METADATA);

  const podSubnet = [...c2.podSubnets, '100.64.0.0/10'];
  const sources = ['podCIDRs', 'calico-blocks'];
  for (const node of mesh.nodes) {
    const remotes = { c2: { podSubnet, allowedIPsFrom: sources[near.indexOf(node)] } };
    await (await mesh.startAgent(node, { remotes })).ready();
  }
  await mesh.complete();
  for (const [i, length] of ['/64', '/122'].entries())
    await eventually(
      () => blocksOn(near[i]!, 'wireguard.c2'),
      c2.nodes.map(({ podCidrs }) => podCidrs[1].replace('/64', length)),
    );

  const arrived = await Promise.all(c2.nodes.map(({ machine }) => packetsOf(machine, 'wireguard.c1')));
  for (const { pod } of near) {
    const ping = await startPing(pod, METADATA);
    await ping.replies(5);
    expect(await ping.stop()).toMatchObject({ lost: 0 });
    const unanswered = ['-c', 'ping -n -c 5 -i 0.2 -W 1 "$0" || true', IN_POD_SUBNET];
    expect(await pod.run('sh', unanswered)).toContain('5 packets transmitted, 0 received');
    // The last ones: what was sent before has arrived before.
    for (const { podIps } of c2.nodes)
      expect(await (await startPing(pod, podIps.v6)).stop()).toMatchObject({ lost: 0 });
  }
  for (const [i, stop] of arrived.entries()) {
    const lines = await stop();
    for (const { podIps } of near)
      expect(lines).toContainEqual(
        expect.stringContaining(` ${podIps.v6} > ${c2.nodes[i]!.podIps.v6}: ICMP6, echo req`),
      );
    expect(lines.filter((line) => line.includes(METADATA) || line.includes(IN_POD_SUBNET))).toEqual([]);
  }
  expect(await handshakes()).toEqual([]);
});

/** Starts to record packets of a link. @returns what ends it, and returns a line for each */
async function packetsOf(
  place: Place,
  link: string,
  ...filter: readonly string[]
): Promise<() => Promise<readonly string[]>> {
  const { output, stop } = await startTcpdump(place, ['-i', link, '-l', ...filter]);
  const lines = text(output);
  return async () => {
    await stop();
    return (await lines).split('\n').filter((line) => line !== '');
  };
}
