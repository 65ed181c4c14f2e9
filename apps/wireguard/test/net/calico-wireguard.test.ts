import { eventually, isDefined } from '@kube-semaphore/eventually';
import { packetIn, startPing, wireGuardMessage } from '@kube-semaphore/testnet';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { expect } from 'vitest';
import { calicoDevices } from '../../src/names.ts';
import { type Mesh, type MeshNode, wireGuardGo } from '../support/mesh.ts';
import { itWithAgents } from '../support/mesh-it.ts';

const it = itWithAgents.extend('shape', { scope: 'file' }, () => ({ c1: 2, c2: 1 }));

const { signal } = new AbortController();
const [device] = calicoDevices as readonly [string];

/** What Felix has by default: the port, the priority of its rule, the index of its table; and one of its bits of marks. */
const PORT = 51_820;
const [PRIORITY, TABLE] = ['99', '1'] as const;
const MARK = '0x100000';

const ICMP = 1;

/** Connects the nodes of a cluster as Felix does: each with the Pods of the others in a table of its own, which it asks first. */
async function encryptAsFelix({ nodes }: { readonly nodes: readonly MeshNode[] }): Promise<void> {
  const keys = new Map(nodes.map((node) => [node, generatePrivateKey()]));
  for (const { machine, tools } of nodes) {
    machine.spawn(wireGuardGo(), ['-f', device], { stdio: 'ignore' });
    await eventually(() => tools.device(device, { signal }), isDefined, { what: device, timeoutMs: 300_000 });
  }
  for (const [node, key] of keys) {
    const { machine, podCidrs } = node;
    const peers = nodes.flatMap((other) =>
      other === node
        ? []
        : [
            'peer',
            publicKeyOf(keys.get(other)!),
            'endpoint',
            `${other.machine.ipv4}:${PORT}`,
            'allowed-ips',
            other.podCidrs[0],
          ],
    );
    const settings = ['private-key', '/dev/stdin', 'listen-port', String(PORT), 'fwmark', MARK];
    // The standard input is a socket, which `wg` can't open.
    await machine.run('sh', ['-c', 'cat | wg set "$@"', 'sh', device, ...settings, ...peers], { input: key.reveal() });
    await machine.run('ip', ['link', 'set', device, 'up']);
    await machine.run('ip', ['route', 'add', 'throw', podCidrs[0], 'table', TABLE]);
    for (const other of nodes)
      if (other !== node) await machine.run('ip', ['route', 'add', other.podCidrs[0], 'dev', device, 'table', TABLE]);
    const rule = ['not', 'fwmark', `${MARK}/${MARK}`, 'priority', PRIORITY, 'table', TABLE];
    await machine.run('ip', ['rule', 'add', ...rule]);
  }
}

/** What `wireguardHostEncryptionEnabled` adds: the addresses of the nodes, and a check of sources that knows the mark. */
async function encryptHosts({ nodes }: { readonly nodes: readonly MeshNode[] }): Promise<void> {
  for (const node of nodes) {
    const { machine, tools } = node;
    await machine.run('sh', ['-c', 'echo 1 > /proc/sys/net/ipv4/conf/all/src_valid_mark']);
    for (const other of nodes) {
      if (other === node) continue;
      const peers = (await tools.device(device, { signal }))!.peers;
      const { publicKey } = peers.find(({ allowedIps }) => allowedIps.includes(other.podCidrs[0]))!;
      const allowed = [other.podCidrs[0], `${other.machine.ipv4}/32`].join(',');
      await machine.run('wg', ['set', device, 'peer', publicKey, 'allowed-ips', allowed]);
      await machine.run('ip', ['route', 'add', `${other.machine.ipv4}/32`, 'dev', device, 'table', TABLE]);
    }
  }
}

/** Pings pods of the other nodes from each pod. @returns what was lost, of at least 10 packets each */
async function lossesIn({ nodes }: Mesh): Promise<readonly number[]> {
  const pairs = nodes.flatMap((from) => nodes.flatMap((to) => (from === to ? [] : [[from, to] as const])));
  return Promise.all(
    pairs.map(async ([from, to]) => {
      const ping = await startPing(from.pod, to.podIps.v4);
      await ping.replies(10);
      return (await ping.stop()).lost;
    }),
  );
}

it('works beside Calico’s own WireGuard, also where that encrypts what nodes send', async ({ mesh }) => {
  const [c1, c2] = [mesh.cluster('c1'), mesh.cluster('c2')];
  // Within c2, and between the nodes of c1, nothing else leads to Pods.
  await encryptAsFelix(c1);
  expect(await lossesIn(mesh)).toEqual(Array.from({ length: 6 }, () => 0));

  await encryptHosts(c1);
  const [one, two] = c1.nodes as readonly [MeshNode, MeshNode];
  const capture = await one.machine.capture();
  const between = await startPing(one.machine, two.machine.ipv4);
  await between.replies(10);
  expect((await between.stop()).lost).toBe(0);
  expect(await lossesIn(mesh)).toEqual(Array.from({ length: 6 }, () => 0));
  const packets = (await capture.stop()).map(packetIn).flatMap((packet) => packet ?? []);
  expect(packets.filter(({ protocol }) => protocol === ICMP)).toEqual([]);
  const data = packets.filter((packet) => wireGuardMessage(packet) === 'data');
  const ports = (number: number) => data.filter(({ payload }) => payload.readUInt16BE(2) === number);
  // To the other node, and from it: three pings of ten packets.
  expect(ports(PORT).length).toBeGreaterThanOrEqual(60);
  // Ours go to the other cluster and come from it as they are, not through Calico's: two pings of ten.
  for (const port of [51_821, 51_822]) expect(ports(port).length).toBeGreaterThanOrEqual(20);
  const peers = (await one.tools.device('wireguard.c2', { signal }))?.peers;
  expect(peers).toMatchObject([{ endpoint: `${c2.nodes[0]!.machine.ipv4}:51821` }]);
});
