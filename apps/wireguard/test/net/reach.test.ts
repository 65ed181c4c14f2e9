import { eventually } from '@kube-semaphore/eventually';
import { type NetworkNode, startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { endpointAddressAnnotation } from '../../src/names.ts';
import type { Mesh, MeshNode } from '../support/mesh.ts';
import { itWithMesh as it } from '../support/mesh-it.ts';
import { annotate, endpointsOn, publicKeyOn } from '../support/mesh-nodes.ts';

const { signal } = new AbortController();
const PORT = 4500;

/** `net`: the first three numbers of its private network. `forwarded`: the port of the machine that the router's `PORT` leads to. */
type RouterOptions = {
  readonly name: string;
  readonly net: string;
  readonly forwarded?: number;
  readonly mtuBytes?: number;
};

/** Moves a machine behind a router of its own, which replaces its address, as a NAT does. */
async function putBehindRouter(
  mesh: Mesh,
  { machine }: MeshNode,
  { name, net, forwarded, mtuBytes = 1500 }: RouterOptions,
): Promise<NetworkNode> {
  const router = await mesh.network.addNode(name);
  const [, pid] = /^\/proc\/(\d+)\//.exec(machine.networkFile)!;
  await router.run('ip', ['link', 'add', 'lan', 'type', 'veth', 'peer', 'name', 'lan', 'netns', pid!]);
  for (const [place, host] of [[router, 1] as const, [machine, 2] as const]) {
    await place.run('ip', ['address', 'add', `${net}.${host}/24`, 'dev', 'lan']);
    await place.run('ip', ['link', 'set', 'lan', 'mtu', String(mtuBytes), 'up']);
  }
  await machine.run('ip', ['link', 'set', 'eth0', 'down']);
  await machine.run('ip', ['route', 'add', 'default', 'via', `${net}.1`]);
  const forward = forwarded === undefined ? '' : `iif eth0 udp dport ${PORT} dnat to ${net}.2:${forwarded};`;
  await router.run('nft', ['-f', '-'], {
    input: `table ip nat {
      chain in { type nat hook prerouting priority dstnat; ${forward} }
      chain out { type nat hook postrouting priority srcnat; oif eth0 masquerade; }
    }`,
  });
  return router;
}

it('connects two nodes behind NATs, of which one dials out, and names the pair if both do', async ({ mesh }) => {
  const [a, b] = [mesh.cluster('c1').nodes[0]!, mesh.cluster('c2').nodes[0]!];
  const routerA = await putBehindRouter(mesh, a, { name: 'router-a', net: '192.168.1' });
  const routerB = await putBehindRouter(mesh, b, { name: 'router-b', net: '192.168.2', forwarded: 51_821 });
  await annotate(b.cluster, b.name, { [endpointAddressAnnotation]: `${routerB.ipv4}:${PORT}` });
  const agents = await Promise.all([
    mesh.startAgent(a, { remotes: { c2: { dialOut: true } } }),
    mesh.startAgent(b, { flags: { 'stale-handshake': '1s' } }),
  ]);
  await mesh.complete();

  const annotationsOf = async ({ cluster, name }: MeshNode) =>
    (await cluster.server.admin.get(`/api/v1/nodes/${name}`)).metadata.annotations ?? {};
  expect(Object.keys(await annotationsOf(a))).toEqual(['c2.wireguard.semaphore.uw.io/pubKey']);
  expect(await annotationsOf(b)).toMatchObject({ 'c1.wireguard.semaphore.uw.io/endpoint': `${routerB.ipv4}:${PORT}` });

  const pings = await Promise.all([startPing(a.pod, b.podIps.v4), startPing(b.pod, a.podIps.v4)]);
  await Promise.all(pings.map((ping) => ping.replies(10)));
  const learned = async () => Object.values(await endpointsOn(b, 'wireguard.c1'));
  const [endpoint] = await learned();
  expect(endpoint?.startsWith(`${routerA.ipv4}:`)).toBe(true);

  // Whatever happens to its Node, and to our agent, the learned endpoint stays.
  await annotate(a.cluster, a.name, { note: 'x' });
  await agents[1].stop();
  const again = await mesh.startAgent(b, { flags: { 'stale-handshake': '1s', 'observe-period': '1s' } });
  await again.ready();
  await again.logged('remote nodes listed', { cluster: 'c1' });
  await Promise.all(pings.map((ping) => ping.replies(10)));
  expect(await learned()).toEqual([endpoint]);

  const skipped = (agent: typeof again, remote: string) =>
    agent.metric('semaphore_wg_skipped_objects', { remote, reason: 'both-dial-out', kind: 'problem' });
  expect(await Promise.all([skipped(agents[0], 'c2'), skipped(again, 'c1')])).toEqual([undefined, undefined]);
  await annotate(b.cluster, b.name, { [endpointAddressAnnotation]: 'none' });
  await eventually(() => Promise.all([skipped(agents[0], 'c2'), skipped(again, 'c1')]), [1, 1]);
  const status = await mesh.startAgent(b, { word: 'status', flags: { 'listen-address': undefined } });
  await status.exited;
  expect(status.stdout()).toMatch(/^skip! {4}n1: it dials out, and so does our Node: they never meet$/m);
  // What was learned may still work.
  expect(await learned()).toEqual([endpoint]);
  for (const ping of pings) expect((await ping.stop()).lost).toBeLessThanOrEqual(1);
});

it.for([
  { pathBytes: 1400, net: '192.168.3', families: ['ipv4', 'ipv6'], mtuBytes: 1320 },
  // IPv6 would need 1280 inside, too.
  { pathBytes: 1280, net: '192.168.4', families: ['ipv4'], mtuBytes: 1200 },
])('has a device follow a path of $pathBytes, also after a restart', async (path, { mesh }) => {
  const { pathBytes, net, families, mtuBytes } = path;
  const [a, b] = [await mesh.addNode('c1'), await mesh.addNode('c2')];
  const router = await putBehindRouter(mesh, b, {
    name: `router-${pathBytes}`,
    net,
    forwarded: 51_821,
    mtuBytes: pathBytes,
  });
  await annotate(b.cluster, b.name, { [endpointAddressAnnotation]: `${router.ipv4}:${PORT}` });
  const remotes = { c1: { families, wgDeviceMTU: 'auto' }, c2: { families, wgDeviceMTU: 'auto' } };
  const [agent] = await Promise.all([a, b].map((node) => mesh.startAgent(node, { remotes })));
  const mtuOf = async ({ tools, cluster }: MeshNode) => {
    const device = cluster.name === 'c1' ? 'wireguard.c2' : 'wireguard.c1';
    return (await tools.links({ signal })).find(({ name }) => name === device)?.mtuBytes;
  };
  // Of the link to the router, 1500 - 80 would fit.
  for (const node of [a, b]) await eventually(() => mtuOf(node), mtuBytes, { what: `the MTU on ${node.cluster.name}` });
  await agent!.logged('path MTU measured', { cluster: 'c2', mtuBytes });
  const whole = ['-c', '3', '-M', 'do', '-s', String(mtuBytes - 28), '-W', '30'];
  expect(await a.pod.run('ping', [...whole, b.podIps.v4])).toMatch(/3 received/);
  expect(await b.pod.run('ping', [...whole, a.podIps.v4])).toMatch(/3 received/);

  await agent!.stop();
  const again = await mesh.startAgent(a, { remotes });
  await again.ready();
  expect(await mtuOf(a)).toBe(mtuBytes);
  expect(again.log().filter(({ msg }) => msg === 'device changed')).toEqual([]);
  const { body } = await again.get('/status');
  expect((JSON.parse(body) as { readonly remotes: readonly object[] }).remotes).toMatchObject([
    { config: { mtuBytes: null }, device: { mtuBytes } },
  ]);

  // The port that the router gives to what comes from inside leads nowhere else; without an answer, this endpoint stays.
  await again.stop();
  await a.machine.run('nft', ['-f', '-'], {
    input: `table ip deaf {
      chain in { type filter hook input priority 0; udp dport 51822 drop; }
    }`,
  });
  const publicKey = await publicKeyOn(b, 'wireguard.c1');
  await a.tools.changeDevice('wireguard.c2', { peers: [{ publicKey, endpoint: `${router.ipv4}:51821` }] }, { signal });
  for (const place of [router, b.machine]) await place.run('ip', ['link', 'set', 'lan', 'mtu', String(pathBytes - 20)]);
  await mesh.startAgent(a, { remotes });
  await eventually(() => mtuOf(a), mtuBytes - 20, { what: 'the MTU of the narrower path' });
});
