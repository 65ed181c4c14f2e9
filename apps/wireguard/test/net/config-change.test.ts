import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import type { MeshNode } from '../support/mesh.ts';
import { itWithMesh } from '../support/mesh-it.ts';

const { signal } = new AbortController();

const it = itWithMesh.extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 0, c3: 0 }));

/** What is ours on a node: devices with their ports, routes, and annotations for clusters. */
async function oursOn({ name, cluster, tools }: MeshNode) {
  const [links, devices, routes, node] = await Promise.all([
    tools.links({ signal }),
    tools.devices({ signal }),
    tools.routes({ signal }),
    cluster.server.admin.get(`/api/v1/nodes/${name}`),
  ]);
  const ports = new Map(devices.map((device) => [device.name, device.listenPort]));
  return {
    devices: links
      .filter(({ alias }) => alias.startsWith('semaphore-wireguard'))
      .map((link) => `${link.name} ${ports.get(link.name)}`),
    routes: routes
      .filter(({ protocol }) => protocol === 115)
      .map(({ destination, device }) => `${destination} ${device}`),
    announced: Object.entries(node.metadata.annotations ?? {})
      .filter(([key]) => key.endsWith('/endpoint'))
      .map(([key, value]) => `${key.split('.')[0]} ${value}`),
  };
}

const of = (k: number, device = `wireguard.c${k}`, port = 51_820 + k) => ({
  devices: [`${device} ${port}`],
  routes: [`10.${k}.0.0/16 ${device}`, `fd00:${k}::/48 ${device}`],
  announced: [`c${k} 172.31.0.1:${port}`],
});

/** An agent is ready when its devices are set up. It announces them at about the same time. */
async function comesToHave(node: MeshNode, expected: Awaited<ReturnType<typeof oursOn>>): Promise<void> {
  await eventually(() => oursOn(node), expected);
}

it('removes what is left of a remote, and nothing else', async ({ mesh }) => {
  const [n1] = mesh.nodes;
  const first = await mesh.startAgent(n1!);
  await first.ready();
  const sorted = async () => Object.values(await oursOn(n1!)).map((found) => found.toSorted());
  const both = (['devices', 'routes', 'announced'] as const).map((kind) => [...of(2)[kind], ...of(3)[kind]].toSorted());
  await eventually(sorted, both);
  // No repair so far.
  expect(await first.metric('semaphore_wg_repairs_total', { remote: 'c2' })).toBe(0);
  await first.stop();
  // Tunnels stay when an agent ends.
  expect(await sorted()).toEqual(both);

  const second = await mesh.startAgent(n1!, { remotes: { c3: null } });
  await second.ready();
  await comesToHave(n1!, of(2));
  await second.stop();

  // A device with another name gets the port of the former one.
  const third = await mesh.startAgent(n1!, { remotes: { c3: null, c2: { deviceName: 'wg-c2' } } });
  await third.ready();
  await comesToHave(n1!, of(2, 'wg-c2'));
  await third.stop();

  const fourth = await mesh.startAgent(n1!, {
    remotes: { c3: null, c2: { deviceName: 'wg-c2', wgListenPort: 4_242 } },
  });
  await fourth.ready();
  await comesToHave(n1!, of(2, 'wg-c2', 4_242));
});

it('lets remotes swap their ports', async ({ mesh }) => {
  const [n1] = mesh.nodes;
  await mesh.agent(n1!).stop();
  const first = await mesh.startAgent(n1!);
  await first.ready();
  await first.stop();
  const second = await mesh.startAgent(n1!, {
    remotes: { c2: { wgListenPort: 51_823 }, c3: { wgListenPort: 51_822 } },
  });
  await second.ready();
  expect((await oursOn(n1!)).devices.toSorted()).toEqual(['wireguard.c2 51823', 'wireguard.c3 51822']);
  // wireguard-go frees its port before it binds the next, so a retry works; with the kernel's WireGuard it never would.
  expect(second.log().filter(({ msg }) => msg === 'reconcile failed, retrying')).toEqual([]);
});

