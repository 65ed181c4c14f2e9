import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { bash, type RealCluster } from '@kube-semaphore/testkit';

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));

/** Where each program runs, and whom it comes as in the clusters that it reads. */
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

/** What is deployed in a cluster. */
export type Deployed = { readonly deployments: readonly KubeObject[]; readonly daemonSet: KubeObject };

/**
 * Applies the cluster's manifests, deploy/overlays/example, with what whoever deploys them adds: where the API server of
 * the other cluster is, and, as kernels may lack WireGuard, the sidecar that carries the tunnels without.
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
  // The API server is where it is; the sidecar of the component is for c2.
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

/** Lets a cluster's programs read another one: gives them tokens of it, and its CA, as Secrets. Both have their manifests. */
export async function bringSecrets({ admin }: RealCluster, remote: RealCluster, ca: string): Promise<void> {
  await Promise.all(
    programs.map(async ({ namespace, name, reader }) => {
      // The controller that fills Secrets of type service-account-token isn't started here: getting-started's test has it.
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

/** The workloads of the manifests, as the API server has them. */
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
