import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { bash, type RealCluster } from '@kube-semaphore/testkit';

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));

/** Each program's workload, and its ServiceAccount in the clusters that it reads. */
const programs = [
  { kind: 'deployments', namespace: 'kube-system', name: 'semaphore-policy', reader: 'semaphore-policy-watcher' },
  {
    kind: 'deployments',
    namespace: 'sys-semaphore',
    name: 'semaphore-service-mirror',
    reader: 'semaphore-service-mirror-remote',
  },
  { kind: 'daemonsets', namespace: 'kube-system', name: 'semaphore-wireguard', reader: 'semaphore-wireguard-remote' },
] as const;

/** The deployed workloads of a cluster. */
export type Deployed = { readonly deployments: readonly KubeObject[]; readonly daemonSet: KubeObject };

/**
 * Applies the cluster's manifests, deploy/overlays/example, with the changes of a user: the URL of
 * the other cluster's API server, and the sidecar for kernels without WireGuard.
 */
export async function applyManifests(cluster: RealCluster, remote: RealCluster): Promise<void> {
  const overlay = join(cluster.dir, 'deploy');
  const at = (folder: string) => relative(overlay, join(deploy, folder));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [at(`overlays/example/${cluster.name}`)],
    components: [at('wireguard/components/userspace')],
  };
  await mkdir(overlay, { recursive: true });
  await writeFile(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization));
  // Sets the real URL of the API server; the component's sidecar is for c2.
  const addresses = [
    `s#https://api.${remote.name}.example:6443#${remote.url}#`,
    `s#wireguard\\.c2\\b\\([^.]\\|$\\)#wireguard.${remote.name}\\1#`,
  ];
  await bash(
    [
      `kubectl kustomize ${overlay} | sed ${addresses.map((each) => `-e '${each}'`).join(' ')} > ${overlay}/all.yaml`,
      `kubectl apply -f ${overlay}/all.yaml`,
    ].join('\n'),
    cluster,
  );
}

/** Lets a cluster's programs read another one, by Secrets with its tokens and CA. Both clusters have their manifests. */
export async function bringSecrets({ admin }: RealCluster, remote: RealCluster, ca: string): Promise<void> {
  await Promise.all(
    programs.map(async ({ namespace, name, reader }) => {
      // The controller for Secrets of type service-account-token doesn't run here; the test of getting-started has it.
      const { status } = await remote.admin.create(`/api/v1/namespaces/kube-system/serviceaccounts/${reader}/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 86_400 },
      });
      const { token } = status as { token: string };
      const metadata = { name: `${name}-${remote.name}`, namespace };
      await admin.create(`/api/v1/namespaces/${namespace}/secrets`, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        stringData: { token, 'ca.crt': ca },
      });
    }),
  );
}

/** The workloads of the manifests, as read from the API server. */
export async function deployedIn({ admin }: RealCluster): Promise<Deployed> {
  const objects = await Promise.all(
    programs.map(async ({ kind, namespace, name }) => {
      const object = await admin.get(`/apis/apps/v1/namespaces/${namespace}/${kind}/${name}`);
      return { ...object, apiVersion: 'apps/v1', kind: kind === 'daemonsets' ? 'DaemonSet' : 'Deployment' };
    }),
  );
  const daemonSet = objects.find(({ kind }) => kind === 'DaemonSet');
  if (daemonSet === undefined) throw new Error('no DaemonSet is deployed');
  return { deployments: objects.filter(({ kind }) => kind === 'Deployment'), daemonSet };
}
