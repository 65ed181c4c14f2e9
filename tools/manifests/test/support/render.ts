import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { kubectlFolder } from '@kube-semaphore/testkit';
import { parseAllDocuments, stringify } from 'yaml';

const run = promisify(execFile);

export const deploy = fileURLToPath(new URL('../../../../deploy/', import.meta.url));

/** A folder of deploy/, with components. */
export type Choice = { readonly folder: string; readonly components?: readonly string[] };

/** All that can be applied: each folder alone, each with every component of it, and the overlays. */
export const choices: readonly Choice[] = [
  { folder: 'policy/base' },
  { folder: 'policy/base', components: ['policy/components/projectcalico-api'] },
  { folder: 'policy/base', components: ['policy/components/crd-api'] },
  { folder: 'policy/base', components: ['policy/components/before-1.30'] },
  { folder: 'policy/base', components: ['policy/components/metrics-network-policy'] },
  { folder: 'policy/base', components: ['policy/components/network-policies'] },
  {
    folder: 'policy/base',
    components: ['policy/components/network-policies', 'policy/components/network-policies-cilium'],
  },
  { folder: 'policy/base', components: ['policy/components/inventory'] },
  { folder: 'policy/base', components: ['policy/components/prometheus-operator'] },
  { folder: 'policy/remote' },
  {
    folder: 'policy/base',
    components: ['policy/components/network-policies', 'policy/components/network-policies-calico'],
  },
  {
    folder: 'policy/base',
    components: [
      'policy/components/network-policies',
      'policy/components/network-policies-calico',
      'policy/components/network-policies-calico-api',
    ],
  },
  { folder: 'policy/remote', components: ['policy/components/remote-namespaces'] },
  { folder: 'service-mirror/base' },
  { folder: 'service-mirror/base', components: ['service-mirror/components/global'] },
  { folder: 'service-mirror/base', components: ['service-mirror/components/gate-by-tunnel'] },
  { folder: 'service-mirror/base', components: ['service-mirror/components/before-1.30'] },
  { folder: 'service-mirror/base', components: ['service-mirror/components/metrics-network-policy'] },
  { folder: 'service-mirror/base', components: ['service-mirror/components/mcs'] },
  { folder: 'service-mirror/mcs' },
  { folder: 'service-mirror/base', components: ['service-mirror/components/inventory'] },
  { folder: 'service-mirror/base', components: ['service-mirror/components/prometheus-operator'] },
  { folder: 'service-mirror/remote' },
  { folder: 'service-mirror/remote', components: ['service-mirror/components/remote-mcs'] },
  { folder: 'service-mirror/admission' },
  { folder: 'wireguard/base' },
  { folder: 'wireguard/base', components: ['wireguard/components/before-1.30'] },
  { folder: 'wireguard/base', components: ['wireguard/components/userspace'] },
  { folder: 'wireguard/base', components: ['wireguard/components/before-1.30', 'wireguard/components/userspace'] },
  { folder: 'wireguard/base', components: ['wireguard/components/inventory'] },
  { folder: 'wireguard/base', components: ['wireguard/components/prometheus-operator'] },
  { folder: 'wireguard/remote' },
  { folder: 'wireguard/remote', components: ['wireguard/components/calico-blocks'] },
  { folder: 'dns/base' },
  { folder: 'overlays/example/c1' },
  { folder: 'overlays/example/c2' },
];

/** The objects of a choice, as kustomize renders them, also from another folder. */
export async function render({ folder, components = [] }: Choice): Promise<readonly KubeObject[]> {
  return objectsIn(await kustomize({ resources: [folder], components }));
}

/** Renders a kustomization of folders of deploy/, with `files` beside it. */
export async function kustomize(
  kustomization: {
    readonly resources: readonly string[];
    readonly components?: readonly string[];
    readonly [field: string]: unknown;
  },
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const overlay = await mkdtemp(join(tmpdir(), 'kube-semaphore-overlay-'));
  try {
    // kustomize accepts no absolute path.
    const from = (folder: string): string => relative(overlay, join(deploy, folder));
    const { resources, components = [] } = kustomization;
    const content = { ...kustomization, resources: resources.map(from), components: components.map(from) };
    await Promise.all(
      Object.entries({ ...files, 'kustomization.yaml': stringify(content) }).map(([name, text]) =>
        writeFile(join(overlay, name), text),
      ),
    );
    return (await run(join(kubectlFolder ?? '', 'kubectl'), ['kustomize', overlay])).stdout;
  } finally {
    await rm(overlay, { recursive: true });
  }
}

/** The objects of a stream of YAML documents. */
export function objectsIn(text: string): readonly KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}
