import { eventually } from '@kube-semaphore/eventually';
import { type Packet, packetIn, startPing, wireGuardMessage } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import type { MeshNode } from '../support/mesh.ts';
import { itWithAgents } from '../support/mesh-it.ts';
import { blocksOn, deleteNode } from '../support/mesh-nodes.ts';

const ICMP = 1;
const UDP = 17;
const CLEARTEXT = 'c1ea47ef';
const REPLIES = 10;

const it = itWithAgents.extend('shape', { scope: 'file' }, () => ({ c1: 3, c2: 3 }));

/** Pings from a pod to all of these addresses at once. @returns how many replies each lost */
async function lossesOf({ pod }: MeshNode, ips: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const losses = ips.map(async (ip) => {
    const ping = await startPing(pod, ip, { pattern: CLEARTEXT });
    await ping.replies(REPLIES);
    return [ip, (await ping.stop()).lost] as const;
  });
  return Object.fromEntries(await Promise.all(losses));
}

const none = (ips: readonly string[]) => Object.fromEntries(ips.map((ip) => [ip, 0]));

it('lets all pods of two clusters reach each other, both ways, and never in cleartext on a link', async ({ mesh }) => {
  const captures = await Promise.all(mesh.nodes.map(({ machine }) => machine.capture()));
  for (const from of mesh.nodes) {
    const ips = mesh.nodes
      .filter(({ cluster }) => cluster !== from.cluster)
      .flatMap(({ podIps }) => Object.values(podIps));
    expect(ips).toHaveLength(6);
    expect(await lossesOf(from, ips)).toEqual(none(ips));
  }
  for (const capture of captures) {
    const frames = await capture.stop();
    expect(frames.filter((frame) => frame.includes(Buffer.from(CLEARTEXT, 'hex')))).toEqual([]);
    const packets = frames.map(packetIn).filter((packet): packet is Packet => packet !== undefined);
    // Except for neighbour discovery, everything is UDP.
    expect(packets.filter(({ protocol }) => protocol === ICMP)).toEqual([]);
    expect(packets.filter((packet) => packet.protocol === UDP && wireGuardMessage(packet) === undefined)).toEqual([]);
    // Its pod asked six addresses, and was asked by three pods on two: requests and replies.
    expect(packets.filter((packet) => wireGuardMessage(packet) === 'data').length).toBeGreaterThanOrEqual(
      (6 + 6) * REPLIES * 2,
    );
  }
});

it('reaches the pods of a node after its announcement, and removes a deleted one', async ({ mesh }) => {
  const [c1, c2] = [mesh.cluster('c1'), mesh.cluster('c2')];
  const constant = await startPing(c1.nodes[0]!.pod, c2.nodes[0]!.podIps.v6);
  const peers = () => Promise.all(c1.nodes.map((node) => blocksOn(node, 'wireguard.c2')));
  const before = await peers();

  const newcomer = await mesh.addNode('c2');
  const agent = await mesh.startAgent(newcomer);
  await agent.logged('announced on our Node');
  const pings = c1.nodes.flatMap(({ pod }) => Object.values(newcomer.podIps).map((ip) => startPing(pod, ip)));
  const results = (await Promise.all(pings)).map((ping) => ping.stop());
  expect((await Promise.all(results)).map(({ lost }) => lost)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await peers()).toEqual(before.map((blocks) => [...blocks, newcomer.podCidrs.join(' ')]));

  await agent.stop('SIGKILL');
  await newcomer.machine.stop();
  await deleteNode(c2, newcomer.name);
  await eventually(peers, before);
  expect(await constant.stop()).toMatchObject({ lost: 0 });
});
