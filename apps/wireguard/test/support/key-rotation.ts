import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { eventually } from '@kube-semaphore/eventually';
import { type Place, startPing } from '@kube-semaphore/testnet';
import { expect, onTestFinished } from 'vitest';
import type { Agent } from './agent-process.ts';
import type { AgentOptions, Mesh, MeshNode } from './mesh.ts';
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

/** What a node has of a rotation: the second device, which a sidecar keeps while it is down; routes of single nodes, and a next key. */
async function leftovers(node: MeshNode): Promise<readonly string[]> {
  const second = `${device(node)}.1`;
  const [links, routes, files] = await Promise.all([
    node.tools.links({ signal }),
    node.tools.routes({ signal }),
    node.machine.run('ls', [node.keyFolder]),
  ]);
  return [
    ...links.flatMap(({ name, up }) => (name === second && up ? [name] : [])),
    ...routes.flatMap((route) => (route.device === second ? [route.destination] : [])),
    ...files.split('\n').filter((name) => name.endsWith('.next')),
  ];
}

/** Starts an agent with `keyRotation`, by default, until the end of the test, and waits until it is ready. */
export async function startAgent(mesh: Mesh, node: MeshNode, options: AgentOptions = {}): Promise<Agent> {
  const agent = await mesh.startAgent(node, { remotes, ...options });
  onTestFinished(async () => void (await agent.stop('SIGKILL')));
  await agent.ready();
  return agent;
}

/** The same on nodes, one after the other: on a small machine, all at once would take too long. */
export async function startAgents(mesh: Mesh, nodes: readonly MeshNode[]): Promise<readonly Agent[]> {
  const agents: Agent[] = [];
  for (const node of nodes) agents.push(await startAgent(mesh, node));
  return agents;
}

/** What a TCP connection met: the longest time between two echoes, and why it ended too early. */
type Echoes = { readonly longestMs: number; readonly error: string | null };

/** Sends a byte on a connection to each address every 20 ms, which comes back, until it is stopped. */
function startEchoes(from: Place, addresses: readonly string[]): () => Promise<readonly Echoes[]> {
  const script = `const met = process.argv.slice(1).map((host) => {
      const each = { longestMs: 0, error: 'no echo' };
      let last;
      const socket = require('node:net').connect({ host, port: 7000, noDelay: true });
      socket.on('data', () => {
        const now = performance.now();
        if (last === undefined) each.error = null;
        each.longestMs = Math.max(each.longestMs, Math.round(now - (last ?? now)));
        last = now;
      });
      socket.on('error', ({ code }) => (each.error ??= code)).on('close', () => (each.error ??= 'closed'));
      setInterval(() => socket.write('x'), ${INTERVAL_MS});
      return each;
    });
    process.stdin.resume().on('end', () => process.stdout.write(JSON.stringify(met), () => process.exit()));`;
  const child = from.spawn(process.execPath, ['-e', script, ...addresses], { stdio: ['pipe', 'pipe', 'inherit'] });
  const output = text(child.stdout!);
  return async () => {
    child.stdin!.end();
    return JSON.parse(await output) as readonly Echoes[];
  };
}

/** Sends back what comes to port 7000 of a place. @returns what ends it */
async function serveEchoes(place: Place): Promise<() => boolean> {
  const script = `require('node:net')
    .createServer((socket) => socket.on('error', () => {}).pipe(socket))
    .listen(7000, '::', () => console.log('listening'))`;
  const server = place.spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout!, 'data');
  return () => server.kill();
}

/**
 * Rotates the keys of nodes, to the end on all nodes, while pods of both clusters ping each other in both directions, and those of c1
 * have connections to those of c2.
 *
 * @param mayLose nodes to and from which replies to the rotating ones may be lost for 3 s together: on a busy machine, each step takes
 * its time
 */
export async function rotate(mesh: Mesh, nodes: readonly MeshNode[], mayLose: readonly MeshNode[] = []): Promise<void> {
  const most = (...ends: readonly MeshNode[]): number =>
    ends.some((end) => mayLose.includes(end)) && ends.some((end) => nodes.includes(end)) ? MOST_LOST : 0;
  const ways = mesh.nodes.flatMap((from) =>
    mesh.nodes.filter(({ cluster }) => cluster !== from.cluster).map((to) => ({ from, to, most: most(from, to) })),
  );
  const [callers, called] = ['c1', 'c2'].map((name) => mesh.cluster(name).nodes) as [
    readonly MeshNode[],
    readonly MeshNode[],
  ];
  const servers = await Promise.all(called.map(({ pod }) => serveEchoes(pod)));
  const addresses = called.flatMap(({ podIps }) => FAMILIES.map((family) => podIps[family]));
  const echoes = callers.map(({ pod }) => startEchoes(pod, addresses));
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
  const met = (await Promise.all(echoes.map((stop) => stop()))).flat();
  for (const stop of servers) stop();
  const received = results.reduce((sum, each) => sum + each.received, 0);
  const lost = results.map((each) => each.lost);
  const sum = lost.reduce((all, each) => all + each, 0);
  const longestMs = Math.max(...met.map((each) => each.longestMs));
  console.log(
    `${lost.length} pings: ${received} replies, ${sum} lost, at most ${Math.max(...lost)} of one;`,
    `${met.length} connections: at most ${longestMs} ms between two echoes`,
  );
  const tooMany = ways
    .flatMap((way) => FAMILIES.map(() => way))
    .flatMap(({ from, to, most: allowed }, i) =>
      lost[i]! <= allowed ? [] : [`${lost[i]} from ${from.cluster.name}-${from.name} to ${to.cluster.name}-${to.name}`],
    );
  expect(tooMany).toEqual([]);
  expect(met.flatMap(({ error }) => error ?? [])).toEqual([]);
  for (const [i, node] of nodes.entries()) expect(await keyOn(node)).not.toBe(before[i]);
}

/** What an agent says of the rotation with its one remote. */
async function rotationOf(agent: Agent): Promise<unknown> {
  const { body } = await agent.get('/status');
  return (JSON.parse(body) as { readonly remotes: readonly [{ readonly rotation?: object }] }).remotes[0].rotation;
}

/** Has Linux check sources as `rp_filter` says on all nodes, also of devices to come. */
export async function checkSources(mesh: Mesh, rpFilter: number): Promise<void> {
  for (const { machine } of mesh.nodes)
    for (const name of ['all', 'default'])
      await machine.run('sh', ['-c', `echo ${rpFilter} > /proc/sys/net/ipv4/conf/${name}/rp_filter`]);
}

/** Rotates the key of one node where Linux checks sources as `rp_filter` says. */
export async function rotateWith(rpFilter: number, mesh: Mesh): Promise<void> {
  await checkSources(mesh, rpFilter);
  const agents = await startAgents(mesh, mesh.nodes);
  const [own, ...others] = agents as [Agent, ...Agent[]];
  const theirs = others.slice(mesh.cluster('c1').nodes.length - 1);
  const rotations = () => Promise.all([own, ...theirs].map(rotationOf));
  const shown = eventually(rotations, (all) => all.every((each) => each !== undefined), {
    what: 'a rotation in /status',
  });
  const [ours, ...each] = (await Promise.all([shown, rotate(mesh, mesh.nodes.slice(0, 1))]))[0];
  expect(ours).toMatchObject({ plane: 1, since: expect.any(String), rotating: [] });
  for (const their of each) expect(their).toMatchObject({ plane: 0, since: null, rotating: ['n1'], laggards: [] });
  expect(await Promise.all(agents.map(rotationOf))).toEqual(agents.map(() => undefined));
}
