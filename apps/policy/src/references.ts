import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import type { PolicyOptions } from './options.ts';

/** The local cluster: a kubeconfig, or the cluster that we run in. */
export function localReference({ localKubeConfig }: PolicyOptions): ClusterReference {
  return localKubeConfig === undefined ? { kind: 'in-cluster' } : { kind: 'kubeconfig', path: localKubeConfig };
}

/** The remote cluster; the options were validated to name it in one way. */
export function remoteReference(options: PolicyOptions): ClusterReference {
  const { targetKubeConfig, remoteApiUrl, remoteCaUrl, remoteSaTokenPath, remoteSaToken } = options;
  if (targetKubeConfig !== undefined) return { kind: 'kubeconfig', path: targetKubeConfig };
  const token = remoteSaTokenPath === undefined ? { value: remoteSaToken! } : { path: remoteSaTokenPath };
  return { kind: 'api-server', apiUrl: remoteApiUrl!, caUrl: remoteCaUrl!, token };
}
