import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { expect } from 'vitest';
import type { Agent } from '../support/agent-process.ts';
import { itRotates as it, rotate, rotateWith, startAgent } from '../support/key-rotation.ts';
import type { MeshNode } from '../support/mesh.ts';

it.for([0, 2])('replaces the key of a node without a lost packet, with rp_filter %i', (filter, { mesh }) =>
  rotateWith(filter, mesh),
);

it('replaces the keys of all nodes at once, with a kill after each step', async ({ mesh }) => {
  const agents = new Map<MeshNode, Agent>();
  for (const node of mesh.nodes) agents.set(node, await startAgent(mesh, node));
  const rotating = new AbortController();
  let kills = 0;
  const killing = mesh.nodes.map(async (node) => {
    while (!rotating.signal.aborted) {
      const agent = agents.get(node)!;
      if (agent.log().some(({ msg }) => msg === 'key rotation')) {
        kills++;
        await agent.stop('SIGKILL');
        agents.set(node, await startAgent(mesh, node));
      }
      await delay(20);
    }
  });
  await rotate(mesh, mesh.nodes).finally(() => rotating.abort());
  await Promise.all(killing);
  expect(kills).toBeGreaterThan(10);
  await Promise.all([...agents.values()].map((agent) => agent.stop()));
});

it('replaces the key of a node beside one whose keys stay, with a gap for that one alone', async ({ mesh }) => {
  const [n1, n2, one] = mesh.nodes;
  const agents = await Promise.all([startAgent(mesh, n1!), startAgent(mesh, n2!), mesh.startAgent(one!)]);
  await agents[2].ready();
  const announced = async () =>
    Object.keys((await one!.cluster.server.admin.get(`/api/v1/nodes/${one!.name}`)).metadata.annotations ?? {});
  await eventually(announced, (keys) => !keys.some((key) => key.endsWith('/planes')));
  await rotate(mesh, [n1!], [one!]);
  await Promise.all(agents.map((agent) => agent.stop()));
});
