import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import {
  Codec,
  namespaceKind,
  type NetworkPolicy,
  networkPolicyKind,
  networkPolicyWithTimesKind,
  podWithOwnersKind,
  podWithPortsKind,
} from '@kube-semaphore/kube-objects';
import { listAll } from '@kube-semaphore/multicluster';
import { wordsOf } from '@kube-semaphore/runtime';
import { companionsAsPolicies, type Sink } from '@kube-semaphore/network-policies';
import { servedGroups } from '../local/api-groups.ts';

/** What was read of a cluster. `failure`: why it was not, in words; undefined: it gave no answer. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: string | undefined };

/** Reads something of a cluster once, in time. @throws the signal's reason when that is aborted */
export async function readInTime<T>(
  read: (options: RunOptions) => Promise<T>,
  { signal, timeoutMs }: RunOptions & { readonly timeoutMs: number },
): Promise<Reading<T>> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return { ok: true, value: await read({ signal: AbortSignal.any([signal, late]) }) };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, failure: late.aborted ? undefined : wordsOf(error) };
  }
}

const codecs = {
  namespaces: new Codec(namespaceKind),
  pods: new Codec(podWithPortsKind),
  ownedPods: new Codec(podWithOwnersKind),
  policies: new Codec(networkPolicyKind),
  policiesWithTimes: new Codec(networkPolicyWithTimesKind),
};

/** Lists the Namespaces and Pods of a cluster. */
export async function listPods(client: KubeClient, options: RunOptions & { readonly labelSelector?: string }) {
  const { signal, ...selection } = options;
  const [namespaces, pods] = await Promise.all([
    listAll(client, codecs.namespaces, { signal }),
    listAll(client, codecs.pods, { signal, ...selection }),
  ]);
  return { namespaces, pods };
}

/** Lists the Namespaces and NetworkPolicies of a cluster. */
export async function listPolicies(client: KubeClient, { signal }: RunOptions) {
  const [namespaces, policies] = await Promise.all([
    listAll(client, codecs.namespaces, { signal }),
    listAll(client, codecs.policies, { signal }),
  ]);
  return { namespaces, policies };
}

type InNamespace = RunOptions & { readonly namespace: string };

/** Lists the Pods of a namespace with their owners, and all Namespaces. */
export async function listOwnedPods(client: KubeClient, { signal, namespace }: InNamespace) {
  const [namespaces, pods] = await Promise.all([
    listAll(client, codecs.namespaces, { signal }),
    listAll(client, codecs.ownedPods, { signal, namespace }),
  ]);
  return { namespaces, pods };
}

/** Lists the NetworkPolicies of a namespace; companions of another sink are among them as NetworkPolicies. */
export async function listPoliciesIn(
  client: KubeClient,
  { sink, ...selection }: InNamespace & { readonly sink: Sink },
): Promise<readonly NetworkPolicy[]> {
  const [policies, companions] = await Promise.all([
    listAll(client, codecs.policiesWithTimes, selection),
    listCompanions(client, sink, selection),
  ]);
  return [...policies, ...companionsAsPolicies(policies, companions)];
}

/** Lists the objects of a sink; none if the cluster doesn't serve them. */
async function listCompanions(client: KubeClient, { resources, read }: Sink, { signal }: RunOptions) {
  if (resources.length === 0) return [];
  const groups = await servedGroups(client, { signal });
  const objects = await Promise.all(
    resources.map(async (resource) => {
      if (!groups.has(resource.group)) return [];
      const found = await listAll(client, new Codec(resource), { signal });
      return found.flatMap((object) => read(resource, object) ?? []);
    }),
  );
  return objects.flat();
}
