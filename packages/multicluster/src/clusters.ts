import { connect, type Connection } from '@kube-semaphore/cluster-auth';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { type Command, ConfigError } from '@kube-semaphore/runtime';
import { type NamedReference, sharedServers } from './config/cluster-references.ts';
import { SameCluster } from './remote/same-cluster.ts';

type ClustersOptions = Pick<Command<unknown>, 'warningLog' | 'secrets' | 'userAgent'> & {
  readonly local: NamedReference;
};

/**
 * The connections to the local cluster and to its remotes, which come and go. Warns if two of them are the same cluster, and
 * refuses another server in a changed kubeconfig if that leads to another cluster.
 */
export class Clusters {
  readonly #options: ClustersOptions;
  readonly #run: RunOptions;
  readonly #sameCluster: SameCluster;
  /** In the order in which they were opened. */
  readonly #open = new Map<Connection, NamedReference>();
  readonly #comparing = new Set<Promise<void>>();

  constructor(options: ClustersOptions, run: RunOptions) {
    this.#options = options;
    this.#run = run;
    this.#sameCluster = new SameCluster(options);
  }

  /**
   * Connects to clusters, all or none.
   *
   * @param replaced connections that will be closed: they aren't compared with the new ones
   * @returns in their order
   * @throws {ConfigError} with the problems of all of them, each with the place that names the cluster
   */
  async open(
    clusters: readonly NamedReference[],
    replaced: readonly Connection[] = [],
  ): Promise<readonly Connection[]> {
    const { warningLog: log, secrets } = this.#options;
    const attempts = await Promise.allSettled(
      clusters.map((cluster) => {
        const confirmServer = (other: Connection) => this.#sameCluster.confirm(cluster, other, this.#run);
        return connect(cluster.reference, { env: process.env, log, secrets, confirmServer });
      }),
    );
    const connections = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    if (connections.length < clusters.length) {
      for (const connection of connections) connection.close();
      const problems = attempts.map((attempt, i) =>
        attempt.status === 'rejected' ? [`${clusters[i]!.at}: ${(attempt.reason as Error).message}`] : [],
      );
      throw new ConfigError(problems.flat());
    }
    for (const connection of replaced) this.#forget(connection);
    for (const [i, connection] of connections.entries()) this.#open.set(connection, clusters[i]!);
    this.#compare(connections);
    return connections;
  }

  /** Closes the connection to a remote that left the config. */
  close(connection: Connection): void {
    this.#forget(connection);
    connection.close();
  }

  /** Resolves when the clusters of all connections are compared. */
  async compared(): Promise<void> {
    await Promise.all(this.#comparing);
  }

  closeAll(): void {
    for (const connection of this.#open.keys()) this.close(connection);
  }

  /** Whether a changed kubeconfig of one of them isn't used. */
  async isKubeconfigStale(): Promise<boolean> {
    return (await Promise.all(Array.from(this.#open.keys(), async (each) => each.isStale?.()))).includes(true);
  }

  #forget(connection: Connection): void {
    const cluster = this.#open.get(connection);
    if (cluster !== undefined) this.#sameCluster.forget(cluster);
    this.#open.delete(connection);
  }

  /** Warns of new ones that are the same cluster as another. */
  #compare(added: readonly Connection[]): void {
    const { warningLog } = this.#options;
    const all = [...this.#open];
    const servers = all.map(([{ server }, { at }]) => ({ at, server }));
    for (const warning of sharedServers(servers, all.length - added.length)) warningLog.warn({}, warning);
    if (all.length < 2) return;
    const comparing = this.#sameCluster.admit(
      added.map((connection) => ({ cluster: this.#open.get(connection)!, connection })),
      this.#run,
    );
    this.#comparing.add(comparing);
    void comparing.finally(() => this.#comparing.delete(comparing));
  }
}

type Connected = {
  readonly local: Connection;
  /** In the order of the config. */
  readonly remotes: readonly Connection[];
  readonly clusters: Clusters;
};

/**
 * Connects to clusters, hands the connections to `use`, and closes them afterwards.
 *
 * @returns what `use` returns
 * @throws {ConfigError} with the problems of all clusters
 */
export async function withClusters<T>(
  { local, remotes }: { readonly local: NamedReference; readonly remotes: readonly NamedReference[] },
  { warningLog, secrets, userAgent }: Pick<Command<unknown>, 'warningLog' | 'secrets' | 'userAgent'>,
  run: RunOptions,
  use: (connected: Connected) => Promise<T>,
): Promise<T> {
  const clusters = new Clusters({ local, warningLog, secrets, userAgent }, run);
  const [first, ...others] = await clusters.open([local, ...remotes]);
  try {
    const result = await use({ local: first!, remotes: others, clusters });
    await clusters.compared();
    return result;
  } finally {
    clusters.closeAll();
  }
}
