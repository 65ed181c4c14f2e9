import { connect, type Connection } from '@kube-semaphore/cluster-auth';
import { type Command, ConfigError } from '@kube-semaphore/runtime';
import { type NamedReference, sharedServers } from './config/cluster-references.ts';

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
