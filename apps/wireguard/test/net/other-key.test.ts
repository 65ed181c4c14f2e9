import { dirname } from 'node:path';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { docBlocks } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { itWithAgents as it } from '../support/mesh-it.ts';

const { signal } = new AbortController();
const KEYS = '/var/lib/semaphore-wireguard';

/** The commands of docs/operations.md for the agent's container. */
const [block = ''] = docBlocks('operations.md', 'Other keys of wireguard', 'sh pods');
const commands = Array.from(block.matchAll(/ exec .* -- (.*)$/gm), ([, command = '']) => command);

it('is set by the commands of docs/operations.md, and the other side uses it', async ({ mesh }) => {
  const [n1] = mesh.nodes;
  const announced = async () =>
    (await n1!.cluster.server.admin.get(`/api/v1/nodes/${n1!.name}`)).metadata.annotations?.[
      'c2.wireguard.semaphore.uw.io/pubKey'
    ];
  const before = await announced();
  expect([commands.length, dirname(commands[0] ?? '')]).toEqual([2, `rm ${KEYS}`]);
  let key = before;
  // As the page says: after a reconcile between the two commands, the key is the old one, and they have to be repeated.
  for (let said = 0; said < 2 && key === before; said++) {
    for (const command of commands) await n1!.machine.run('sh', ['-c', command.replace(KEYS, n1!.keyFolder)]);
    key = await eventually(async () => (await n1!.tools.device('wireguard.c2', { signal }))?.publicKey, isDefined);
  }
  expect(key).not.toBe(before);
  await eventually(announced, key);
  const other = mesh.cluster('c2').nodes[0]!;
  await eventually(
    async () => (await other.tools.device('wireguard.c1', { signal }))?.peers.map(({ publicKey }) => publicKey),
    [key],
  );
});
