import { randomBytes } from 'node:crypto';
import { inspect } from '@kube-semaphore/e2e';
import { endpointAnnotation, pubKeyAnnotation } from '@kube-semaphore/wireguard/names';
import { type PingResult, startPing } from '@kube-semaphore/testnet';
import { commandLines, runCommand } from '../apps.ts';
import { buildNodes, createNode, hasPeers, type MeshNode, type Nodes, nodesPath, prepareAgent } from '../nodes.ts';
import { table } from '../text/table.ts';
import type { Demo, Step } from './start.ts';

/** The content of pings, to search for on the wire: ping(8) takes 16 bytes. */
const SECRET = 'hello from c1 !!';
/** Replies, one in 10 ms, to wait for before and after each change. */
const REPLIES = 30;

const title = 'A tunnel between the nodes';
const purpose = `A call needs a name, a policy that allows it, and a way for its packets. semaphore-wireguard runs on every
  node of every cluster: it announces its node to the other clusters, and makes their nodes its peers.`;

/** Two nodes whose pods reach each other through WireGuard, or if this isn't possible, what an agent would do. */
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
    `${purpose} Until now, pods were only objects. Now packets are real: each cluster gets a node with a
    pod, in network namespaces on one Ethernet. Here, ${ability.carrier} carries the tunnels.`,
  );
  const nodes = await buildNodes(started, [c1, c2], ability.path);
  const rowOf = ({ cluster, machine }: MeshNode) => [cluster.name, machine.name, machine.ipv4, machine.ipv6];
  out.show(table(nodes.map(rowOf)));
  out.say(
    'A file describes c2 for the agent on n1. The agent on n2 has a file, too:',
    JSON.stringify(nodes[0].file, null, 2).split('\n'),
  );
  const startMs = performance.now();
  const agents = nodes.map(({ launch }) => started.app(launch));
  out.show(agents[0]?.command ?? []);
  const readyMs = Math.max(...(await Promise.all(agents.map((agent) => agent.ready()))));
  out.result('both semaphore-wireguard agents are ready', readyMs, ': each has made a key, a device and routes');
  await Promise.all(nodes.map((node) => hasPeers(node, 1)));
  out.result('each node is a peer of the other', performance.now() - startMs, ', by the announcement on its Node:');
  const { kind, metadata } = await c1.server.admin.get(`${nodesPath}/n1`);
  const keys = [pubKeyAnnotation(c2.name), endpointAnnotation(c2.name)];
  const annotations = Object.fromEntries(keys.map((key) => [key, metadata.annotations?.[key]]));
  out.showYaml({ kind, metadata: { name: metadata.name, annotations } });
  return nodes;
}

async function readTheWire({ out, c2 }: Demo, [n1]: Nodes): Promise<void> {
  out.step(
    'A pod of c1 reaches a pod of c2, and nothing in between can read the packets',
    `The pod of
    c1 pings the addresses of the pod of c2, a hundred times a second, with the text “${SECRET}”. tcpdump records all
    packets on the Ethernet between the nodes.`,
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
  const detail = `, and no ping was lost. ${encrypted} encrypted packets and ${others} others, such as handshakes and ARP,
    crossed the Ethernet, and none with the text`;
  out.result('the pings were encrypted', performance.now() - startMs, detail);
  const { lines } = await runCommand(n1.launch, 'status');
  out.say('An operator sees this on n1:', ['semaphore-wireguard status …', ...lines]);
  out.say('The peer of n1 is n2: its endpoint, its last handshake, and the ranges of its pods.');
}

async function killAgent({ out, started, c1 }: Demo, [n1, n2]: Nodes): Promise<void> {
  const agent = started.running('semaphore-wireguard', c1);
  out.step(
    'The agent is killed, and the tunnel stays',
    `The pod of c2 pings the pod of c1, a hundred times a
    second. The agent on n1 is killed:`,
  );
  const ping = await startPing(n2.pod, c1.node.podIps[0]);
  await ping.replies(REPLIES);
  out.show([`kill -9 ${agent.program.pid}`]);
  await agent.stop('SIGKILL');
  await ping.replies(REPLIES);
  out.say(`It starts again, and finds the tunnel to c2. So it waits for a random time of up to 5 s before it lists the
    Nodes of c2: if all nodes restart at once, their requests are spread. Nothing differs, so it changes nothing.`);
  const readyMs = await started.app(n1.launch).ready();
  await ping.replies(REPLIES);
  const received = lossless(await ping.stop());
  out.result('the agent is ready again', readyMs, `: of ${received} pings in that time, none was lost`);
}

async function removeNode({ out, c2 }: Demo, [n1]: Nodes): Promise<void> {
  out.step('A node is removed', 'In c2, someone deletes the Node n2. It must no longer send packets to n1.');
  const startMs = performance.now();
  await c2.server.admin.delete(`${nodesPath}/n2`);
  await hasPeers(n1, 0);
  out.result('n1 has no peer', performance.now() - startMs);
}

/** Prints what is missing for tunnels, and if possible, what the agent would do on this machine. */
async function planOnly({ out, ability, c1, c2 }: Demo): Promise<void> {
  out.step(title, purpose);
  out.say(`With nodes in network namespaces, the demo shows how pods reach each other through a tunnel, that the
    packets are encrypted, and that none is lost when an agent is killed. For this, the following is missing here:
    ${ability.lacks.join('; ')}.`);
  if (!ability.canPlan) return;
  // Addresses for documentation (RFC 5737), and a random key.
  const [ours, theirs, key] = ['192.0.2.1', '192.0.2.2', randomBytes(32).toString('base64')];
  const annotations = { [pubKeyAnnotation(c1.name)]: key, [endpointAnnotation(c1.name)]: `${theirs}:51820` };
  await createNode(c1, { internalIPs: [ours] });
  await createNode(c2, { internalIPs: [theirs], annotations });
  const { launch } = await prepareAgent(c1, c2);
  out.say(
    `But the agent can say what it would do. Node n1 of c1 stands for this machine, and Node n2 of c2 has the
    annotations that an agent there writes. This command only reads:`,
    commandLines('semaphore-wireguard plan', launch.flags),
  );
  const startMs = performance.now();
  const { code, lines } = await runCommand({ ...launch, path: ability.path }, 'plan');
  if (code === 0) out.result('the agent would do this here', performance.now() - startMs);
  else out.say('The agent could not start on this machine:');
  out.show(lines);
}

/** @returns the number of replies @throws {Error} if one is missing */
function lossless({ received, lost }: PingResult): number {
  if (lost > 0) throw new Error(`${lost} pings were lost, ${received} answered`);
  return received;
}
