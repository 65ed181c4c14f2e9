import { eventually } from '@kube-semaphore/eventually';
import { type Packet, packetIn, startPing, wireGuardMessage } from '@kube-semaphore/testnet';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { generatePrivateKey, publicKeyOf } from '../../src/index.ts';
import { DEVICE, Lab, signal, toolsOn } from './lab.ts';

const ICMP = 1;
const UDP = 17;
const CLEARTEXT = 'c1ea47ef';

let lab: Lab;
beforeEach(async () => {
  lab = await Lab.start(['n1', 'n2']);
  const nodes = ['n1', 'n2'].map((name) => lab.network.node(name));
  const keys = await Promise.all(nodes.map((node) => lab.device(node)));
  for (const [i, node] of nodes.entries()) {
    const [own, other] = [i + 1, 2 - i];
    await node.addPod([`10.${own}.0.2`, `fd0${own}::2`]);
    const tools = toolsOn(node);
    const allowedIps = [`10.${other}.0.0/24`, `fd0${other}::/64`];
    const endpoint = `${nodes[1 - i]?.ipv4}:51820`;
    await tools.changeDevice(
      DEVICE,
      { peers: [{ publicKey: keys[1 - i] ?? '', endpoint, allowedIps, keepaliveSeconds: 25 }] },
      { signal },
    );
    for (const destination of [`10.${other}.0.0/16`, `fd0${other}::/48`]) {
      await tools.addRoute({ destination, device: DEVICE, protocol: 115 }, { signal });
    }
  }
});
afterEach(() => lab.stop());

it.each([
  { family: 'IPv4', address: '10.2.0.2' },
  { family: 'IPv6', address: 'fd02::2' },
])('carries $family from pod to pod, and nothing of it in cleartext', async ({ address }) => {
  const n1 = lab.network.node('n1');
  const capture = await n1.capture();
  const pod = await n1.addPod(['10.1.0.3', 'fd01::3']);
  const ping = await startPing(pod, address, { pattern: CLEARTEXT });
  await ping.replies(50);
  expect(await ping.stop()).toMatchObject({ lost: 0 });

  const frames = await capture.stop();
  expect(frames.filter((frame) => frame.includes(Buffer.from(CLEARTEXT, 'hex')))).toEqual([]);
  const packets = frames.map(packetIn).filter((packet): packet is Packet => packet !== undefined);
  // Neighbour discovery is all that is not UDP.
  expect(packets.filter(({ protocol }) => protocol === ICMP)).toEqual([]);
  expect(packets.filter((packet) => packet.protocol === UDP && wireGuardMessage(packet) === undefined)).toEqual([]);
  expect(packets.filter((packet) => wireGuardMessage(packet) === 'data').length).toBeGreaterThan(100);

  const [peer] = (await toolsOn(n1).device(DEVICE, { signal }))?.peers ?? [];
  expect(peer?.latestHandshakeSeconds).toBeGreaterThan(1_600_000_000);
  expect(Math.min(peer?.receivedBytes ?? 0, peer?.sentBytes ?? 0)).toBeGreaterThan(50 * 100);
});

it('loses nothing while other peers come, change and go', async () => {
  const n1 = lab.network.node('n1');
  const tools = toolsOn(n1);
  const pod = await n1.addPod(['10.1.0.3']);
  const ping = await startPing(pod, '10.2.0.2');
  const others = Array.from({ length: 50 }, () => publicKeyOf(generatePrivateKey()));
  await tools.changeDevice(
    DEVICE,
    {
      peers: others.map((publicKey, i) => ({
        publicKey,
        endpoint: `172.31.0.200:${i + 1}`,
        allowedIps: [`10.9.${i}.0/24`],
      })),
    },
    { signal },
  );
  await ping.replies(10);
  for (const publicKey of others.slice(0, 10)) {
    await tools.changeDevice(
      DEVICE,
      { peers: [{ publicKey, allowedIps: ['10.9.250.0/24'], keepaliveSeconds: 25 }] },
      { signal },
    );
  }
  await ping.replies(10);
  await tools.changeDevice(DEVICE, { peers: others.map((publicKey) => ({ publicKey, remove: true })) }, { signal });
  await ping.replies(50);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
  expect((await tools.device(DEVICE, { signal }))?.peers).toHaveLength(1);
});

it('keeps the endpoint of a roaming peer, unless an endpoint is set', async () => {
  const [n1, n2] = [lab.network.node('n1'), lab.network.node('n2')];
  const tools = toolsOn(n1);
  const ping = await startPing(await n2.addPod(['10.2.0.3']), '10.1.0.2');
  const endpoint = async () => (await tools.device(DEVICE, { signal }))?.peers[0]?.endpoint;
  expect(await endpoint()).toBe(`${n2.ipv4}:51820`);
  // To n1 this is what a NAT does that forgot: the same peer, from elsewhere.
  await toolsOn(n2).changeDevice(DEVICE, { listenPort: 51_821 }, { signal });
  await eventually(endpoint, `${n2.ipv4}:51821`);
  const publicKey = (await tools.device(DEVICE, { signal }))?.peers[0]?.publicKey ?? '';
  await tools.changeDevice(DEVICE, { peers: [{ publicKey, allowedIps: ['10.2.0.0/24'] }] }, { signal });
  expect(await endpoint()).toBe(`${n2.ipv4}:51821`);
  await ping.stop();
  await n2.stop();
  await tools.changeDevice(DEVICE, { peers: [{ publicKey, endpoint: '172.31.0.78:51820' }] }, { signal });
  expect(await endpoint()).toBe('172.31.0.78:51820');
});
