import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { generatePrivateKey, publicKeyOf, type WireGuardTools } from '../../src/index.ts';
import { DEVICE, Lab, signal, toolsOn } from './lab.ts';

let lab: Lab;
let node: NetworkNode;
let tools: WireGuardTools;
beforeEach(async () => {
  lab = await Lab.start(['n1']);
  node = lab.network.node('n1');
  tools = toolsOn(node);
});
afterEach(() => lab.stop());

const link = async (name: string) => (await tools.links({ signal })).find((one) => one.name === name);
const route = async (destination: string) =>
  (await tools.routes({ signal })).find((one) => one.destination === destination);

it('reads back the device that it configured', async () => {
  const publicKey = await lab.device(node);
  const other = publicKeyOf(generatePrivateKey());
  const peer = {
    publicKey: other,
    endpoint: '[fd31::9]:51820',
    keepaliveSeconds: 25,
    allowedIps: ['10.4.0.0/24', 'fd04::/64'],
  };
  await tools.changeDevice(DEVICE, { peers: [peer] }, { signal });
  const device = await tools.device(DEVICE, { signal });
  expect(device).toEqual({
    name: DEVICE,
    publicKey,
    listenPort: 51_820,
    fwMark: 0,
    peers: [
      {
        ...peer,
        hasPresharedKey: false,
        latestHandshakeSeconds: undefined,
        receivedBytes: 0,
        sentBytes: expect.any(Number) as number,
      },
    ],
  });
  expect(await tools.devices({ signal })).toMatchObject([{ name: DEVICE, publicKey, peers: [peer] }]);
  // No link-local address: a WireGuard device has none unless somebody gives it one.
  expect(await link(DEVICE)).toMatchObject({
    kind: 'tun',
    up: true,
    mtuBytes: 1_380,
    alias: 'semaphore-wireguard c2',
    addresses: [],
    receiveFrameErrors: 0,
  });
  const key = await tools.privateKey(DEVICE, { signal });
  expect(key?.reveal()).toBe(await readFile(join(lab.dir, 'n1.key'), 'utf8'));
});

it('removes a preshared key', async () => {
  await lab.device(node);
  const publicKey = publicKeyOf(generatePrivateKey());
  await writeFile(join(lab.dir, 'psk'), generatePrivateKey().reveal());
  await node.run('wg', ['set', DEVICE, 'peer', publicKey, 'preshared-key', join(lab.dir, 'psk')]);
  expect(await tools.device(DEVICE, { signal })).toMatchObject({ peers: [{ hasPresharedKey: true }] });
  await tools.changeDevice(DEVICE, { peers: [{ publicKey, clearPresharedKey: true }] }, { signal });
  expect(await tools.device(DEVICE, { signal })).toMatchObject({ peers: [{ hasPresharedKey: false }] });
});

it('sets more CIDRs of a peer than fit into one argument', async () => {
  await lab.device(node);
  const allowedIps = Array.from(
    { length: 9_000 },
    (_, i) => `fd04:1111:2222:3333:4444:5555:6666:${(i + 1).toString(16)}/128`,
  );
  const publicKey = publicKeyOf(generatePrivateKey());
  await tools.changeDevice(DEVICE, { peers: [{ publicKey, allowedIps }] }, { signal });
  const device = await tools.device(DEVICE, { signal });
  expect(new Set(device?.peers[0]?.allowedIps)).toEqual(new Set(allowedIps));
});

it('has no device where none exists or speaks WireGuard', async () => {
  expect([await tools.device('nope', { signal }), await tools.device('eth0', { signal })]).toEqual([
    undefined,
    undefined,
  ]);
  await expect(tools.changeDevice('nope', { listenPort: 1 }, { signal })).rejects.toMatchObject({
    code: 'WG_NO_DEVICE',
  });
  await expect(tools.changeLink('nope', { up: true }, { signal })).rejects.toMatchObject({ code: 'WG_NO_DEVICE' });
  await expect(tools.deleteLink('nope', { signal })).resolves.toBeUndefined();
});

it('does not show a broken key file in the error', async () => {
  await lab.device(node);
  const file = join(lab.dir, 'broken');
  const half = generatePrivateKey().reveal().slice(0, 20);
  await writeFile(file, half);
  const error: unknown = await tools
    .changeDevice(DEVICE, { privateKeyFile: file }, { signal })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'WG_FAILED', message: expect.stringContaining('key') as string });
  expect((error as Error).message).not.toContain(half);
});

it('marks routes, and deletes only its own', async () => {
  await lab.device(node);
  const ours = { destination: '10.4.0.0/16', device: DEVICE, protocol: 115 };
  const ours6 = { destination: 'fd04::/48', device: DEVICE, protocol: 115 };
  for (const one of [ours, ours6]) {
    await tools.addRoute(one, { signal });
    expect(await route(one.destination)).toEqual(one);
    await expect(tools.addRoute(one, { signal })).rejects.toMatchObject({ code: 'WG_EXISTS' });
    await tools.deleteRoute(one, { signal });
    await expect(tools.deleteRoute(one, { signal })).resolves.toBeUndefined();
    expect(await route(one.destination)).toBeUndefined();

    await node.run('ip', ['route', 'add', one.destination, 'dev', 'eth0', 'protocol', 'static']);
    const theirs = { ...one, device: 'eth0', protocol: 4 };
    await expect(tools.addRoute(one, { signal })).rejects.toMatchObject({ code: 'WG_EXISTS' });
    await tools.deleteRoute(one, { signal });
    await tools.deleteRoute({ ...theirs, protocol: 115 }, { signal });
    expect(await route(one.destination)).toEqual(theirs);
    await tools.deleteRoute(theirs, { signal });
  }
});

it('replaces a route', async () => {
  await lab.device(node);
  await node.run('ip', ['route', 'add', '10.4.0.0/16', 'dev', DEVICE, 'protocol', 'static']);
  await tools.replaceRoute({ destination: '10.4.0.0/16', device: DEVICE, protocol: 115 }, { signal });
  expect((await tools.routes({ signal })).filter(({ destination }) => destination === '10.4.0.0/16')).toMatchObject([
    { protocol: 115 },
  ]);
});

it('adds and deletes an address', async () => {
  await lab.device(node);
  for (const address of [
    { ip: '10.4.1.1', prefixLength: 32 },
    { ip: 'fd04::1', prefixLength: 128 },
  ]) {
    await tools.addAddress(DEVICE, address, { signal });
    expect(await link(DEVICE)).toMatchObject({ addresses: [address] });
    await expect(tools.addAddress(DEVICE, address, { signal })).rejects.toMatchObject({ code: 'WG_EXISTS' });
    await tools.deleteAddress(DEVICE, address, { signal });
    await expect(tools.deleteAddress(DEVICE, address, { signal })).resolves.toBeUndefined();
    expect(await link(DEVICE)).toMatchObject({ addresses: [] });
  }
});

it('creates a kernel device where the kernel has WireGuard', async () => {
  const outcome = await tools.createDevice(DEVICE, { alias: 'semaphore-wireguard c2', mtuBytes: 1_380 }, { signal });
  const made =
    outcome === 'created'
      ? [{ name: DEVICE, kind: 'wireguard', alias: 'semaphore-wireguard c2', mtuBytes: 1_380, up: false }]
      : [];
  expect((await tools.links({ signal })).filter(({ name }) => name === DEVICE)).toMatchObject(made);
});
