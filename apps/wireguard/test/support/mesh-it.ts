import { test } from 'vitest';
import { Mesh, type MeshShape } from './mesh.ts';

/**
 * A test with a mesh, which it shares with the other tests of its file: one node in each of two clusters unless `shape`
 * says otherwise, and no agents yet. What the agents said is shown if the test fails.
 */
export const itWithMesh = test
  .extend('shape', { scope: 'file' }, (): MeshShape => ({ c1: 1, c2: 1 }))
  .extend('mesh', { scope: 'file' }, async ({ shape }, { onCleanup }) => {
    const mesh = await Mesh.start(shape);
    onCleanup(() => mesh.stop());
    return mesh;
  })
  .extend('report', { auto: true }, ({ mesh, task }, { onCleanup }) => {
    onCleanup(() => {
      if (task.result?.state === 'fail') console.error(mesh.logs());
    });
  });

/** A test with a mesh, on each of whose nodes an agent runs from the first test of the file on. */
export const itWithAgents = itWithMesh.extend('agents', { scope: 'file', auto: true }, async ({ mesh }) => {
  const agents = await Promise.all(mesh.nodes.map((node) => mesh.startAgent(node)));
  await Promise.all(agents.map((agent) => agent.ready())).catch((error: unknown) => {
    throw new Error(mesh.logs(), { cause: error });
  });
});
