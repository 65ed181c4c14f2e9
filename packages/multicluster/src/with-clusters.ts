import type { Connection } from '@kube-semaphore/cluster-auth';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Command } from '@kube-semaphore/runtime';
import type { NamedReference } from './config/cluster-references.ts';
import { connectAll } from './connect-all.ts';
import { SameCluster } from './remote/same-cluster.ts';

/** The local cluster and its remotes, in the order of the config. */
type Clusters<T> = { readonly local: T; readonly remotes: readonly T[] };

/** `isKubeconfigStale`: whether a changed kubeconfig of one of them isn't used. */
type Connected = Clusters<Connection> & { readonly isKubeconfigStale: () => Promise<boolean> };

/**
 * Connects to clusters, hands the connections to `use`, and closes them afterwards. Meanwhile it warns if two of them
 * are the same cluster, and refuses another server in a changed kubeconfig if that leads to another cluster.
 *
 * @returns what `use` returns
 * @throws {ConfigError} with the problems of all clusters
 */
export async function withClusters<T>(
  { local, remotes }: Clusters<NamedReference>,
  { warningLog, secrets, userAgent }: Pick<Command<unknown>, 'warningLog' | 'secrets' | 'userAgent'>,
  run: RunOptions,
  use: (connections: Connected) => Promise<T>,
): Promise<T> {
  const clusters = [local, ...remotes];
  const sameCluster = new SameCluster({ clusters, warningLog, userAgent });
  const confirmServer = (i: number, other: Connection): Promise<void> => sameCluster.confirm(i, other, run);
  const connections = await connectAll(clusters, { warningLog, secrets, confirmServer });
  const [first, ...others] = connections;
  const compared = remotes.length === 0 ? undefined : sameCluster.warn(connections, run);
  const isKubeconfigStale = async (): Promise<boolean> =>
    (await Promise.all(connections.map(async (connection) => connection.isStale?.()))).includes(true);
  try {
    const result = await use({ local: first!, remotes: others, isKubeconfigStale });
    await compared;
    return result;
  } finally {
    for (const connection of connections) connection.close();
  }
}
