import { once } from 'node:events';
import { appendFile, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, TIMEOUT_MS } from '@kube-semaphore/eventually';
import { startPing } from '@kube-semaphore/testnet';
import { generatePrivateKey, publicKeyOf, type Link } from '@kube-semaphore/wireguard-tools';
import { describe, expect } from 'vitest';
import type { Mesh, MeshNode } from '../support/mesh.ts';
import { itWithAgents as it } from '../support/mesh-it.ts';
import { publicKeyOn } from '../support/mesh-nodes.ts';

const { signal } = new AbortController();
const DEVICE = 'wireguard.c2';

const linkOn = async ({ tools }: MeshNode, name = DEVICE): Promise<Link | undefined> =>
  (await tools.links({ signal })).find((link) => link.name === name);

const annotationsOf = async ({ name, cluster }: MeshNode) =>
  (await cluster.server.admin.get(`/api/v1/nodes/${name}`)).metadata.annotations ?? {};

/** Pings the other node's pod meanwhile. @returns how many replies were lost */
async function lostDuring(mesh: Mesh, work: () => Promise<void>): Promise<number> {
  const [n1, n2] = mesh.nodes;
  const ping = await startPing(n2!.pod, n1!.podIps.v4);
  await ping.replies(20);
  await work();
  await ping.replies(20);
  return (await ping.stop()).lost;
}

/** Kills the processes with this name in the node's network, and no other. */
async function killWireGuardGo({ machine }: MeshNode): Promise<void> {
  const script = `for pid in $(pgrep -x wireguard-go); do
  [ "$(readlink /proc/$pid/ns/net)" = "$(readlink /proc/$$/ns/net)" ] && kill -KILL $pid
done; true`;
  await machine.run('sh', ['-c', script]);
}

