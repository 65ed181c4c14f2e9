import { join } from 'node:path';
import { openToken } from './credentials/credentials.ts';
import type { Dependencies } from './dependencies.ts';
import { authorityOf, parseServer } from './transport/endpoint.ts';
import { ClusterAuthError } from './errors.ts';
import type { Access } from './live-connection.ts';
import { openCa } from './trust/certificate-authority.ts';

/** Where kubelet mounts a Pod's ServiceAccount. */
export const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * How a Pod reaches the API server of its own cluster, as client-go's rest.InClusterConfig.
 *
 * @param dir has `token` and `ca.crt`, which kubelet replaces
 * @throws {ClusterAuthError} outside of a Pod, and in a Pod without a ServiceAccount
 */
export async function inCluster(dir: string, deps: Dependencies): Promise<Access> {
  const host = deps.env['KUBERNETES_SERVICE_HOST'];
  const port = deps.env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) {
    const message =
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: outside of a Pod, name a kubeconfig';
    throw new ClusterAuthError('CLUSTER_NO_POD', message);
  }
  return {
    server: parseServer(authorityOf(host, port), 'KUBERNETES_SERVICE_HOST with KUBERNETES_SERVICE_PORT'),
    ca: await openCa({ path: join(dir, 'ca.crt') }, deps),
    credentials: await openToken(join(dir, 'token'), deps),
  };
}
