import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { goesWithoutKubectl, kubectlFolder } from '@kube-semaphore/testkit';
import { parse, stringify } from 'yaml';
import { expect, it, onTestFinished } from 'vitest';
import { corefileWith, corefileWithout } from '../src/corefile/edit.ts';
import { corefiles } from './support/corefiles.ts';

const { kubeadm, 'a zone in each server block': zones } = corefiles;

type ConfigMap = { readonly data: { readonly Corefile: string } };

const configMapOf = (corefile: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'coredns', namespace: 'kube-system' },
  data: { Corefile: corefile },
});

/** As people keep the ConfigMap of CoreDNS: a file and a generator. */
async function kustomized(corefile: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'semaphore-corefile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const generated = { name: 'coredns', namespace: 'kube-system', files: ['Corefile'] };
  const kustomization = { generatorOptions: { disableNameSuffixHash: true }, configMapGenerator: [generated] };
  await writeFile(join(folder, 'Corefile'), corefile);
  await writeFile(join(folder, 'kustomization.yaml'), stringify(kustomization));
  const PATH = [kubectlFolder, process.env['PATH']].join(delimiter);
  return (await promisify(execFile)('kubectl', ['kustomize', folder], { env: { ...process.env, PATH } })).stdout;
}

/** Programs that read the ConfigMap, and write it again. */
const programs: Readonly<Record<string, (corefile: string) => string | Promise<string>>> = {
  'kubectl edit': (corefile) => stringify(configMapOf(corefile), { defaultStringType: 'BLOCK_LITERAL' }),
  'yq, which folds and quotes': (corefile) => stringify(configMapOf(corefile), { defaultStringType: 'QUOTE_DOUBLE' }),
  'yq, which prints JSON': (corefile) => JSON.stringify(configMapOf(corefile), undefined, 2),
  kustomize: kustomized,
};

it.skipIf(goesWithoutKubectl).for(Object.entries(programs))(
  'a Corefile with our rules is the same after %s, and a second link leaves it alone',
  async ([, write]) => {
    for (const corefile of [kubeadm, zones]) {
      const linked = corefileWith(corefile, { remotes: ['c2'], mcs: true });
      if (!linked.ok) throw new Error(linked.reason);
      const { data } = parse(await write(linked.value)) as ConfigMap;
      expect(corefileWith(data.Corefile, { remotes: ['c2'], mcs: true })).toEqual({ ok: true, value: data.Corefile });
      const unlinked = corefileWithout(data.Corefile, { removed: ['c2'], remaining: [] });
      expect(unlinked).toEqual({ ok: true, value: corefile });
    }
  },
);
