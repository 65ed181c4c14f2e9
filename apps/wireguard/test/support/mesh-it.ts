import { test } from 'vitest';
import { type AgentOptions, type Ipv4, Mesh, type MeshShape } from './mesh.ts';

/**
 * A test with a mesh, shared by the tests of its file: by default one node in each of two clusters, embedded API servers except
 * for `realServers`, and no agents. If it fails, the agents' logs are printed.
 */
export const itWithMesh = test
  .extend('shape', { scope: 'file' }, (): MeshShape => ({ c1: 1, c2: 1 }))
  .extend('realServers', { scope: 'file' }, (): readonly string[] => [])
  .extend('ipv4', { scope: 'file' }, (): Ipv4 => 'own')
  .extend('mesh', { scope: 'file' }, async ({ shape, realServers, ipv4 }, { onCleanup }) => {
    const mesh = await Mesh.start(shape, realServers, ipv4);
    onCleanup(() => mesh.stop());
    return mesh;
  })
  .extend('report', { auto: true }, ({ mesh, task }, { onCleanup }) => {
    onCleanup(() => {
      if (task.result?.state === 'fail') console.error(mesh.logs());
    });
  });

/** The same with an agent on each node, with these options, from the first test of the file on. */
export const itWithAgents = itWithMesh
  .extend('agentOptions', { scope: 'file' }, (): AgentOptions => ({}))
  .extend('agents', { scope: 'file', auto: true }, async ({ mesh, agentOptions }) => {
    // One by one: on a small machine, all at once wouldn't be ready in time.
    for (const node of mesh.nodes) {
      const agent = await mesh.startAgent(node, agentOptions);
      await agent.ready().catch((error: unknown) => {
        throw new Error(mesh.logs(), { cause: error });
      });
    }
    await mesh.complete();
  });
