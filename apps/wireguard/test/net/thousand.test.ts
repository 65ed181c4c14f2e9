import { eventually } from '@kube-semaphore/eventually';
import { recordCalls, startPing } from '@kube-semaphore/testnet';
import { expect, vi } from 'vitest';
import { addCrowd, routeNowhere } from '../support/crowd.ts';
import type { MeshNode } from '../support/mesh.ts';
import { itWithMesh as it } from '../support/mesh-it.ts';
import { announceAs, publicKeyOn } from '../support/mesh-nodes.ts';

const { signal } = new AbortController();
const DEVICE = 'wireguard.c2';

const peersOn = async ({ tools }: MeshNode) =>
  new Map(((await tools.device(DEVICE, { signal }))?.peers ?? []).map((peer) => [peer.publicKey, peer]));

it('changes one peer among a thousand, reads none, and changes no other', async ({ mesh }) => {
  const [n1, n2] = mesh.nodes;
  await routeNowhere(n1!);
  const [changed, ...others] = await addCrowd(mesh.cluster('c2'), 999);
  const calls = await recordCalls('wg', mesh.dir);
  vi.stubEnv('PATH', `${calls.folder}:${process.env['PATH']}`);
  const agents = await Promise.all(
    [n1!, n2!].map((node) => mesh.startAgent(node, { flags: { 'observe-period': '1h' } })),
  );
  vi.unstubAllEnvs();
  await Promise.all(agents.map((agent) => agent.ready()));
  const ping = await startPing(n2!.pod, n1!.podIps.v4);
  // Each got a first message, so the sent bytes show a peer that is created again.
  await eventually(async () => {
    const peers = [...(await peersOn(n1!)).values()];
    return peers.length === 1_000 && peers.every(({ sentBytes }) => sentBytes > 0);
  }, true);
  const before = await peersOn(n1!);
  const partner = before.get(await publicKeyOn(n2!, 'wireguard.c1'));
  expect(partner).toMatchObject({ latestHandshakeSeconds: expect.any(Number) });

  await calls.take();
  const { name, publicKey } = changed!;
  const endpoint = '198.19.0.1:51820';
  await announceAs(mesh.cluster('c2'), name, { publicKey, endpoint });
  await eventually(async () => (await peersOn(n1!)).get(publicKey)?.endpoint, endpoint);
  await ping.replies(50);
  expect(await ping.stop()).toMatchObject({ lost: 0 });

  expect(await calls.take()).toEqual([['set', DEVICE, 'peer', publicKey, 'endpoint', endpoint]]);
  const after = await peersOn(n1!);
  expect(after.size).toBe(1_000);
  expect(after.get(publicKey)).toMatchObject({ allowedIps: before.get(publicKey)!.allowedIps });
  for (const { publicKey: key } of [partner!, ...others]) {
    const [then, now] = [before.get(key)!, after.get(key)!];
    expect(now).toMatchObject({ endpoint: then.endpoint, allowedIps: then.allowedIps });
    expect(
      [
        now.sentBytes - then.sentBytes,
        now.receivedBytes - then.receivedBytes,
        (now.latestHandshakeSeconds ?? 0) - (then.latestHandshakeSeconds ?? 0),
      ].filter((difference) => difference < 0),
    ).toEqual([]);
  }
});
