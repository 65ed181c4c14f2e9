import { expect, it } from 'vitest';
import { interruptAt, stopped } from '../demo-process.ts';
import { leavesNothing, namespacesOf, startWithTunnels } from '../namespaces.ts';

it.each([
  { name: 'while no replica leads', signal: 'SIGINT', text: 'kill -9' },
  { name: 'while an app restarts', signal: 'SIGINT', text: '15. One Service' },
  { name: 'while a cluster of a global Service is down', signal: 'SIGINT', text: 'only the pods of c1 are ready' },
] as const)('ends and leaves nothing when it is interrupted $name', async ({ signal, text }) => {
  expect(await interruptAt(text, signal)).toEqual(stopped);
});

/** Interrupts a demo that has printed `text`. */
async function interrupt(text: string): Promise<void> {
  const demo = await startWithTunnels();
  await demo.says(text);
  const namespaces = await namespacesOf(demo);
  expect(namespaces.size).toBe(5);
  demo.signal('SIGINT');
  expect(await demo.ended).toMatchObject({
    code: 0,
    signal: null,
    output: expect.stringMatching(/\nStopping\.\n$/) as unknown,
  });
  await leavesNothing(demo, namespaces);
}

const moments = ['describes c2 for the agent', 'It starts again'];

// At the same time, because each runs the whole demo before the tunnels, and no packets are counted.
it('ends soon and leaves nothing when it is interrupted while the agents start, or after an agent was killed', async () => {
  await Promise.all(moments.map(interrupt));
});
