import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { itWithAgents as it } from '../support/mesh-it.ts';
import { changesBy } from '../support/mesh-nodes.ts';

it.for(['v4', 'v6'] as const)('lets pods of two clusters reach each other by IP%s', async (family, { mesh }) => {
  const [n1, n2] = mesh.nodes;
  const ping = await startPing(n1!.pod, n2!.podIps[family]);
  await ping.replies(50);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
});

it.for(['SIGTERM', 'SIGKILL'] as const)(
  'loses nothing when an agent is restarted after %s',
  async (signal, { mesh }) => {
    const [n1, n2] = mesh.nodes;
    const ping = await startPing(n2!.pod, n1!.podIps.v4);
    await ping.replies(20);
    await mesh.agent(n1!).stop(signal);
    await ping.replies(20);
    const again = await mesh.startAgent(n1!);
    await again.ready();
    await ping.replies(20);
    expect(await ping.stop()).toMatchObject({ lost: 0 });
    // Nothing differed, so nothing was changed.
    expect(changesBy(again)).toEqual([]);
  },
);
