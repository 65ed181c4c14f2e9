import { inspect } from '@kube-semaphore/e2e';
import { pubKeyAnnotation, endpointAnnotation } from '@kube-semaphore/naming';
import { type PingResult, startPing } from '@kube-semaphore/testnet';
import type { Ability } from '../stage/ability.ts';
import type { MeshNode } from '../stage/mesh.ts';
import { nodesPath } from '../stage/site.ts';
import type { Scene } from '../stage/stage.ts';
import { table } from '../text/table.ts';

type Tunnels = Extract<Ability, { kind: 'tunnels' }>;

/** What pings say, to be looked for on the wire: ping(8) takes 16 bytes. */
const SECRET = 'hello from c1 !!';
/** So many replies, at one in 10 ms, before and after something happens. */
const REPLIES = 30;

const stand = ({ path, carrier }: Tunnels): Scene => ({
  title: 'A tunnel between the nodes',
  async play({ mesh, c1, c2, tell, signal }) {
    tell.say(
      'What has a name and is let in must still get there. semaphore-wireguard runs on every node of every cluster: it announces ' +
        'its node to the other clusters, and makes their nodes its peers. Until here nothing but objects was real; now packets are: ' +
        `each cluster gets a node with a pod, in network namespaces on one Ethernet. WireGuard itself is done by ${carrier} here.`,
    );
    await mesh.build();
    tell.show(table(mesh.nodes.map(({ site, machine }) => [site.name, machine.name, machine.ipv4, machine.ipv6, `pods ${site.node.podCIDRs.join(', ')}`])));
    const [n1] = mesh.nodes;
    tell.say(`The agent on ${n1.machine.name} is told of ${c2.name} by a file, that on ${c2.node.name} of ${c1.name} by another:`);
    tell.show(JSON.stringify(n1.agent.file, null, 2).split('\n'));
    const startMs = performance.now();
    const agents = mesh.nodes.map((node) => mesh.startAgent(node, path));
    tell.show(agents[0]?.command ?? []);
    const readyMs = await Promise.all(agents.map((agent) => agent.ready({ signal })));
    tell.milestone('both semaphore-wireguard agents are ready', Math.max(...readyMs), ': each has made its key, its device and its routes');
    await Promise.all(mesh.nodes.map((node) => mesh.peers(node, 1)));
    tell.milestone('each node is a peer of the other', performance.now() - startMs, ', by what that announces on its Node:');
    tell.show(await announced(n1));
  },
});

const secret = ({ path }: Tunnels): Scene => ({
  title: 'A pod of c1 reaches one of c2, and nobody in between can read it',
  async play({ mesh, c1, c2, tell }) {
    const [n1, n2] = mesh.nodes;
    tell.say(
      `The pod of ${c1.name} pings that of ${c2.name} by its own addresses, a hundred times a second, with the words “${SECRET}”. ` +
        'Meanwhile tcpdump records all that crosses the Ethernet between the nodes.',
    );
    const capture = await n1.machine.capture();
    const startMs = performance.now();
    for (const address of [c2.node.podIps.v4, c2.node.podIps.v6]) {
      const pingMs = performance.now();
      const ping = await startPing(n1.pod, address, { pattern: Buffer.from(SECRET).toString('hex') });
      tell.milestone(`${address} answers`, performance.now() - pingMs);
      await ping.replies(REPLIES);
      lossless(await ping.stop());
    }
    const wire = inspect(await capture.stop(), SECRET);
    if (wire.encrypted === 0 || wire.readable > 0) throw new Error(`not what crosses a tunnel: ${JSON.stringify(wire)}`);
    tell.milestone('nothing of it could be read on the way', performance.now() - startMs, `, and not one ping was lost. What crossed the Ethernet:`);
    tell.show(
      table(
        [
          ['packets inside WireGuard’s', String(wire.encrypted)],
          ['anything else, such as handshakes and ARP', String(wire.others)],
          [`packets with “${SECRET}” in them`, String(wire.readable)],
        ],
        { lastColumn: 'right' },
      ),
    );
    tell.say(`On ${n1.machine.name}, this is how it looks to those who run it:`);
    tell.show(['semaphore-wireguard status …', ...(await mesh.status(n1, path))]);
    tell.say(`The peer of ${n1.machine.name} is ${n2.machine.name}: where it is, when it was last heard of, and whose packets are its own.`);
  },
});

const killed = ({ path }: Tunnels): Scene => ({
  title: 'The agent is killed, and the tunnel isn’t',
  async play({ backstage, mesh, c1, c2, tell, signal }) {
    const [n1, n2] = mesh.nodes;
    const agent = backstage.runningProgram('semaphore-wireguard', c1.name);
    tell.say(`Now the pod of ${c2.name} pings that of ${c1.name}, a hundred times a second, and doesn’t stop. The agent on ${n1.machine.name} dies:`);
    const ping = await startPing(n2.pod, c1.node.podIps.v4);
    await ping.replies(REPLIES);
    tell.show([`kill -9 ${agent.pid}`]);
    await agent.kill();
    await ping.replies(REPLIES);
    tell.say(
      `It is started again, and finds that a tunnel to ${c2.name} stands. So it may take its time, up to 5 s at random, before it asks ` +
        `for the Nodes of ${c2.name}: where all nodes are restarted at once, they don’t all ask at once. Nothing differs, nothing is touched.`,
    );
    const readyMs = await mesh.startAgent(n1, path).ready({ signal });
    await ping.replies(REPLIES);
    const received = lossless(await ping.stop());
    tell.milestone('the agent is ready again', readyMs, `: of ${received} pings since before it died, not one was lost`);
  },
});

const leaves: Scene = {
  title: 'A node leaves',
  async play({ mesh, c2, tell }) {
    const [n1, n2] = mesh.nodes;
    tell.say(`Somebody deletes the Node ${n2.machine.name} in ${c2.name}. Nobody there may send packets to ${n1.machine.name} any more.`);
    const startMs = performance.now();
    await mesh.remove(n2);
    await mesh.peers(n1, 0);
    tell.milestone(`${n1.machine.name} has no peer any more`, performance.now() - startMs);
  },
};

/** @returns how many replies came @throws {Error} if one didn't */
function lossless({ received, lost }: PingResult): number {
  if (lost > 0) throw new Error(`${lost} pings were lost, ${received} answered`);
  return received;
}

/** What a Node says to the other cluster. */
async function announced({ site, remote }: MeshNode): Promise<string[]> {
  const { metadata } = await site.server.admin.get(`${nodesPath}/${site.node.name}`);
  const keys = [pubKeyAnnotation(remote.name), endpointAnnotation(remote.name)];
  return ['kind: Node', 'metadata:', `  name: ${metadata.name}`, '  annotations:', ...keys.map((key) => `    ${key}: ${metadata.annotations?.[key] ?? ''}`)];
}

/** Two nodes whose pods reach each other through WireGuard, and what may happen to them. */
export const tunnels = (ability: Tunnels): readonly Scene[] => [stand(ability), secret(ability), killed(ability), leaves];