describe('without a restart', () => {
  it('a remote is added and removed, and another is not touched', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    await mesh.agent(n1!).stop();
    const agent = await mesh.startAgent(n1!, { remotes: { c3: null } });
    await agent.ready();
    await comesToHave(n1!, of(2));

    await mesh.configure(n1!);
    expect(await agent.logged('config file changed, and is in force')).toMatchObject({ added: ['c3'], removed: [] });
    await agent.logged('remote nodes listed', { cluster: 'c3' });
    const ports = async () => (await oursOn(n1!)).devices.toSorted();
    await eventually(ports, ['wireguard.c2 51822', 'wireguard.c3 51823']);
    expect(await agent.metric('semaphore_wg_remote_up', { remote: 'c3' })).toBe(1);

    await mesh.configure(n1!, { c3: null });
    await comesToHave(n1!, of(2));
    expect(await agent.metric('semaphore_wg_remote_up', { remote: 'c3' })).toBeUndefined();
    expect(await agent.status()).toMatchObject({
      remotes: [{ name: 'c2' }],
      configFile: { problems: [], needRestart: [] },
    });
    expect(await agent.get('/readyz')).toMatchObject({ status: 200 });
    expect(agent.log().filter(({ msg, cluster }) => msg === 'API server reached' && cluster === 'c2')).toHaveLength(1);
  });

  it('a remote is used in one family, and in both again, through the same device', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    const created = () =>
      mesh
        .agent(n1!)
        .log()
        .filter(({ msg }) => msg === 'device created');
    const before = created();
    await mesh.configure(n1!, { c3: null, c2: { families: ['ipv6'] } });
    // Where its node is has any family.
    await comesToHave(n1!, { ...of(2), routes: ['fd00:2::/48 wireguard.c2'] });
    await mesh.configure(n1!, { c3: null });
    await comesToHave(n1!, of(2));
    expect(created()).toEqual(before);
  });

  it('remotes swap their ports, and get other names and ports of devices', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    const agent = mesh.agent(n1!);
    await mesh.configure(n1!, { c2: { wgListenPort: 51_823 }, c3: { wgListenPort: 51_822 } });
    const ports = async () => (await oursOn(n1!)).devices.toSorted();
    await eventually(ports, ['wireguard.c2 51823', 'wireguard.c3 51822']);
    await mesh.configure(n1!, { c2: { wgListenPort: 51_822 }, c3: { wgListenPort: 51_823 } });
    await eventually(ports, ['wireguard.c2 51822', 'wireguard.c3 51823']);
    await mesh.configure(n1!, { c3: null, c2: { deviceName: 'wg-c2', wgListenPort: 51_823 } });
    await comesToHave(n1!, of(2, 'wg-c2', 51_823));
    expect(agent.log().filter(({ msg }) => msg === 'reconcile failed, retrying')).toEqual([]);
  });

  it('an invalid file, and one that can not work on this node, change nothing, and are told', async ({ mesh }) => {
    const [n1] = mesh.nodes;
    const agent = mesh.agent(n1!);
    const before = await oursOn(n1!);
    const stale = () => agent.metric('semaphore_wg_config_stale');
    for (const [fields, problem] of [
      [{ wgListenPort: 70_000 }, 'remotes[0].wgListenPort: 70000 is not a whole number from 1 to 65535'],
      [{ podSubnet: '10.1.0.0/16' }, '10.1.1.0/24'],
      [{ kubeConfigPath: '/none' }, '/none'],
    ] as const) {
      await mesh.configure(n1!, { c3: null, c2: { deviceName: 'wg-c2', wgListenPort: 51_823, ...fields } });
      await eventually(
        async () => JSON.stringify(await agent.status()),
        (text) => text.includes(problem),
      );
      await eventually(stale, 1);
      expect(await oursOn(n1!)).toEqual(before);
    }
    await mesh.configure(n1!, { c3: null, c2: { deviceName: 'wg-c2', wgListenPort: 51_823 } });
    await eventually(stale, 0);
    await agent.logged('config file is as before');
    expect(await oursOn(n1!)).toEqual(before);
  });
});
