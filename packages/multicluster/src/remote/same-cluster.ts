import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { ConfigError, type Logger } from '@kube-semaphore/runtime';
import * as z from 'zod/mini';
import type { NamedReference } from '../config/cluster-references.ts';

/** Much longer than an API server takes to answer. */
const TIMEOUT_MS = 5_000;

const keySet = z.object({ keys: z.array(z.object({ kid: z.string() })).check(z.maxLength(100)) });

type Cluster = { readonly at: string; readonly server: URL; readonly keyIds: readonly string[] };

type SameClusterOptions = {
  /** In the order of the config, the local one first; `at` names it for people. */
  readonly clusters: readonly NamedReference[];
  readonly warningLog: Logger;
  readonly userAgent: string;
};

/**
 * Knows clusters by the keys that sign tokens of service accounts: each cluster has its own, and by default each service
 * account may read them. A cluster that refuses them or doesn't answer in time is unknown.
 */
export class SameCluster {
  readonly #options: SameClusterOptions;
  /** In the order of the clusters; those of an unknown one are empty. */
  readonly #keyIds: (readonly string[])[];

  constructor(options: SameClusterOptions) {
    this.#options = options;
    this.#keyIds = options.clusters.map(() => []);
  }

  /** Warns of two addresses that lead to one cluster: a Pod's address of its own API server differs from a kubeconfig's. */
  async warn(connections: readonly Connection[], run: RunOptions): Promise<void> {
    const { clusters, warningLog } = this.#options;
    const found = await Promise.all(
      clusters.map(async ({ at }, i): Promise<Cluster> => {
        const { server } = connections[i]!;
        this.#keyIds[i] = await this.#read(i, connections[i]!, run);
        return { at, server, keyIds: this.#keyIds[i] };
      }),
    );
    for (const warning of sameClusters(found)) warningLog.warn({}, warning);
  }

  /**
   * Another server of a cluster's kubeconfig may be used: we don't know that it leads to another cluster.
   *
   * @throws {ConfigError} if it may not; for the local cluster always, as its Lease and our writes belong to the old one
   */
  async confirm(i: number, other: Connection, run: RunOptions): Promise<void> {
    const { clusters } = this.#options;
    const { href } = other.server;
    if (i === 0) throw new ConfigError(`${clusters[0]!.at} names another server, ${href}; restart to use it`);
    const keyIds = await this.#read(i, other, run);
    const reason = otherCluster(keyIds, { own: i, known: this.#keyIds });
    if (reason !== undefined) {
      const which =
        reason === 'unlike before' ? 'a cluster with other signing keys' : `the cluster of ${clusters[reason]!.at}`;
      throw new ConfigError(
        `${clusters[i]!.at} names another server, ${href}, of ${which}; if that is right, restart to use it`,
      );
    }
    if (keyIds.length > 0) this.#keyIds[i] = keyIds;
  }

  /** Never rejects. */
  async #read(i: number, connection: Connection, { signal }: RunOptions): Promise<readonly string[]> {
    const { clusters, warningLog, userAgent } = this.#options;
    const limited = { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) };
    try {
      return await readKeyIds(new KubeClient({ connection, userAgent }), limited);
    } catch (error) {
      warningLog.debug({ at: clusters[i]!.at, error }, 'signing keys of the cluster not read');
      return [];
    }
  }
}

/**
 * Whether the keys of a server show that it isn't of the cluster that it should be of.
 *
 * @param known by cluster; none: unknown
 * @returns `unlike before`; the index of the cluster that it is of; undefined if it may be the right one
 */
export function otherCluster(
  keyIds: readonly string[],
  { own, known }: { readonly own: number; readonly known: readonly (readonly string[])[] },
): 'unlike before' | number | undefined {
  const isOf = (ids: readonly string[]): boolean => ids.some((id) => keyIds.includes(id));
  const before = known[own]!;
  if (keyIds.length === 0 || isOf(before)) return undefined;
  const another = known.findIndex(isOf);
  if (another >= 0) return another;
  return before.length > 0 ? 'unlike before' : undefined;
}

/**
 * Clusters that sign with a key of an earlier one at another address. `sharedServers` has those at the same address.
 *
 * @returns sentences for the log
 */
export function sameClusters(clusters: readonly Cluster[]): readonly string[] {
  return clusters.flatMap(({ at, server, keyIds }, i) => {
    const first = clusters.slice(0, i).find((other) => other.keyIds.some((id) => keyIds.includes(id)));
    if (first === undefined || first.server.href === server.href) return [];
    return [`${at} leads to the same cluster as ${first.at}, by another address: is it the right cluster?`];
  });
}

async function readKeyIds(client: Pick<KubeClient, 'getRaw'>, { signal }: RunOptions): Promise<readonly string[]> {
  const answer = await client.getRaw('/openid/v1/jwks', { signal, accept: 'application/jwk-set+json' });
  return z.parse(keySet, answer).keys.map(({ kid }) => kid);
}
