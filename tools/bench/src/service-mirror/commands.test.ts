import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mirrorFlags, mirrorValues } from './commands.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mirror-commands-'));
});
afterAll(() => rm(dir, { recursive: true }));

const targets = () => ({ local: '/l', remotes: [{ name: 'c2', kubeconfig: '/r' }], dir });

it('gives ours the flags of the Go program, and room for one more service', async () => {
  expect(await mirrorFlags(5000)(targets())).toEqual({
    'kube-config': '/l',
    'target-kube-config': '/r',
    'svc-prefix': 'c2',
    'label-selector': 'bench.example/mirror=true',
    'mirror-ns': 'sys-semaphore',
    'max-remote-services': '5001',
  });
});

it('gives peers the clusters, by texts and by a config file', async () => {
  const { config, ...texts } = await mirrorValues(targets());
  expect(texts).toEqual({
    local: '/l',
    remote: '/r',
    cluster: 'c2',
    selector: 'bench.example/mirror=true',
    namespace: 'sys-semaphore',
  });
  expect(JSON.parse(await readFile(config!, 'utf8'))).toMatchObject({
    global: { mirrorSvcLabelSelector: texts['selector'], mirrorNamespace: texts['namespace'] },
    localCluster: { kubeConfigPath: '/l' },
    remoteClusters: [{ name: 'c2', kubeConfigPath: '/r', servicePrefix: 'c2' }],
  });
});
