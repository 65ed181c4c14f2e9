import { readFile, writeFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';

type Kustomization = { readonly components: readonly string[]; readonly patches: readonly object[] };

/**
 * Adds the component for kernels without WireGuard to a cluster of deploy/overlays/example, as in deploy/README.md.
 *
 * @param folder where its kustomization.yaml is
 * @param remote the cluster that its sidecar is to lead to
 */
export async function addUserspace(folder: string, remote: string): Promise<void> {
  const file = `${folder}/kustomization.yaml`;
  const kustomization = parse(await readFile(file, 'utf8')) as Kustomization;
  const device = `wireguard.${remote}`;
  const sidecar = {
    name: 'wireguard-go',
    args: ['-f', device],
    startupProbe: { exec: { command: ['wg', 'show', device, 'listen-port'] } },
  };
  const patch = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'semaphore-wireguard', namespace: 'kube-system' },
    spec: { template: { spec: { initContainers: [sidecar] } } },
  };
  const { components, patches } = kustomization;
  const more = {
    components: [...components, '../../../wireguard/components/userspace'],
    patches: [...patches, { patch: stringify(patch) }],
  };
  await writeFile(file, stringify({ ...kustomization, ...more }));
}
