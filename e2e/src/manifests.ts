import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bash, docBlocks, type RealCluster } from '@kube-semaphore/testkit';

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));

/** The apps: the workload of each, as kubectl names it, and its namespace. */
export const workloads = {
  policy: { workload: 'deployment/semaphore-policy', namespace: 'kube-system' },
  'service-mirror': { workload: 'deployment/semaphore-service-mirror', namespace: 'sys-semaphore' },
  wireguard: { workload: 'daemonset/semaphore-wireguard', namespace: 'kube-system' },
} as const;

export type App = keyof typeof workloads;

/** The kinds of workloads. They get their Secrets first: a kubelet that misses one tries again ever later. */
const LATER = ['Deployment', 'DaemonSet'];

/** The manifests of a cluster in two parts. */
export type Manifests = { readonly first: readonly object[]; readonly workloads: readonly object[] };

/**
 * Reads the cluster's manifests, deploy/overlays/example, with the changes of a user: the URL of
 * the other cluster's API server, the sidecar for kernels without WireGuard, and in c2 the addresses of Calico's IPAM.
 */
export async function readManifests(cluster: RealCluster, remote: RealCluster): Promise<Manifests> {
  const overlay = join(cluster.dir, 'deploy');
  const at = (folder: string) => relative(overlay, join(deploy, folder));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [at(`overlays/example/${cluster.name}`)],
    components: ['userspace', 'calico-blocks'].map((component) => at(`wireguard/components/${component}`)),
  };
  await mkdir(overlay, { recursive: true });
  await writeFile(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization));
  // Sets the real URL of the API server; the component's sidecar is for c2.
  const addresses = [
    `s#https://api.${remote.name}.example:6443#${remote.internalUrl}#`,
    `s#"podSubnet": "10.4.0.0/16",#& "allowedIPsFrom": "calico-blocks",#`,
    `s#wireguard\\.c2\\b\\([^.]\\|$\\)#wireguard.${remote.name}\\1#`,
  ];
  const sed = addresses.map((each) => `-e '${each}'`).join(' ');
  const { stdout } = await bash(
    `kubectl kustomize ${overlay} | sed ${sed} | kubectl apply --dry-run=client --validate=false -o json -f -`,
    cluster,
  );
  const { items } = JSON.parse(stdout) as { readonly items: readonly { readonly kind: string }[] };
  return {
    first: items.filter(({ kind }) => !LATER.includes(kind)),
    workloads: items.filter(({ kind }) => LATER.includes(kind)),
  };
}

/** Gives the apps of both clusters their tokens for the other one, and its CA, by the commands of getting-started. */
export async function handOver(c1: RealCluster, c2: RealCluster): Promise<void> {
  const [commands = ''] = docBlocks('getting-started.md', 'The tokens');
  await bash(`export KUBECONFIG=${c1.adminKubeconfig}:${c2.adminKubeconfig}\n${commands}`, c1);
}
