import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { mountFiles, remoteUp } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { it, ownNode } from './support/it.ts';

it('renews a token that is refused from a kubeconfig in a mounted Secret', async ({
  accounts,
  dir,
  addNode,
  local,
  spawn,
}) => {
  const { kubeconfig, token } = accounts.remote.reader;
  const good = await readFile(kubeconfig, 'utf8');
  await mountFiles(dir, { kubeconfig: good.replace(token, 'refused-token') });
  await addNode(local, ownNode);
  const agent = await spawn({ remote: { kubeConfigPath: join(dir, 'kubeconfig') } });
  await agent.logged('watch failed', { cluster: 'c2', reason: 'denied' });
  await mountFiles(dir, { kubeconfig: good });
  await eventually(() => remoteUp(agent, { prefix: 'semaphore_wg', cluster: 'c2' }), 1);
  await mountFiles(dir, { kubeconfig: '{' });
  await eventually(() => agent.metric('semaphore_wg_config_stale'), 1);
  expect(await remoteUp(agent, { prefix: 'semaphore_wg', cluster: 'c2' })).toBe(1);
});
