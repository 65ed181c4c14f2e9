import { ClusterAuthError } from '../errors.ts';
import type { Entry, MergedKubeconfig } from './merge.ts';
import type { KubeconfigCluster, KubeconfigUser } from './schema.ts';

const EXEC_V1 = 'client.authentication.k8s.io/v1';
const EXEC_V1BETA1 = 'client.authentication.k8s.io/v1beta1';

/** The name of a kubeconfig's entry, and the file that has it; `what` if that is no kubeconfig. */
export type EntryPlace = { readonly name: string; readonly path: string; readonly what?: string };

/** The cluster and the user of a context, each with its name and the file that has it. */
export type KubeconfigContext = {
  readonly cluster: KubeconfigCluster & { readonly server: string };
  readonly user: KubeconfigUser;
  readonly from: Readonly<Record<'cluster' | 'user', EntryPlace>>;
};

/**
 * Resolves a context. Refuses what kubectl refuses (k8s.io/client-go/tools/clientcmd/validation.go), and a user for whom
 * kubectl would ask for a name and a password: without them, we would be anonymous.
 *
 * @param name default: the current context
 * @throws {ClusterAuthError} with the name of the file, the entry and the field
 */
export function contextOf(config: MergedKubeconfig, name = config.currentContext): KubeconfigContext {
  const fail = (message: string, path = config.path) =>
    new ClusterAuthError('CLUSTER_KUBECONFIG', `kubeconfig ${path}: ${message}`);
  if (name === undefined) throw fail('it has no current-context');
  const context = config.contexts.get(name);
  if (context === undefined) throw fail(`there is no context "${name}"`);
  const entryOf = <T>(kind: 'cluster' | 'user', entries: ReadonlyMap<string, Entry<T>>) => {
    const named = context.value[kind];
    if (named === undefined) throw fail(`context "${name}" has no ${kind}`, context.path);
    const entry = entries.get(named);
    if (entry === undefined) throw fail(`there is no ${kind} "${named}"`, context.path);
    return { value: entry.value, from: { name: named, path: entry.path } };
  };
  const { value: cluster, from: clusterFrom } = entryOf('cluster', config.clusters);
  const { value: user, from: userFrom } = entryOf('user', config.users);
  return checkedContext({ cluster, user, from: { cluster: clusterFrom, user: userFrom } });
}

/** @throws {ClusterAuthError} as `contextOf`, for what a cluster and a user say */
export function checkedContext({
  cluster,
  user,
  from,
}: {
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
  readonly from: KubeconfigContext['from'];
}): KubeconfigContext {
  const fail = (kind: keyof typeof from, problem: string) =>
    new ClusterAuthError('CLUSTER_KUBECONFIG', `${entryAt(kind, from[kind])} has ${problem}`);
  const { server } = cluster;
  if (server === undefined) throw fail('cluster', 'no server');
  const problemOfIt = problemOfCluster(cluster);
  if (problemOfIt !== undefined) throw fail('cluster', problemOfIt);
  const problem = problemOfUser(user);
  if (problem !== undefined) throw fail('user', problem);
  return { cluster: { ...cluster, server }, user, from };
}

/** `kubeconfig /c2: cluster "c2"` */
export const entryAt = (kind: 'cluster' | 'user', { name, path, what = 'kubeconfig' }: EntryPlace): string =>
  `${what} ${path}: ${kind} "${name}"`;

const problemOfCluster = (cluster: KubeconfigCluster): string | undefined =>
  bothOf(cluster, 'certificate-authority', 'certificate-authority-data') ??
  // It would look verified.
  (cluster['insecure-skip-tls-verify']
    ? (bothOf(cluster, 'insecure-skip-tls-verify', 'certificate-authority') ??
      bothOf(cluster, 'insecure-skip-tls-verify', 'certificate-authority-data'))
    : undefined);

function problemOfUser(user: KubeconfigUser): string | undefined {
  const hasCertificate = user['client-certificate'] ?? user['client-certificate-data'];
  const hasKey = user['client-key'] ?? user['client-key-data'];
  if (hasCertificate !== undefined && hasKey === undefined)
    return 'a client certificate without client-key or client-key-data';
  // kubectl asks for the name, unless it knows the user otherwise.
  const isKnown = user.tokenFile ?? hasCertificate ?? user.exec ?? user['auth-provider'];
  if (user.password !== undefined && user.username === undefined && isKnown == null)
    return 'a password without username';
  const isPartOf = user['as-uid'] ?? user['as-groups'][0] ?? Object.keys(user['as-user-extra'])[0];
  if (user.as === undefined && isPartOf !== undefined) return 'as-uid, as-groups or as-user-extra without as';
  return (
    bothOf(user, 'client-certificate', 'client-certificate-data') ??
    (hasCertificate === undefined ? undefined : bothOf(user, 'client-key', 'client-key-data')) ??
    bothOf(user, 'token', 'username') ??
    bothOf(user, 'token', 'password') ??
    bothOf(user, 'tokenFile', 'username') ??
    bothOf(user, 'exec', 'auth-provider') ??
    problemOfPlugin(user)
  );
}

function problemOfPlugin({ exec, 'auth-provider': provider }: KubeconfigUser): string | undefined {
  if (provider != null && provider.name !== 'oidc')
    return `the auth-provider "${provider.name}", which is not supported: use an exec plugin`;
  if (exec == null) return undefined;
  const { command, apiVersion, env, interactiveMode } = exec;
  if (command === '') return 'an exec without a command';
  if (apiVersion !== EXEC_V1 && apiVersion !== EXEC_V1BETA1)
    return `an exec whose apiVersion must be ${EXEC_V1} or ${EXEC_V1BETA1}`;
  if (env.some(({ name }) => name === '')) return 'an exec with an env without a name';
  if (interactiveMode === 'Always') return "an exec with the interactiveMode Always, but this program can't ask anyone";
  if (interactiveMode === 'Never' || interactiveMode === 'IfAvailable') return undefined;
  const optional = interactiveMode === undefined && apiVersion === EXEC_V1BETA1;
  return optional ? undefined : 'an exec whose interactiveMode must be Never or IfAvailable';
}

const bothOf = <T extends object>(entry: T, one: keyof T & string, other: keyof T & string): string | undefined =>
  entry[one] != null && entry[other] != null ? `both ${one} and ${other}: remove one` : undefined;
