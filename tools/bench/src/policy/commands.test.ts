import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { policyFlags, policyValues } from './commands.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'policy-commands-'));
});
afterAll(() => rm(dir, { recursive: true }));

const remotes = [{ name: 'c2', kubeconfig: '/r' }];

const domain = { 'label-domain': 'semaphore.uw.systems' };

it('gives ours the flags of the Go program, and its fixed domain', async () => {
  const flags = await policyFlags({ local: '/l', remotes, dir });
  const clusters = { 'local-kube-config': '/l', 'target-kube-config': '/r', 'target-cluster-name': 'c2' };
  expect(flags).toEqual({ ...clusters, ...domain });
});

it('gives ours several remotes in a file', async () => {
  const several = [...remotes, { name: 'c3', kubeconfig: '/s' }];
  const { config, ...flags } = await policyFlags({ local: '/l', remotes: several, dir });
  const entries = several.map(({ name, kubeconfig }) => ({ name, kubeConfigPath: kubeconfig }));
  expect(JSON.parse(await readFile(config!, 'utf8'))).toEqual({ remotes: entries });
  expect(flags).toEqual({ 'local-kube-config': '/l', ...domain });
});

it('gives peers the clusters', async () => {
  expect(await policyValues({ local: '/l', remotes, dir })).toEqual({ local: '/l', remote: '/r', cluster: 'c2' });
});
