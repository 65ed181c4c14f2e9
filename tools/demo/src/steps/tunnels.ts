import { randomBytes } from 'node:crypto';
import { inspect } from '@kube-semaphore/e2e';
import { endpointAnnotation, pubKeyAnnotation } from '@kube-semaphore/wireguard/names';
import { type PingResult, startPing } from '@kube-semaphore/testnet';
import { commandLines, runCommand } from '../apps.ts';
import { buildNodes, createNode, hasPeers, type MeshNode, type Nodes, nodesPath, prepareAgent } from '../nodes.ts';
import { table } from '../text/table.ts';
import type { Demo, Step } from './start.ts';

/** What pings say, to be looked for on the wire: ping(8) takes 16 bytes. */
const SECRET = 'hello from c1 !!';
/** So many replies, at one in 10 ms, before and after something happens. */
const REPLIES = 30;

const title = 'A tunnel between the nodes';
const purpose = `A call needs a name and a policy that allows it, and it must still get there. semaphore-wireguard runs
  on every node of every cluster: it announces its node to the other clusters, and makes their nodes its peers.`;

/** Two nodes whose pods reach each other through WireGuard; or what an agent would do, where that is not possible. */
export const tunnels: Step = async (demo) => {
  if (demo.ability.lacks.length > 0) return planOnly(demo);
  const nodes = await joinByTunnel(demo);
  demo.nodes = nodes;
  await readTheWire(demo, nodes);
  await killAgent(demo, nodes);
  await removeNode(demo, nodes);
};

async function joinByTunnel({ out, started, ability, c1, c2 }: Demo): Promise<Nodes> {
  out.step(
    title,
    `${purpose} Until now the pods were only objects. Now packets are real: each cluster gets a node with
    a pod, in network namespaces on one Ethernet. Here, ${ability.carrier} does the work of WireGuard.`,
  );
  const nodes = await buildNodes(started, [c1, c2], ability.path);
  const rowOf = ({ cluster: { name, node }, machine }: MeshNode) => [
    name,
    machine.name,
    machine.ipv4,
    machine.ipv6,
    `pods ${node.podCIDRs.join(', ')}`,
  ];
  out.show(table(nodes.map(rowOf)));
  out.say(
    'The agent on n1 learns about c2 from a file. The agent on n2 has a file, too:',
    JSON.stringify(nodes[0].file, null, 2).split('\n'),
  );
  const startMs = performance.now();
  const agents = nodes.map(({ launch }) => started.app(launch));
  out.show(agents[0]?.command ?? []);
  const readyMs = Math.max(...(await Promise.all(agents.map((agent) => agent.ready()))));
  out.result('both semaphore-wireguard agents are ready', readyMs, ': each has made a key, a device and routes');
  await Promise.all(nodes.map((node) => hasPeers(node, 1)));
  out.result('each node is a peer of the other', performance.now() - startMs, ', by what its Node announces:');
  const {
    kind,
    metadata: { name, annotations },
  } = await c1.server.admin.get(`${nodesPath}/n1`);
  const announced = [pubKeyAnnotation(c2.name), endpointAnnotation(c2.name)].map((key) => [key, annotations?.[key]]);
  out.showYaml({ kind, metadata: { name, annotations: Object.fromEntries(announced) } });
  return nodes;
}

