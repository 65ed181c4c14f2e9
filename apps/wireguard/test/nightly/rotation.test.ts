import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { expect, onTestFinished } from 'vitest';
import type { Agent } from '../support/agent-process.ts';
import { checkSources, itRotates, rotate, rotateWith, startAgent, startAgents } from '../support/key-rotation.ts';
import { type MeshNode, wireGuardGo } from '../support/mesh.ts';

const it = itRotates.extend('shape', { scope: 'file' }, () => ({ c1: 3, c2: 3 }));

const { signal } = new AbortController();

/** As in a Pod, where the agent starts no wireguard-go. */
const POD = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

it('replaces the keys of all nodes at once, with a kill after each step', async ({ mesh }) => {
  await checkSources(mesh, 1);
  const started = await startAgents(mesh, mesh.nodes);
  const agents = new Map<MeshNode, Agent>(mesh.nodes.map((node, i) => [node, started[i]!]));
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
  console.log(`${kills} kills`);
  expect(kills).toBeGreaterThan(10);
});

it('replaces the keys of a whole cluster at once', async ({ mesh }) => {
  await startAgents(mesh, mesh.nodes);
  await rotate(mesh, mesh.cluster('c1').nodes);
});

it.for([0, 2])('replaces the key of a node without a lost packet, with rp_filter %i', (filter, { mesh }) =>
  rotateWith(filter, mesh),
);

it('replaces the key of a node beside one whose keys stay, with a gap for that one alone', async ({ mesh }) => {
  const one = mesh.nodes.at(-1)!;
  await startAgents(mesh, mesh.nodes.slice(0, -1));
  await startAgent(mesh, one, { remotes: {} });
  const announced = async () =>
    Object.keys((await one.cluster.server.admin.get(`/api/v1/nodes/${one.name}`)).metadata.annotations ?? {});
  await eventually(announced, (keys) => !keys.some((key) => key.endsWith('/planes')));
  await rotate(mesh, mesh.nodes.slice(0, 1), [one]);
});

it('replaces the key of a node whose devices two sidecars carry, and whose agent is killed meanwhile', async ({
  mesh,
}) => {
  const [near, ...others] = mesh.nodes as [MeshNode, ...MeshNode[]];
  await near.tools.deleteLink('wireguard.c2', { signal });
  const sidecars = ['wireguard.c2', 'wireguard.c2.1'].map((device) =>
    near.machine.spawn(wireGuardGo(), ['-f', device], { stdio: 'ignore' }),
  );
  onTestFinished(async () => {
    for (const sidecar of sidecars) {
      const ended = once(sidecar, 'exit');
      sidecar.kill('SIGKILL');
      await ended;
    }
  });
  const agent = await startAgent(mesh, near, { env: POD });
  await startAgents(mesh, others);
  const rotating = rotate(mesh, [near]);
  await agent.logged('key rotation', { step: 'begin' });
  await agent.stop('SIGKILL');
  await startAgent(mesh, near, { env: POD });
  await rotating;
});
