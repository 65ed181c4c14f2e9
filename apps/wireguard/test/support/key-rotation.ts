import { eventually } from '@kube-semaphore/eventually';
import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import type { Agent } from './agent-process.ts';
import type { Mesh, MeshNode } from './mesh.ts';
import { itWithMesh } from './mesh-it.ts';

const { signal } = new AbortController();

/** Two clusters, with one and two nodes, whose keys rotate. */
export const itRotates = itWithMesh.extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 2 }));

const INTERVAL_MS = 20;
const MOST_LOST = 3_000 / INTERVAL_MS;
const FAMILIES = ['v4', 'v6'] as const;

const remotes = {
  c1: { keyRotation: { secondPort: 51_921 } },
  c2: { keyRotation: { secondPort: 51_922 } },
};

const device = (node: MeshNode): string => (node.cluster.name === 'c1' ? 'wireguard.c2' : 'wireguard.c1');

const keyOn = async (node: MeshNode): Promise<string | undefined> =>
  (await node.tools.device(device(node), { signal }))?.publicKey;

/** What a node has of a rotation: the second device, routes of single nodes, and a next key. */
async function leftovers(node: MeshNode): Promise<readonly string[]> {
  const second = `${device(node)}.1`;
  const [links, routes, files] = await Promise.all([
    node.tools.links({ signal }),
    node.tools.routes({ signal }),
    node.machine.run('ls', [node.keyFolder]),
  ]);
  return [
    ...links.flatMap(({ name }) => (name === second ? [name] : [])),
    ...routes.flatMap((route) => (route.device === second ? [route.destination] : [])),
    ...files.split('\n').filter((name) => name.endsWith('.next')),
  ];
}

/** Starts an agent with `keyRotation`, and waits until it is ready. */
export const startAgent = async (mesh: Mesh, node: MeshNode): Promise<Agent> => {
  const agent = await mesh.startAgent(node, { remotes });
  await agent.ready();
  return agent;
};

/**
 * Rotates the keys of nodes, to the end on all nodes, while pods of both clusters ping each other in both directions.
 *
 * @param mayLose nodes to and from which replies may be lost for 3 s together: on a busy machine, each step takes its time
 */
export async function rotate(mesh: Mesh, nodes: readonly MeshNode[], mayLose: readonly MeshNode[] = []): Promise<void> {
  const [a, ...others] = mesh.nodes;
  const ways = others.flatMap((b) => [
    { from: a!, to: b, most: mayLose.includes(b) ? MOST_LOST : 0 },
    { from: b, to: a!, most: mayLose.includes(b) ? MOST_LOST : 0 },
  ]);
  const pings = await Promise.all(
    ways.flatMap(({ from, to }) =>
      FAMILIES.map((family) => startPing(from.pod, to.podIps[family], { intervalMs: INTERVAL_MS })),
    ),
  );
  await Promise.all(pings.map((ping) => ping.replies(10)));
  const before = await Promise.all(nodes.map(keyOn));
  await Promise.all(
    nodes.map(async (node) => {
      const command = await mesh.startAgent(node, { word: 'rotate', remotes, flags: { 'listen-address': undefined } });
      expect(await command.exited).toMatchObject({ code: 0 });
      expect(command.stdout()).toMatch(/next key is .*done/s);
    }),
  );
  for (const node of mesh.nodes)
    await eventually(() => leftovers(node), [], {
      timeoutMs: 400_000,
      what: `the end on ${node.cluster.name}-${node.name}`,
    });
  await Promise.all(pings.map((ping) => ping.replies(50)));
  const results = await Promise.all(pings.map((ping) => ping.stop()));
  const tooMany = ways
    .flatMap((way) => FAMILIES.map(() => way))
    .flatMap(({ from, to, most }, i) => {
      const { lost } = results[i]!;
      return lost <= most ? [] : [`${lost} from ${from.cluster.name}-${from.name} to ${to.cluster.name}-${to.name}`];
    });
  expect(tooMany).toEqual([]);
  for (const [i, node] of nodes.entries()) expect(await keyOn(node)).not.toBe(before[i]);
}

/** What an agent says of the rotation with its one remote. */
async function rotationOf(agent: Agent): Promise<unknown> {
  const { body } = await agent.get('/status');
  return (JSON.parse(body) as { readonly remotes: readonly [{ readonly rotation?: object }] }).remotes[0].rotation;
}

/** Rotates the key of one node where Linux checks sources as `rp_filter` says. */
export async function rotateWith(rpFilter: number, mesh: Mesh): Promise<void> {
  for (const node of mesh.nodes)
    for (const name of ['all', 'default'])
      await node.machine.run('sh', ['-c', `echo ${rpFilter} > /proc/sys/net/ipv4/conf/${name}/rp_filter`]);
  const agents = await Promise.all(mesh.nodes.map((node) => startAgent(mesh, node)));
  const rotations = () => Promise.all(agents.map(rotationOf));
  const shown = eventually(rotations, (all) => all.every((each) => each !== undefined), {
    what: 'a rotation in /status',
  });
  const [ours, ...theirs] = (await Promise.all([shown, rotate(mesh, mesh.nodes.slice(0, 1))]))[0];
  expect(ours).toMatchObject({ plane: 1, since: expect.any(String), rotating: [] });
  for (const each of theirs) expect(each).toMatchObject({ plane: 0, since: null, rotating: ['n1'], laggards: [] });
  expect(await rotations()).toEqual(agents.map(() => undefined));
  await Promise.all(agents.map((agent) => agent.stop()));
}
