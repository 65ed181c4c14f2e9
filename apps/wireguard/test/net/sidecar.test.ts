import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '@kube-semaphore/eventually';
import { startPing } from '@kube-semaphore/testnet';
import { describe, expect } from 'vitest';
import type { Agent } from '../support/agent-process.ts';
import { type Mesh, type MeshNode, wireGuardGo } from '../support/mesh.ts';
import { itWithMesh as it } from '../support/mesh-it.ts';

const { signal } = new AbortController();
const DEVICE = 'wireguard.c2';

/** Makes the agent believe that it is in a Pod. Then wireguard-go on its PATH must not matter. */
const POD = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

/** What `/status` says of its remote. */
const remoteOf = async (agent: Agent): Promise<unknown> =>
  ((await agent.status()) as { readonly remotes: readonly unknown[] }).remotes[0];

const NO_SIDECAR = {
  code: 'DEVICE',
  message: `no sidecar with wireguard-go has created ${DEVICE}, and this kernel has no WireGuard`,
};

/** Does what a Pod's second container does. */
const startSidecar = ({ machine }: MeshNode): ChildProcess =>
  machine.spawn(wireGuardGo(), ['-f', DEVICE], { stdio: 'ignore' });

async function end(process: ChildProcess, how: NodeJS.Signals): Promise<void> {
  const ended = once(process, 'exit');
  process.kill(how);
  await ended;
}

/** A node with a Pod, and another with an agent as on a host, whose pod pings the first one's. */
async function startPods(
  mesh: Mesh,
): Promise<{ readonly near: MeshNode; readonly far: MeshNode; readonly agent: Agent; readonly sidecar: ChildProcess }> {
  const [near, far] = mesh.nodes;
  await near!.tools.deleteLink(DEVICE, { signal });
  await far!.tools.deleteLink('wireguard.c1', { signal });
  const sidecar = startSidecar(near!);
  const agents = await Promise.all([mesh.startAgent(near!, { env: POD }), mesh.startAgent(far!)]);
  await Promise.all(agents.map((agent) => agent.ready()));
  return { near: near!, far: far!, agent: agents[0], sidecar };
}

async function stopAgents(mesh: Mesh): Promise<void> {
  await Promise.all(mesh.nodes.map((node) => mesh.agent(node).stop('SIGKILL')));
}

/** Pings through the tunnel meanwhile. @returns how many replies were lost */
async function lostDuring(
  { near, far }: { readonly near: MeshNode; readonly far: MeshNode },
  work: () => Promise<void>,
): Promise<number> {
  const ping = await startPing(far.pod, near.podIps.v4);
  await ping.replies(20);
  await work();
  await ping.replies(20);
  return (await ping.stop()).lost;
}

describe('in a Pod with a wireguard-go sidecar', () => {
  it('the agent starts no wireguard-go, waits for the sidecar’s, logs it once, and isn’t ready until then', async ({
    mesh,
  }) => {
    const [near] = mesh.nodes;
    const agent = await mesh.startAgent(near!, { env: POD });
    await agent.logged('reconcile failed, retrying', { cluster: 'c2' });
    const failures = () => agent.metric('semaphore_wg_sync_peers_total', { device: DEVICE, success: '0' });
    await eventually(async () => ((await failures()) ?? 0) >= 3, true);
    expect(await agent.get('/readyz')).toEqual({ status: 503, body: 'no device yet for c2\n' });
    expect(await remoteOf(agent)).toMatchObject({ device: null, deviceError: NO_SIDECAR.message });
    expect(agent.log().filter(({ level }) => level === 'warn')).toMatchObject([
      { msg: 'reconcile failed, retrying', error: NO_SIDECAR },
    ]);
    const sidecar = startSidecar(near!);
    await agent.ready();
    await agent.logged('recovered', { cluster: 'c2' });
    expect(await remoteOf(agent)).not.toHaveProperty('deviceError');
    // Like a kernel device, it has no link-local address.
    expect((await near!.tools.links({ signal })).find(({ name }) => name === DEVICE)).toMatchObject({
      kind: 'tun',
      addresses: [],
    });
    await agent.stop();
    await end(sidecar, 'SIGKILL');
  });

  it('the agent starts no wireguard-go as the first process of a container', async ({ mesh }) => {
    const agent = await mesh.startAgent(mesh.nodes[0]!, { starter: ['unshare', '--pid', '--fork', '--kill-child'] });
    const { error } = await agent.logged('reconcile failed, retrying', { cluster: 'c2' });
    expect(error).toMatchObject(NO_SIDECAR);
    await agent.stop('SIGKILL');
  });

  it('no packet is lost when the agent’s container is killed and restarted', async ({ mesh }) => {
    const { near, far, agent, sidecar } = await startPods(mesh);
    const lost = await lostDuring({ near, far }, async () => {
      await agent.stop('SIGKILL');
      const again = await mesh.startAgent(near, { env: POD });
      await again.ready();
    });
    expect(lost).toBe(0);
    await stopAgents(mesh);
    await end(sidecar, 'SIGKILL');
  });

  it('tunnels are back right after the sidecar is restarted', async ({ mesh }) => {
    const { near, far, agent, sidecar } = await startPods(mesh);
    let again: ChildProcess | undefined;
    const lost = await lostDuring({ near, far }, async () => {
      await end(sidecar, 'SIGKILL');
      // It is noticed long before the next periodic reconcile.
      await agent.logged('reconcile failed, retrying', { cluster: 'c2' });
      expect(await agent.get('/readyz')).toMatchObject({ status: 503 });
      again = startSidecar(near);
      await agent.ready();
      await eventually(async () => (await near.tools.device(DEVICE, { signal }))?.peers.length === 1, true);
    });
    expect(lost).toBeGreaterThan(0);
    expect((await near.tools.links({ signal })).find(({ name }) => name === DEVICE)).toMatchObject({
      alias: 'semaphore-wireguard c2',
      mtuBytes: 1380,
    });
    await stopAgents(mesh);
    await end(again!, 'SIGKILL');
  });

  it('tunnels are back with a replaced Pod, with the same key', async ({ mesh }) => {
    const { near, far, agent, sidecar } = await startPods(mesh);
    const before = await near.tools.device(DEVICE, { signal });
    let again: ChildProcess | undefined;
    const lost = await lostDuring({ near, far }, async () => {
      await agent.stop();
      await end(sidecar, 'SIGTERM');
      again = startSidecar(near);
      await (await mesh.startAgent(near, { env: POD })).ready();
    });
    expect(lost).toBeGreaterThan(0);
    expect((await near.tools.device(DEVICE, { signal }))?.publicKey).toBe(before?.publicKey);
    await stopAgents(mesh);
    await end(again!, 'SIGKILL');
  });
});
