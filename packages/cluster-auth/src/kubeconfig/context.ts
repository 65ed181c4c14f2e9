import { ClusterAuthError } from '../errors.ts';
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from './schema.ts';

const EXEC_V1 = 'client.authentication.k8s.io/v1';
const EXEC_V1BETA1 = 'client.authentication.k8s.io/v1beta1';

/** The cluster and the user of a kubeconfig's current context. */
export type KubeconfigContext = {
  readonly clusterName: string;
  readonly cluster: KubeconfigCluster & { readonly server: string };
  readonly userName: string;
  readonly user: KubeconfigUser;
};

/**
 * Resolves the current context. Refuses what kubectl refuses (k8s.io/client-go/tools/clientcmd/validation.go), and
 * connections that don't verify the server.
 *
 * @param path of the file, for the error
 * @throws {ClusterAuthError} with the name of the entry and the field
 */
export function currentContext(config: Kubeconfig, path: string): KubeconfigContext {
  const fail = (message: string) => new ClusterAuthError('CLUSTER_KUBECONFIG', `kubeconfig ${path}: ${message}`);
  const contextName = config['current-context'];
  if (contextName === undefined) throw fail('it has no current-context');
  const { context } = one(config.contexts, contextName, 'context', fail);
  if (context.cluster === undefined) throw fail(`context "${contextName}" has no cluster`);
  if (context.user === undefined) throw fail(`context "${contextName}" has no user`);
  const { name: clusterName, cluster } = one(config.clusters, context.cluster, 'cluster', fail);
  const { name: userName, user } = one(config.users, context.user, 'user', fail);
  const { server } = cluster;
  if (server === undefined) throw fail(`cluster "${clusterName}" has no server`);

  const problem = problemOfCluster(cluster, `cluster "${clusterName}"`) ?? problemOfUser(user, `user "${userName}"`);
  if (problem !== undefined) throw fail(problem);
  return { clusterName, cluster: { ...cluster, server }, userName, user };
}

function one<T extends { name: string }>(
  entries: readonly T[],
  name: string,
  kind: string,
  fail: (message: string) => ClusterAuthError,
): T {
  const [entry, another] = entries.filter((candidate) => candidate.name === name);
  if (entry === undefined) throw fail(`there is no ${kind} "${name}"`);
  if (another !== undefined) throw fail(`there are two entries of ${kind} "${name}"`);
  return entry;
}

function problemOfCluster(cluster: KubeconfigCluster, where: string): string | undefined {
  if (cluster['insecure-skip-tls-verify']) {
    return `${where} has insecure-skip-tls-verify, which is not allowed: use certificate-authority(-data) instead`;
  }
  return bothOf(cluster, 'certificate-authority', 'certificate-authority-data', where);
}

function problemOfUser(user: KubeconfigUser, where: string): string | undefined {
  const hasCertificate = user['client-certificate'] ?? user['client-certificate-data'];
  const hasKey = user['client-key'] ?? user['client-key-data'];
  if (hasCertificate !== undefined && hasKey === undefined) {
    return `${where} has a client certificate without client-key or client-key-data`;
  }
  if (user.as === undefined && (user['as-uid'] ?? user['as-groups'][0] ?? user['as-user-extra']) !== undefined) {
    return `${where} has as-uid, as-groups or as-user-extra without as`;
  }
  return (
    bothOf(user, 'client-certificate', 'client-certificate-data', where) ??
    bothOf(user, 'client-key', 'client-key-data', where) ??
    bothOf(user, 'token', 'username', where) ??
    bothOf(user, 'exec', 'auth-provider', where) ??
    problemOfPlugin(user, where)
  );
}

function problemOfPlugin({ exec, 'auth-provider': provider }: KubeconfigUser, where: string): string | undefined {
  if (provider != null && provider.name !== 'oidc') {
    return `${where} has the auth-provider "${provider.name}", which is not supported: use an exec plugin`;
  }
  if (exec == null) return undefined;
  const { command, apiVersion, interactiveMode } = exec;
  if (command === '') return `${where} has an exec without a command`;
  if (apiVersion !== EXEC_V1 && apiVersion !== EXEC_V1BETA1) {
    return `${where} has an exec whose apiVersion must be ${EXEC_V1} or ${EXEC_V1BETA1}`;
  }
  if (interactiveMode === 'Always')
    return `${where} has an exec with the interactiveMode Always, but this program can't ask anyone`;
  if (interactiveMode === 'Never' || interactiveMode === 'IfAvailable') return undefined;
  const optional = interactiveMode === undefined && apiVersion === EXEC_V1BETA1;
  return optional ? undefined : `${where} has an exec whose interactiveMode must be Never or IfAvailable`;
}

function bothOf<T extends object>(entry: T, one: keyof T & string, other: keyof T & string, where: string) {
  return entry[one] != null && entry[other] != null ? `${where} has both ${one} and ${other}: remove one` : undefined;
}
