import { ask, startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import type { MeshNode } from '../support/mesh.ts';
import { itWithAgents as it } from '../support/mesh-it.ts';

const PACKETS = 5;

/** What the agent of a node says of its remote. */
async function remoteOn({ machine }: MeshNode): Promise<{ readonly refusedPackets: number | null }> {
  const { body } = await ask(machine, 7773, '/status');
  return (JSON.parse(body) as { remotes: [{ refusedPackets: number | null }] }).remotes[0];
}

it('says how many packets were refused, as their source was replaced, or that it does not know', async ({ mesh }) => {
  const near = mesh.cluster('c1').nodes[0]!;
  const far = mesh.cluster('c2').nodes[0]!;
  const { kind } = (await far.tools.links({ signal: new AbortController().signal })).find(
    ({ name }) => name === 'wireguard.c1',
  )!;
  const isKernel = kind === 'wireguard';
  expect(await remoteOn(far)).toMatchObject({ refusedPackets: isKernel ? 0 : null });
  const input = `table ip nat {
    chain postrouting { type nat hook postrouting priority 100; oifname "wireguard.c2" masquerade; }
  }`;
  await near.machine.run('nft', ['-f', '-'], { input });
  const args = ['-c', `${PACKETS}`, '-i', '0.1', '-W', '1', far.podIps.v4];
  await expect(near.pod.run('ping', args)).rejects.toThrow('exit code 1');
  // The tunnel itself works: what answers a packet keeps its address.
  const ping = await startPing(far.pod, near.podIps.v4);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
  expect(await remoteOn(far)).toMatchObject({ refusedPackets: isKernel ? PACKETS : null });
});
