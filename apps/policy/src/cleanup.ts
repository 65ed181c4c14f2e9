import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, globalNetworkSetKind, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { listAll, type Removal } from '@kube-semaphore/multicluster';
import type { Logger } from '@kube-semaphore/runtime';
import type { PolicyOptions } from './config/options.ts';
import { configuredIdentity } from './sets/desired/identity.ts';
import {
  companionFacts,
  isCompanion,
  observedCompanion,
  otherSinksOf,
  type Sink,
  sinkOf,
} from '@kube-semaphore/network-policies';
import { observedSet } from './sets/desired/network-set.ts';
import { clusterOf } from './sets/desired/ownership.ts';
import { calicoApiOf } from './local/calico-api.ts';
import { sendCompanion } from './companions/local/companions.ts';
import { readableSinks, resourceNames } from './companions/local/other-sinks.ts';
import { changeSender } from './sets/local/writer.ts';

export type CleanupInput = {
  readonly cluster: string;
  readonly options: Pick<
    PolicyOptions,
    'calicoApi' | 'labelDomain' | 'managedBy' | 'networkPolicies' | 'networkPolicySink'
  >;
  /** Of the local cluster. */
  readonly client: KubeClient;
  readonly log: Pick<Logger, 'info'>;
};

/**
 * The removals of the local sets of a cluster that is no longer in the config and, with `-network-policies`, of its
 * companions of every sink that the cluster lets us list. Only a cleanup removes these, as another process may serve the
 * cluster.
 *
 * @throws KubeApiError, ConnectionError
 */
export async function removalsOf(
  { cluster, options, client, log }: CleanupInput,
  { signal }: RunOptions,
): Promise<readonly Removal[]> {
  const onFailure = (error: unknown): never => {
    throw error;
  };
  const { calicoApi, networkPolicies: isOptional, networkPolicySink: chosen } = options;
  const api = await calicoApiOf(calicoApi, client, { signal, onFailure, isOptional });
  let companions: readonly Removal[] = [];
  if (options.networkPolicies) {
    const { readable, forbidden } = await readableSinks(otherSinksOf(chosen, api), client, { signal });
    for (const sink of forbidden)
      log.info({ resources: resourceNames(sink) }, 'companions of another sink are not looked for');
    companions = await companionRemovals(client, cluster, [sinkOf(options), ...readable], { signal });
  }
  if (api === undefined) return companions;
  const send = changeSender(client, api);
  const sets = (await listAll(client, new Codec(globalNetworkSetKind(api)), { signal })).map(observedSet);
  const identity = configuredIdentity(options);
  const ours = sets.filter(({ labels }) => clusterOf(labels, identity) === cluster);
  const ofSets = ours.map((from): Removal => ({
    line: `delete  ${from.name}  ${from.nets.length} nets`,
    carryOut: async (run) => void (await send({ kind: 'delete', from }, run)),
  }));
  return [...ofSets, ...companions];
}

async function companionRemovals(
  client: KubeClient,
  cluster: string,
  sinks: readonly Sink[],
  run: RunOptions,
): Promise<readonly Removal[]> {
  const policies = (await listAll(client, new Codec(networkPolicyKind), run))
    .filter(isCompanion)
    .map(observedCompanion);
  const others = await Promise.all(
    sinks.flatMap((sink) =>
      // A group goes after the policy that refers to it.
      sink.resources.toReversed().map(async (resource) => {
        const objects = await listAll(client, new Codec(resource), run);
        return objects.flatMap((object) => sink.read(resource, object) ?? []);
      }),
    ),
  );
  return [policies, ...others]
    .flat()
    .filter(({ remote }) => remote === cluster)
    .map((from) => {
      const change = { kind: 'delete', from } as const;
      const { kind, name } = companionFacts(change);
      return {
        line: `delete  ${kind} ${name}`,
        carryOut: async (running) => void (await sendCompanion(client, change, running)),
      };
    });
}
