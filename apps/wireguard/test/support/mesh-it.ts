import { test } from 'vitest';
import { type AgentOptions, Mesh, type MeshShape } from './mesh.ts';

/**
 * A test with a mesh, which it shares with the other tests of its file: one node in each of two clusters unless `shape`
 * says otherwise, embedded API servers but for `realServers`, and no agents yet. What the agents said is shown if the test fails.
 */
export const itWithMesh = test
  .extend('shape', { scope: 'file' }, (): MeshShape => ({ c1: 1, c2: 1 }))
  .extend('realServers', { scope: 'file' }, (): readonly string[] => [])
  .extend('mesh', { scope: 'file' }, async ({ shape, realServers }, { onCleanup }) => {
    const mesh = await Mesh.start(shape, realServers);
    onCleanup(() => mesh.stop());
    return mesh;
  })
  .extend('report', { auto: true }, ({ mesh, task }, { onCleanup }) => {
    onCleanup(() => {
      if (task.result?.state === 'fail') console.error(mesh.logs());
    });
  });

/** A test with a mesh, on each of whose nodes an agent runs from the first test of the file on, with these options. */
export const itWithAgents = itWithMesh
  .extend('agentOptions', { scope: 'file' }, (): AgentOptions => ({}))
  .extend('agents', { scope: 'file', auto: true }, async ({ mesh, agentOptions }) => {
    // One after the other: all at once they keep each other from being ready in time on a small machine.
    for (const node of mesh.nodes) {
      const agent = await mesh.startAgent(node, agentOptions);
      await agent.ready().catch((error: unknown) => {
        throw new Error(mesh.logs(), { cause: error });
      });
    }
    await mesh.complete();
  });
