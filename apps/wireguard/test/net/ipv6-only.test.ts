import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { itWithAgents } from '../support/mesh-it.ts';
import { endpointsOn } from '../support/mesh-nodes.ts';

const it = itWithAgents.extend('ipv4', { scope: 'file' }, () => 'none' as const);

it('links clusters that have IPv6 alone, also on their nodes', async ({ mesh }) => {
  const [c1, c2] = [mesh.cluster('c1').nodes[0]!, mesh.cluster('c2').nodes[0]!];
  for (const [from, to] of [
    [c1, c2],
    [c2, c1],
  ] as const) {
    const ping = await startPing(from.pod, to.podIps.v6);
    await ping.replies(10);
    expect(await ping.stop()).toMatchObject({ lost: 0 });
    const endpoints = Object.values(await endpointsOn(from, `wireguard.${to.cluster.name}`));
    expect(endpoints).toEqual([expect.stringContaining(`[${to.machine.ipv6}]:`)]);
  }
});
