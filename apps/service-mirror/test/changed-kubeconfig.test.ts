import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { mountFiles, remoteUp } from '@kube-semaphore/testkit';
import { expect, onTestFinished } from 'vitest';
import { it } from './support/it.ts';

it('renews a token that is refused from a kubeconfig in a mounted Secret', async ({ accounts, start }) => {
  const dir = await mkdtemp(join(tmpdir(), 'mounted-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const { kubeconfig, token } = accounts.remote;
  const good = await readFile(kubeconfig, 'utf8');
  await mountFiles(dir, { kubeconfig: good.replace(token, 'refused-token') });
  const mirror = await start({ 'target-kube-config': join(dir, 'kubeconfig') }, { ready: false });
  await mirror.logged('watch failed', { cluster: 'c2', reason: 'denied' });
  await mountFiles(dir, { kubeconfig: good });
  const isUp = () => remoteUp(mirror, { prefix: 'semaphore_service_mirror', cluster: 'c2' });
  await eventually(isUp, 1);
  await mountFiles(dir, { kubeconfig: '{' });
  await eventually(() => mirror.metric('semaphore_service_mirror_config_stale'), 1);
  expect(await isUp()).toBe(1);
});