async function readTheWire({ out, c2 }: Demo, [n1]: Nodes): Promise<void> {
  out.step(
    'A pod of c1 reaches one of c2, and nobody in between can read it',
    `The pod of c1 pings the pod of c2 by
    its own addresses, a hundred times a second, with the words “${SECRET}”. Meanwhile tcpdump records all packets on
    the Ethernet between the nodes.`,
  );
  const capture = await n1.machine.capture();
  const startMs = performance.now();
  for (const address of c2.node.podIps) {
    const pingMs = performance.now();
    const ping = await startPing(n1.pod, address, { pattern: Buffer.from(SECRET).toString('hex') });
    out.result(`${address} answers`, performance.now() - pingMs);
    await ping.replies(REPLIES);
    lossless(await ping.stop());
  }
  const { encrypted, readable, others } = inspect(await capture.stop(), SECRET);
  if (encrypted === 0 || readable > 0) throw new Error(`${encrypted} encrypted packets, ${readable} readable ones`);
  const detail = ', and not one ping was lost. What crossed the Ethernet:';
  out.result('nothing of it could be read on the way', performance.now() - startMs, detail);
  const counts = {
    'packets inside WireGuard’s': encrypted,
    'anything else, such as handshakes and ARP': others,
    [`packets with “${SECRET}” in them`]: readable,
  };
  out.show(
    table(
      Object.entries(counts).map(([what, count]) => [what, String(count)]),
      { lastColumn: 'right' },
    ),
  );
  const { lines } = await runCommand(n1.launch, 'status');
  out.say('On n1, operators see this:', ['semaphore-wireguard status …', ...lines]);
  out.say('The peer of n1 is n2: its endpoint, its last handshake, and the ranges of its pods.');
}

async function killAgent({ out, started, c1 }: Demo, [n1, n2]: Nodes): Promise<void> {
  const agent = started.running('semaphore-wireguard', c1);
  out.step(
    'The agent is killed, and the tunnel isn’t',
    `Now the pod of c2 pings the pod of c1, a hundred times a
    second, all the time. The agent on n1 is killed:`,
  );
  const ping = await startPing(n2.pod, c1.node.podIps[0]);
  await ping.replies(REPLIES);
  out.show([`kill -9 ${agent.program.pid}`]);
  await agent.stop('SIGKILL');
  await ping.replies(REPLIES);
  out.say(`It is started again, and finds that the tunnel to c2 is there. So it waits up to 5 s, a random time, before
    it asks for the Nodes of c2: if all nodes restart at once, their requests do not all come at once. Nothing differs,
    so it changes nothing.`);
  const readyMs = await started.app(n1.launch).ready();
  await ping.replies(REPLIES);
  const received = lossless(await ping.stop());
  out.result('the agent is ready again', readyMs, `: of ${received} pings since before it died, not one was lost`);
}

async function removeNode({ out, c2 }: Demo, [n1]: Nodes): Promise<void> {
  out.step('A node leaves', 'In c2, somebody deletes the Node n2. It must no longer send packets to n1.');
  const startMs = performance.now();
  await c2.server.admin.delete(`${nodesPath}/n2`);
  await hasPeers(n1, 0);
  out.result('n1 has no peer any more', performance.now() - startMs);
}

/** What is missing for tunnels, and what the agent would do on this machine, if it can say that. */
async function planOnly({ out, ability, c1, c2 }: Demo): Promise<void> {
  out.step(title, purpose);
  out.say(`With nodes in network namespaces, the demo shows that pods reach each other through such a tunnel, what can
    be read on the way, and that an agent is killed without the loss of a packet. For that it lacks here:
    ${ability.lacks.join('; ')}.`);
  if (!ability.canPlan) return;
  // Addresses that are reserved for documentation, and a key that nobody has.
  const [ours, theirs, key] = ['192.0.2.1', '192.0.2.2', randomBytes(32).toString('base64')];
  const annotations = { [pubKeyAnnotation(c1.name)]: key, [endpointAnnotation(c1.name)]: `${theirs}:51820` };
  await createNode(c1, { internalIPs: [ours] });
  await createNode(c2, { internalIPs: [theirs], annotations });
  const { launch } = await prepareAgent(c1, c2);
  out.say(
    `But the agent can say what it would do. Node n1 of c1 stands for this machine, and Node n2 of c2 has the
    annotations that an agent there writes. This command looks, and changes nothing:`,
    commandLines('semaphore-wireguard plan', launch.flags),
  );
  const startMs = performance.now();
  const { code, lines } = await runCommand({ ...launch, path: ability.path }, 'plan');
  if (code === 0) out.result('this is what the agent would do here', performance.now() - startMs);
  else out.say('Something on this machine is in the way, and the agent would not begin:');
  out.show(lines);
}

/** @returns how many replies came @throws {Error} if one didn't */
function lossless({ received, lost }: PingResult): number {
  if (lost > 0) throw new Error(`${lost} pings were lost, ${received} answered`);
  return received;
}
