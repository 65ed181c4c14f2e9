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
  /** `at` names it for people. */
  readonly local: NamedReference;
  readonly warningLog: Logger;
  readonly userAgent: string;
};

/**
 * Knows clusters by the keys that sign tokens of service accounts: each cluster has its own, and by default each service
 * account may read them. A cluster that refuses them or doesn't answer in time is unknown.
 */
export class SameCluster {
  readonly #options: SameClusterOptions;
  /** In the order in which they came; an unknown one has no keys. */
  readonly #clusters = new Map<NamedReference, Cluster>();

  constructor(options: SameClusterOptions) {
    this.#options = options;
  }

  /**
   * Gets to know clusters. Warns of two addresses that lead to one cluster: a Pod's address of its own API server differs from
   * a kubeconfig's. Never rejects.
   */
  async admit(
    added: readonly { readonly cluster: NamedReference; readonly connection: Connection }[],
    run: RunOptions,
  ): Promise<void> {
    const since = this.#clusters.size;
    for (const { cluster, connection } of added)
      this.#clusters.set(cluster, { at: cluster.at, server: connection.server, keyIds: [] });
    await Promise.all(
      added.map(async ({ cluster, connection }) => this.#learn(cluster, await this.#read(cluster, connection, run))),
    );
    for (const warning of sameClusters([...this.#clusters.values()], since)) this.#options.warningLog.warn({}, warning);
  }

  /** A cluster left the config. */
  forget(cluster: NamedReference): void {
    this.#clusters.delete(cluster);
  }

  /**
   * Another server of a cluster's kubeconfig may be used: we don't know that it leads to another cluster.
   *
   * @throws {ConfigError} if it may not; for the local cluster always, as its Lease and our writes belong to the old one
   */
  async confirm(cluster: NamedReference, other: Connection, run: RunOptions): Promise<void> {
    const { local } = this.#options;
    const { at } = cluster;
    const { href } = other.server;
    if (cluster === local) throw new ConfigError(`${at} names another server, ${href}; restart to use it`);
    const keyIds = await this.#read(cluster, other, run);
    const all = [...this.#clusters.keys()];
    const known = Array.from(this.#clusters.values(), (each) => each.keyIds);
    const reason = otherCluster(keyIds, { own: all.indexOf(cluster), known });
    if (reason !== undefined) {
      const which =
        reason === 'unlike before' ? 'a cluster with other signing keys' : `the cluster of ${all[reason]!.at}`;
      throw new ConfigError(`${at} names another server, ${href}, of ${which}; if that is right, restart to use it`);
    }
    this.#learn(cluster, keyIds);
  }

  #learn(cluster: NamedReference, keyIds: readonly string[]): void {
    const known = this.#clusters.get(cluster);
    if (known !== undefined && keyIds.length > 0) this.#clusters.set(cluster, { ...known, keyIds });
  }

  /** Never rejects. */
  async #read({ at }: NamedReference, connection: Connection, { signal }: RunOptions): Promise<readonly string[]> {
    const { warningLog, userAgent } = this.#options;
    const limited = { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) };
    try {
      return await readKeyIds(new KubeClient({ connection, userAgent }), limited);
    } catch (error) {
      warningLog.debug({ at, error }, 'signing keys of the cluster not read');
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
  const before = known[own] ?? [];
  if (keyIds.length === 0 || isOf(before)) return undefined;
  const another = known.findIndex(isOf);
  if (another >= 0) return another;
  return before.length > 0 ? 'unlike before' : undefined;
}

/**
 * Clusters that sign with a key of an earlier one at another address. `sharedServers` has those at the same address.
 *
 * @param since the index of the first one that is new
 * @returns sentences for the log, about new ones
 */
export function sameClusters(clusters: readonly Cluster[], since = 0): readonly string[] {
  return clusters.flatMap(({ at, server, keyIds }, i) => {
    const first = clusters.slice(0, i).find((other) => other.keyIds.some((id) => keyIds.includes(id)));
    if (first === undefined || i < since || first.server.href === server.href) return [];
    return [`${at} leads to the same cluster as ${first.at}, by another address: is it the right cluster?`];
  });
}

async function readKeyIds(client: Pick<KubeClient, 'getRaw'>, { signal }: RunOptions): Promise<readonly string[]> {
  const answer = await client.getRaw('/openid/v1/jwks', { signal, accept: 'application/jwk-set+json' });
  return z.parse(keySet, answer).keys.map(({ kid }) => kid);
}
