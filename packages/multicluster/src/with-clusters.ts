import type { Connection } from '@kube-semaphore/cluster-auth';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Command } from '@kube-semaphore/runtime';
import type { NamedReference } from './config/cluster-references.ts';
import { connectAll } from './connect-all.ts';
import { warnOfSameCluster } from './remote/same-cluster.ts';

/** The local cluster and its remotes, in the order of the config. */
type Clusters<T> = { readonly local: T; readonly remotes: readonly T[] };

/**
 * Connects to clusters, hands the connections to `use`, and closes them afterwards. Meanwhile it warns if two of them
 * are the same cluster.
 *
 * @returns what `use` returns
 * @throws {ConfigError} with the problems of all clusters
 */
export async function withClusters<T>(
  { local, remotes }: Clusters<NamedReference>,
  { warningLog, secrets, userAgent }: Pick<Command<unknown>, 'warningLog' | 'secrets' | 'userAgent'>,
  run: RunOptions,
  use: (connections: Clusters<Connection>) => Promise<T>,
): Promise<T> {
  const clusters = [local, ...remotes];
  const connections = await connectAll(clusters, { warningLog, secrets });
  const [first, ...others] = connections;
  const compared =
    remotes.length === 0 ? undefined : warnOfSameCluster({ clusters, connections, warningLog, userAgent }, run);
  try {
    const result = await use({ local: first!, remotes: others });
    await compared;
    return result;
  } finally {
    for (const connection of connections) connection.close();
  }
}
