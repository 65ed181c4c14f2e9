import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import * as z from 'zod/mini';
import type { NamedReference } from '../config/cluster-references.ts';

/** Much longer than an API server takes to answer. */
const TIMEOUT_MS = 5_000;

const keySet = z.object({ keys: z.array(z.object({ kid: z.string() })).check(z.maxLength(100)) });

type Cluster = { readonly at: string; readonly server: URL; readonly keyIds: readonly string[] };

export type SameClusterInput = {
  /** In the order of the config, the local one first; `at` names it for people. */
  readonly clusters: readonly NamedReference[];
  /** In the same order. */
  readonly connections: readonly Connection[];
  readonly warningLog: Logger;
  readonly userAgent: string;
};

/**
 * Warns of two addresses that lead to one cluster: a Pod's address of its own API server differs from a kubeconfig's.
 * Compares the keys that sign tokens of service accounts: each cluster has its own, and by default each service account
 * may read them. Skips a cluster that refuses them or doesn't answer in time. Never rejects.
 */
export async function warnOfSameCluster(
  { clusters, connections, warningLog, userAgent }: SameClusterInput,
  { signal }: RunOptions,
): Promise<void> {
  const limited = { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) };
  const found = await Promise.all(
    clusters.map(async ({ at }, i): Promise<Cluster> => {
      const connection = connections[i]!;
      const { server } = connection;
      try {
        return { at, server, keyIds: await readKeyIds(new KubeClient({ connection, userAgent }), limited) };
      } catch (error) {
        warningLog.debug({ at, error }, 'signing keys of the cluster not read');
        return { at, server, keyIds: [] };
      }
    }),
  );
  for (const warning of sameClusters(found)) warningLog.warn({}, warning);
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
