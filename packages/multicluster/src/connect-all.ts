import { connect, type Connection } from '@kube-semaphore/cluster-auth';
import { type Command, ConfigError } from '@kube-semaphore/runtime';
import { type NamedReference, sharedServers } from './config/cluster-references.ts';

/**
 * Connects to clusters, in order. Warns of two that have the same address.
 *
 * @throws {ConfigError} with the problems of all of them, each with the place that names the cluster
 */
export async function connectAll(
  clusters: readonly NamedReference[],
  {
    warningLog: log,
    secrets,
    confirmServer,
  }: Pick<Command<unknown>, 'warningLog' | 'secrets'> & {
    /** As that of `connect`, for the cluster with this index. */
    readonly confirmServer: (i: number, other: Connection) => Promise<void>;
  },
): Promise<readonly Connection[]> {
  const options = { env: process.env, log, secrets };
  const attempts = await Promise.allSettled(
    clusters.map(({ reference }, i) =>
      connect(reference, { ...options, confirmServer: (other) => confirmServer(i, other) }),
    ),
  );
  const connections = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
  if (connections.length < clusters.length) {
    for (const connection of connections) connection.close();
    const problems = attempts.map((attempt, i) =>
      attempt.status === 'rejected' ? [`${clusters[i]!.at}: ${(attempt.reason as Error).message}`] : [],
    );
    throw new ConfigError(problems.flat());
  }
  const servers = clusters.map(({ at }, i) => ({ at, server: connections[i]!.server }));
  for (const warning of sharedServers(servers)) log.warn({}, warning);
  return connections;
}
