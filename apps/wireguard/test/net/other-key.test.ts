import { dirname } from 'node:path';
import { docBlocks, eventually } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { itWithAgents as it } from '../support/mesh-it.ts';

const KEYS = '/var/lib/semaphore-wireguard';

/** What docs/operations.md has the agent's container run. */
const [block = ''] = docBlocks('operations.md', 'Other keys of wireguard', 'sh pods');
const commands = Array.from(block.matchAll(/ exec .* -- (.*)$/gm), ([, command = '']) => command);

it('is made by the commands of docs/operations.md, and the other side takes it', async ({ mesh }) => {
  const [n1] = mesh.nodes;
  const announced = async () => (await n1!.cluster.server.admin.get(`/api/v1/nodes/${n1!.name}`)).metadata.annotations?.['c2.wireguard.semaphore.uw.io/pubKey'];
  const before = await announced();
  expect([commands.length, dirname(commands[0] ?? '')]).toEqual([2, `rm ${KEYS}`]);
  for (const command of commands) await n1!.machine.run('sh', ['-c', command.replace(KEYS, n1!.keyFolder)]);
  await eventually(async () => (await announced()) !== before, true, { timeoutMs: 45_000 });
  const other = mesh.cluster('c2').nodes[0]!;
  await eventually(async () => (await other.tools.device('wireguard.c1', { signal: AbortSignal.timeout(5_000) }))?.peers.map(({ publicKey }) => publicKey), [await announced()]);
});
