import { eventually } from '@kube-semaphore/eventually';
import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import type { Agent } from '../support/agent-process.ts';
import type { MeshNode } from '../support/mesh.ts';
import { itWithAgents } from '../support/mesh-it.ts';
import {
  addShamNode,
  annotate,
  announceAs,
  beReady,
  changesBy,
  deleteNode,
  endpointsOn,
  newPublicKey,
  publicKeyOn,
} from '../support/mesh-nodes.ts';

const { signal } = new AbortController();
const DEVICE = 'wireguard.c2';

const it = itWithAgents
  .extend('shape', { scope: 'file' }, () => ({ c1: 2, c2: 2 }))
  .extend('agentOptions', { scope: 'file' }, () => ({
    remotes: { c1: { resyncPeriod: '1s' }, c2: { resyncPeriod: '1s' } },
  }));

/** Waits for two more reconciles of an agent, as the first may have begun earlier. */
async function resynced(agent: Agent): Promise<void> {
  const count = async () =>
    (await agent.metric('semaphore_wg_sync_peers_total', { device: DEVICE, success: '1' })) ?? 0;
  const before = await count();
  await eventually(async () => (await count()) >= before + 2, true);
}

/**
 * Lets WireGuard's packets leave a machine from another of its addresses, as behind a NAT that forgot. What comes to the
 * first address arrives as well.
 */
async function moveTo({ machine }: MeshNode, ip: string, port: number): Promise<void> {
  await machine.run('ip', ['address', 'add', `${ip}/24`, 'dev', 'eth0']);
  const rule = `ip saddr ${machine.ipv4} udp sport ${port} ip saddr set ${ip}`;
  await machine.run('nft', ['-f', '-'], {
    input: `table ip moved {\n chain out {\n type filter hook postrouting priority 0\n ${rule}\n }\n}\n`,
  });
}

it('keeps a peer that moves as it is, even after a restart, and loses nothing', async ({ mesh }) => {
  const [near, , far] = mesh.nodes;
  const key = await publicKeyOn(far!, 'wireguard.c1');
  const endpoint = async () => (await endpointsOn(near!, DEVICE))[key];
  const ping = await startPing(far!.pod, near!.podIps.v4);
  await ping.replies(20);
  const before = [await endpoint(), changesBy(mesh.agent(near!))];
  expect(before[0]).toBe(`${far!.machine.ipv4}:51821`);

  await moveTo(far!, '172.31.0.201', 51_821);
  await eventually(endpoint, '172.31.0.201:51821');
  await ping.replies(20);
  await resynced(mesh.agent(near!));
  expect([await endpoint(), changesBy(mesh.agent(near!))]).toEqual(['172.31.0.201:51821', before[1]]);

  await mesh.agent(near!).stop('SIGKILL');
  const again = await mesh.startAgent(near!, { remotes: { c2: { resyncPeriod: '1s' } } });
  await again.ready();
  await resynced(again);
  await ping.replies(20);
  expect([await endpoint(), changesBy(again)]).toEqual(['172.31.0.201:51821', []]);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
});

it('changes one peer when one Node changes, and loses nothing of the others', async ({ mesh }) => {
  const [near, , far] = mesh.nodes;
  const c2 = mesh.cluster('c2');
  const agent = mesh.agent(near!);
  const before = changesBy(agent).length;
  const known = await endpointsOn(near!, DEVICE);
  const [key, nextKey] = [newPublicKey(), newPublicKey()];
  const ping = await startPing(near!.pod, far!.podIps.v4);
  await ping.replies(20);

  await addShamNode(c2, { name: 'r1', podCIDRs: ['10.2.201.0/24'], publicKey: key, endpoint: '198.51.100.1:51820' });
  await eventually(() => endpointsOn(near!, DEVICE), { ...known, [key]: '198.51.100.1:51820' });
  await announceAs(c2, 'r1', { endpoint: '198.51.100.2:51820' });
  await eventually(() => endpointsOn(near!, DEVICE), { ...known, [key]: '198.51.100.2:51820' });
  await announceAs(c2, 'r1', { publicKey: nextKey });
  await eventually(() => endpointsOn(near!, DEVICE), { ...known, [nextKey]: '198.51.100.2:51820' });
  // A change without meaning for us, such as a heartbeat.
  await annotate(c2, far!.name, { 'example.org/seen': 'now' });
  await deleteNode(c2, 'r1');
  await eventually(() => endpointsOn(near!, DEVICE), known);

  await resynced(agent);
  await ping.replies(20);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
  const changes = changesBy(agent).slice(before);
  const touched = changes.filter(({ msg }) => msg === 'peer changed').map(({ change }) => change);
  expect(touched).toEqual([
    { publicKey: key, endpoint: '198.51.100.1:51820', allowedIps: ['10.2.201.0/24'], keepaliveSeconds: 25 },
    { publicKey: key, endpoint: '198.51.100.2:51820' },
    { publicKey: key, remove: true },
    { publicKey: nextKey, endpoint: '198.51.100.2:51820', allowedIps: ['10.2.201.0/24'], keepaliveSeconds: 25 },
    { publicKey: nextKey, remove: true },
  ]);
  // One `wg set` for each of the four events.
  expect(changes.filter(({ msg }) => msg === 'device changed')).toHaveLength(4);
});

it('gives the peer of a machine that joined again under another name the addresses of its new Node', async ({
  mesh,
}) => {
  const [near, , far] = mesh.nodes;
  const c2 = mesh.cluster('c2');
  const key = await publicKeyOn(far!, 'wireguard.c1');
  const blocks = async () =>
    (await near!.tools.device(DEVICE, { signal }))?.peers.find(({ publicKey }) => publicKey === key)?.allowedIps;
  await addShamNode(c2, {
    name: 'renamed',
    podCIDRs: ['10.2.210.0/24'],
    publicKey: key,
    endpoint: `${far!.machine.ipv4}:51821`,
  });
  await beReady(c2, far!.name, 'True', 1);
  await beReady(c2, 'renamed', 'True', 2);
  await resynced(mesh.agent(near!));
  expect(await blocks()).toEqual(far!.podCidrs);
  await beReady(c2, far!.name, 'Unknown', 3);
  await eventually(blocks, ['10.2.210.0/24']);
  await far!.machine.run('ip', ['address', 'add', '10.2.210.1/32', 'dev', 'lo']);
  const ping = await startPing(near!.pod, '10.2.210.1');
  await ping.replies(20);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
  // An outage of the control plane changes no tunnel.
  await beReady(c2, 'renamed', 'Unknown', 4);
  await resynced(mesh.agent(near!));
  expect(await blocks()).toEqual(['10.2.210.0/24']);
});