describe('the agent of a node', () => {
  it('adopts the device of the Go program, even if its key is only in the device, and loses no packet', async ({
    mesh,
  }) => {
    const [n1] = mesh.nodes;
    const { machine, keyFolder, tools } = n1!;
    const file = join(keyFolder, `${DEVICE}.key`);
    const key = await readFile(file, 'utf8');
    const lost = await lostDuring(mesh, async () => {
      await mesh.agent(n1!).stop();
      // No mark, a route with another protocol, no key file: as after its container is gone.
      await machine.run('ip', ['link', 'set', 'dev', DEVICE, 'alias', '']);
      await machine.run('ip', ['route', 'replace', '10.2.0.0/16', 'dev', DEVICE, 'protocol', 'boot']);
      await rm(file);
      const agent = await mesh.startAgent(n1!);
      await agent.ready();
      expect(agent.log().map(({ msg }) => msg)).toEqual(
        expect.arrayContaining(['private key written', 'device adopted']),
      );
    });
    expect([lost, await readFile(file, 'utf8'), (await linkOn(n1!))?.alias]).toEqual([
      0,
      key,
      'semaphore-wireguard c2',
    ]);
    expect((await tools.routes({ signal })).filter(({ destination }) => destination === '10.2.0.0/16')).toEqual([
      { destination: '10.2.0.0/16', device: DEVICE, protocol: 115 },
    ]);
    expect(mesh.agent(n1!).stderr()).not.toContain(key.trim());
  });

  it('undoes changes of others, also of a peer, within the observe period', async ({ mesh }) => {
    const [n1, n2] = mesh.nodes;
    const { machine, tools } = n1!;
    await mesh.agent(n1!).stop();
    const agent = await mesh.startAgent(n1!, { flags: { 'observe-period': '1s' } });
    await agent.ready();
    const repairs = async () => (await agent.metric('semaphore_wg_repairs_total', { remote: 'c2' })) ?? Number.NaN;
    const state = async () => {
      const [device, link, routes] = await Promise.all([
        tools.device(DEVICE, { signal }),
        linkOn(n1!),
        tools.routes({ signal }),
      ]);
      const ours = routes
        .filter((route) => route.device === DEVICE)
        .map(({ destination, protocol }) => `${destination} ${protocol}`);
      return {
        peers: device?.peers.map(({ allowedIps }) => allowedIps),
        port: device?.listenPort,
        up: link?.up,
        mtu: link?.mtuBytes,
        addresses: link?.addresses,
        ours,
      };
    };
    const [before, repaired] = [await state(), await repairs()];
    expect(before).toEqual({
      peers: [n2!.podCidrs],
      port: 51_822,
      up: true,
      mtu: 1380,
      addresses: [],
      ours: ['10.2.0.0/16 115', 'fd00:2::/48 115'],
    });
    expect(JSON.parse((await agent.get('/status')).body)).toMatchObject({ remotes: [{ name: 'c2', unrouted: [] }] });
    await tools.changeDevice(
      DEVICE,
      {
        listenPort: 4_444,
        peers: [
          { publicKey: publicKeyOf(generatePrivateKey()), allowedIps: ['10.2.1.0/25'] },
          { publicKey: await publicKeyOn(n2!, 'wireguard.c1'), allowedIps: ['10.2.9.0/24'] },
        ],
      },
      { signal },
    );
    await machine.run('ip', ['link', 'set', 'dev', DEVICE, 'mtu', '1300', 'down']);
    await machine.run('ip', ['address', 'add', '10.1.1.77/32', 'dev', DEVICE]);
    await eventually(state, before);
    await eventually(async () => (await repairs()) > repaired, true);
  });

  it('empties the log of its wireguard-go when that is large, which goes on', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    const file = join(n1!.keyFolder, `${DEVICE}.log`);
    const { ino } = await stat(file);
    await appendFile(file, `${'ERROR: of long ago\n'.repeat(60_000)}ERROR: the last one\n`);
    await mesh
      .agent(n1!)
      .logged('log of wireguard-go was too large, and is empty now', { last: 'ERROR: the last one' });
    // Nobody has this address, so handshakes fail.
    const peer = publicKeyOf(generatePrivateKey());
    await n1!.machine.run('wg', ['set', DEVICE, 'peer', peer, 'endpoint', '192.0.2.1:9', 'persistent-keepalive', '1']);
    await eventually(async () => (await readFile(file, 'utf8')).startsWith('ERROR: '), true);
    expect((await stat(file)).ino).toBe(ino);
    expect((await stat(file)).size).toBeLessThan(10_000);
  });

  it('creates the device again when its wireguard-go was killed', async ({ mesh }) => {
    const [n1, n2] = mesh.nodes;
    await mesh.agent(n1!).stop();
    await (await mesh.startAgent(n1!, { flags: { 'observe-period': '1h' } })).ready();
    const before = await linkOn(n1!);
    await killWireGuardGo(n1!);
    await eventually(async () => {
      const link = await linkOn(n1!);
      return link !== undefined && link.index !== before?.index;
    }, true);
    const ping = await startPing(n1!.pod, n2!.podIps.v6);
    await ping.replies(10);
    expect(await ping.stop()).toMatchObject({ lost: 0 });
  });

  it('ends with 2 if another device has the name, and changes nothing', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    await mesh.agent(n1!).stop();
    const foreign = 'wireguard.x';
    await n1!.machine.run('ip', ['link', 'add', 'dev', foreign, 'type', 'veth', 'peer', 'name', 'other']);
    const agent = await mesh.startAgent(n1!, { remotes: { c2: { deviceName: foreign, wgListenPort: 51_999 } } });
    expect(await agent.exited).toMatchObject({ code: 2 });
    expect(agent.stderr()).toContain(`semaphore-wireguard: ${foreign} is not a WireGuard device\n`);
    await n1!.machine.run('ip', ['link', 'delete', 'dev', foreign]);
  });

  it('names the port that another program has, and binds it as soon as it is free', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    const script = `require('node:dgram').createSocket('udp6').bind(51_999, () => console.log('bound'))`;
    const holder = n1!.machine.spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout ?? holder, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const agent = await mesh.startAgent(n1!, { remotes: { c2: { wgListenPort: 51_999 } } });
    const { error } = await agent.logged('reconcile failed, retrying', { cluster: 'c2' });
    expect(error).toMatchObject({ code: 'DEVICE', message: `port 51999 of ${DEVICE} is used by another program` });
    holder.kill('SIGKILL');
    await agent.ready();
    expect((await n1!.tools.device(DEVICE, { signal }))?.listenPort).toBe(51_999);
    await agent.stop();
  });

  it('lets the node itself reach remote pods if the device has an address', async ({ mesh }) => {
    const [n1, n2] = mesh.nodes;
    const agent = await mesh.startAgent(n1!, { remotes: { c2: { deviceAddress: 'auto' } } });
    await agent.ready();
    expect((await linkOn(n1!))?.addresses.map(({ ip }) => ip).toSorted()).toEqual(['10.1.1.0', 'fd00:1:0:1::']);
    for (const ip of Object.values(n2!.podIps)) {
      const ping = await startPing(n1!.machine, ip);
      await ping.replies(10);
      expect(await ping.stop()).toMatchObject({ lost: 0 });
    }
    await agent.stop();
    await (await mesh.startAgent(n1!)).ready();
    expect((await linkOn(n1!))?.addresses).toEqual([]);
  });

  it('removes device, routes and annotations on cleanup, and keeps the key', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    const endpoint = async () => (await annotationsOf(n1!))['c2.wireguard.semaphore.uw.io/endpoint'];
    await eventually(endpoint, `${n1!.machine.ipv4}:51822`);
    await mesh.agent(n1!).stop();
    const before = await annotationsOf(n1!);
    const cleanup = await mesh.startAgent(n1!, {
      word: 'cleanup',
      flags: { yes: 'true', 'listen-address': undefined },
    });
    expect(await cleanup.exited).toMatchObject({ code: 0 });
    expect([await linkOn(n1!), await annotationsOf(n1!)]).toEqual([undefined, {}]);
    expect((await n1!.tools.routes({ signal })).filter(({ protocol }) => protocol === 115)).toEqual([]);
    await (await mesh.startAgent(n1!)).ready();
    await eventually(() => annotationsOf(n1!), before);
  });
});
