import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { itWithAgents } from '../support/mesh-it.ts';
import { blocksOn } from '../support/mesh-nodes.ts';

const { signal } = new AbortController();
const families = ['ipv6'];

const it = itWithAgents
  .extend('shape', { scope: 'file' }, () => ({ c1: 2, c2: 2 }))
  .extend('ipv4', { scope: 'file' }, () => 'shared' as const)
  .extend('agentOptions', { scope: 'file' }, () => ({ remotes: { c1: { families }, c2: { families } } }));

it('carries packets of IPv6 between clusters with the same range of IPv4, which each keeps for itself', async ({
  mesh,
}) => {
  const [c1, c2] = [mesh.cluster('c1'), mesh.cluster('c2')];
  expect(c1.nodes.map(({ podIps }) => podIps.v4)).toEqual(c2.nodes.map(({ podIps }) => podIps.v4));
  const pings = await Promise.all(
    mesh.nodes.flatMap(({ pod, cluster }) =>
      mesh.nodes.filter((other) => other.cluster !== cluster).map(({ podIps }) => startPing(pod, podIps.v6)),
    ),
  );
  await Promise.all(pings.map((ping) => ping.replies(10)));
  expect(await Promise.all(pings.map((ping) => ping.stop()))).toMatchObject(pings.map(() => ({ lost: 0 })));

  for (const [other, { nodes }] of [
    [c2, c1],
    [c1, c2],
  ] as const)
    for (const node of nodes) {
      const device = `wireguard.${other.name}`;
      expect(await blocksOn(node, device)).toEqual(other.nodes.map(({ podCidrs: [, ipv6] }) => ipv6));
      const routes = await node.tools.routes({ signal });
      const own = routes.filter((route) => route.device === device && route.protocol === 115);
      expect(own.map(({ destination }) => destination)).toEqual([other.podSubnets[1]]);
      // Its own pod is where it was.
      const local = await startPing(node.machine, node.podIps.v4);
      await local.replies(1);
      expect(await local.stop()).toMatchObject({ lost: 0 });
      const log = mesh.agent(node).log();
      expect(log.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    }
});
