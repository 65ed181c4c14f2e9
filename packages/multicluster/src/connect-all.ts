import { connect, type Connection } from '@kube-semaphore/cluster-auth';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { type Command, ConfigError } from '@kube-semaphore/runtime';
import { type NamedReference, sharedServers } from './config/cluster-references.ts';
import { warnOfSameCluster } from './remote/same-cluster.ts';

/** The local cluster and the remotes, as references or as connections to them. */
type Clusters<T> = { readonly local: T; readonly remotes: readonly T[] };

/**
 * Connects to all clusters, calls `use`, and closes the connections when that has ended. Meanwhile it warns of references that
 * lead to one cluster.
 *
 * @throws {ConfigError} as `connectAll`; what `use` throws
 */
export async function withClusters<T>(
  { local, remotes }: Clusters<NamedReference>,
  { notices, secrets, userAgent }: Pick<Command<unknown>, 'notices' | 'secrets' | 'userAgent'>,
  use: (connections: Clusters<Connection>) => Promise<T>,
  run: RunOptions,
): Promise<T> {
  const clusters = [local, ...remotes];
  const connections = await connectAll(clusters, { notices, secrets });
  const compared = remotes.length > 0 && warnOfSameCluster({ clusters, connections, notices, userAgent }, run);
  try {
    const result = await use({ local: connections[0]!, remotes: connections.slice(1) });
    await compared;
    return result;
  } finally {
    for (const connection of connections) connection.close();
  }
}

/**
 * Connects to clusters, in order. Two at one address are warned about.
 *
 * @throws {ConfigError} with the problems of all of them, each with the place that names the cluster
 */
export async function connectAll(
  clusters: readonly NamedReference[],
  { notices: log, secrets }: Pick<Command<unknown>, 'notices' | 'secrets'>,
): Promise<readonly Connection[]> {
  const options = { env: process.env, log, secrets };
  const connections = await Promise.allSettled(clusters.map(({ reference }) => connect(reference, options)));
  const problems = connections.flatMap((connection, i) =>
    connection.status === 'rejected' ? [`${clusters[i]!.at}: ${(connection.reason as Error).message}`] : [],
  );
  const made = connections.flatMap((connection) => (connection.status === 'fulfilled' ? [connection.value] : []));
  if (problems.length === 0) {
    for (const warning of sharedServers(clusters.map(({ at }, i) => ({ at, server: made[i]!.server }))))
      log.warn({}, warning);
    return made;
  }
  for (const connection of made) connection.close();
  throw new ConfigError(problems);
}
