import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { expect } from 'vitest';
import type { MeshCluster, MeshNode } from '../support/mesh.ts';
import { itWithMesh } from '../support/mesh-it.ts';
import { addShamNode } from '../support/mesh-nodes.ts';

const { signal } = new AbortController();

const it = itWithMesh.extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 0, c3: 0 }));

/** Adds Nodes without machines, announced to c1. */
async function announceNodes(cluster: MeshCluster, names: readonly string[]): Promise<void> {
  const k = cluster.name.slice(1);
  for (const name of names) await addShamNode(cluster, { name, podCIDRs: [`10.${k}.${name.slice(1)}.0/24`] });
}

const peerCount = async ({ tools }: MeshNode, device: string): Promise<number | undefined> =>
  (await tools.device(device, { signal }))?.peers.length;

const twelve = Array.from({ length: 12 }, (_, i) => `r${i + 1}`);

it('keeps the peers of a remote whose first list is missing too many of them, until the next list', async ({
  mesh,
}) => {
  const [n1] = mesh.nodes;
  const c2 = mesh.cluster('c2');
  await announceNodes(c2, twelve);
  const first = await mesh.startAgent(n1!, { remotes: { c3: null } });
  await eventually(() => peerCount(n1!, 'wireguard.c2'), 12);
  await first.stop();
  for (const name of twelve) await c2.server.admin.delete(`/api/v1/nodes/${name}`);

  const second = await mesh.startAgent(n1!, { remotes: { c3: null }, flags: { 'deletion-guard-hold': '1h' } });
  await second.logged('list is missing too many objects; deletions held', { cluster: 'c2', held: 12 });
  await second.ready();
  expect([
    await second.metric('semaphore_wg_held_deletions', { remote: 'c2' }),
    await peerCount(n1!, 'wireguard.c2'),
  ]).toEqual([12, 12]);
  await second.stop();

  const third = await mesh.startAgent(n1!, { remotes: { c3: null }, flags: { 'deletion-guard-hold': '1s' } });
  await eventually(() => peerCount(n1!, 'wireguard.c2'), 0);
  await eventually(() => third.metric('semaphore_wg_held_deletions', { remote: 'c2' }), 0);
  await third.stop();
});

it('keeps the peers of a remote that doesn’t answer, and serves the others', async ({ mesh }) => {
  const [n1] = mesh.nodes;
  const [c2, c3] = [mesh.cluster('c2'), mesh.cluster('c3')];
  await announceNodes(c3, ['r1']);
  const first = await mesh.startAgent(n1!);
  await eventually(() => peerCount(n1!, 'wireguard.c3'), 1);
  await first.stop();
  const unreachable = join(mesh.dir, 'unreachable.kubeconfig');
  const { kubeconfig } = c3.accounts.reader;
  await writeFile(unreachable, (await readFile(kubeconfig, 'utf8')).replaceAll(c3.server.url, 'https://127.0.0.1:1'));

  const second = await mesh.startAgent(n1!, { remotes: { c3: { kubeConfigPath: unreachable } } });
  await second.logged('remote nodes listed', { cluster: 'c2' });
  await announceNodes(c2, ['r20']);
  await eventually(() => peerCount(n1!, 'wireguard.c2'), 1);
  expect(await peerCount(n1!, 'wireguard.c3')).toBe(1);
  expect([
    await second.metric('semaphore_wg_remote_up', { remote: 'c2' }),
    await second.metric('semaphore_wg_remote_up', { remote: 'c3' }),
  ]).toEqual([1, 0]);
});
