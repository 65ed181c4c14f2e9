import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Namespace, podKind, type PodWithOwners, type PodWithPorts } from '@kube-semaphore/kube-objects';
import { listAll } from '@kube-semaphore/multicluster';
import { addressRefusal, type Cidr, contains } from '@kube-semaphore/net';
import { ConfigError } from '@kube-semaphore/runtime';
import type { FlowWord } from './config/flow.ts';
import {
  addressedPod,
  addressIndexOf,
  type FlowCluster,
  type FlowEnd,
  flowPodOf,
  ipsOf,
  isFinished,
  isLate,
  isReleased,
  lossesOf,
  sinkOf,
} from '@kube-semaphore/network-policies';
import type { PolicyInput } from './policy.ts';
import { listOwnedPods, listPods, listPoliciesIn, readInTime } from './remote/snapshot.ts';

export type ExplainInput = Omit<PolicyInput, 'leadership'>;

/** A cluster of the config. */
export type Cluster = FlowCluster & {
  readonly client: KubeClient;
  /** Whether `allowedPodCIDRs` has an address. */
  readonly allows: (ip: string) => boolean;
};

type WorkloadWord = Exclude<FlowWord, { kind: 'address' }>;

/** @param services Service ranges of the local cluster @returns the local cluster first */
export function clustersOf(
  { settings, options, local, remotes }: ExplainInput,
  services: readonly Cidr[],
): readonly [Cluster, ...Cluster[]] {
  const { localClusterName, remotePodSelector, maxAddressesPerSource } = options;
  const here = {
    name: localClusterName ?? 'local',
    id: localClusterName,
    labels: {},
    refusalOf: () => undefined,
    limits: { remotePodSelector, maxAddressesPerSource },
    client: local,
    allows: () => false,
  };
  const others = settings.remotes.map(({ name, labels, clusterSetId, allowedPodCidrs: allowed = [] }, i) => ({
    name,
    id: clusterSetId,
    labels,
    refusalOf: (ip: string) => addressRefusal(ip, { allowed, local: settings.localCidrs, services })?.detail,
    limits: undefined,
    client: remotes[i]!,
    allows: (ip: string) => allowed.some((cidr) => contains(cidr, ip)),
  }));
  return [here, ...others];
}

/**
 * Reads what a word means, once.
 *
 * @throws {ConfigError} if the config does not have the cluster
 */
export async function readEnds(
  word: FlowWord,
  clusters: readonly [Cluster, ...Cluster[]],
  input: ExplainInput,
  run: RunOptions,
): Promise<FlowEnd> {
  const reader = { input, inTime: { ...run, timeoutMs: input.options.timeoutMs } };
  if (word.kind === 'address') return readAddress(word.ip, clusters, reader);
  const cluster = word.cluster === undefined ? clusters[0] : clusters.find(({ name }) => name === word.cluster);
  if (cluster === undefined)
    throw new ConfigError(`${word.cluster} is not a remote in the config, nor -local-cluster-name`);
  const { namespace } = word;
  const objects = await readInTime(
    (running) => listOwnedPods(cluster.client, { ...running, namespace }),
    reader.inTime,
  );
  const unknown = (failure: string): FlowEnd => ({
    kind: 'unknown',
    cluster: cluster.name,
    word: `${cluster.name}/${namespace}/${word.kind}/${word.name}`,
    failure,
  });
  if (!objects.ok) return unknown(objects.failure ?? 'no answer');
  const { namespaces, pods } = objects.value;
  const found = pods.filter((pod) => isMeant(pod, word)).map((pod) => ({ pod, ips: ipsOf(pod.status) }));
  // Only who has an address of a late Pod makes a difference.
  const isLateHere = found.some(({ pod }) => isLate(addressedPod(pod).holder, Date.now()));
  const everywhere = isLateHere
    ? await readInTime((running) => listPods(cluster.client, running), reader.inTime)
    : objects;
  if (!everywhere.ok)
    return unknown(`which Pods have its addresses now is not known: ${everywhere.failure ?? 'no answer'}`);
  return podsEnd(cluster, { namespace, namespaces, found, all: everywhere.value.pods, unknown }, reader);
}

type Reader = { readonly input: ExplainInput; readonly inTime: RunOptions & { readonly timeoutMs: number } };

/** Reads what has an address: Pods of the remote whose `allowedPodCIDRs` have it, or of the local cluster. */
async function readAddress(
  ip: string,
  [local, ...remotes]: readonly [Cluster, ...Cluster[]],
  reader: Reader,
): Promise<FlowEnd> {
  const owners = remotes.filter(({ allows }) => allows(ip));
  // A wide block of a remote can include what is local.
  const isLocal = reader.input.settings.localCidrs.some((cidr) => contains(cidr, ip));
  for (const cluster of isLocal ? [local, ...owners] : [...owners, local]) {
    const unknown = (failure: string): FlowEnd => ({ kind: 'unknown', cluster: cluster.name, word: ip, failure });
    const objects = await readInTime((running) => listPods(cluster.client, running), reader.inTime);
    if (!objects.ok) return unknown(`which Pod has ${ip} is not known: ${objects.failure ?? 'no answer'}`);
    const { namespaces, pods: all } = objects.value;
    const owner = addressIndexOf(all.map(addressedPod)).ownerOf(ip);
    const pod = owner && all.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === owner.pod);
    if (pod !== undefined) {
      const { namespace } = pod.metadata;
      return podsEnd(cluster, { namespace, namespaces, found: [{ pod, ips: [ip] }], all, unknown }, reader);
    }
  }
  const where = owners.map(({ name }) => `is in allowedPodCIDRs of ${name}, but no Pod there has it`);
  return { kind: 'address', ip, detail: [ip, where[0] ?? 'is no Pod of a known cluster'].join(' ') };
}

type Found = {
  readonly namespace: string;
  readonly namespaces: readonly Namespace[];
  readonly found: readonly { readonly pod: PodWithPorts; readonly ips: readonly string[] }[];
  /** Of the cluster; if no Pod of `found` is late, of its namespace at least. */
  readonly all: readonly PodWithPorts[];
  readonly unknown: (failure: string) => FlowEnd;
};

async function podsEnd(
  cluster: Cluster,
  { namespace, namespaces, found, all, unknown }: Found,
  { input: { options }, inTime }: Reader,
): Promise<FlowEnd> {
  const labels = namespaces.find(({ metadata }) => metadata.name === namespace)?.metadata.labels;
  if (found.length === 0 || labels === undefined) return unknown('there is no such Pod');
  const { client } = cluster;
  const { remotePodSelector: labelSelector } = options;
  const isLimited = cluster.limits === undefined && labelSelector !== undefined;
  const [policies, selectable] = await Promise.all([
    readInTime((run) => listPoliciesIn(client, { ...run, namespace, sink: sinkOf(options) }), inTime),
    // The API server reads the selector, as for the watch of `-network-policies`.
    isLimited
      ? readInTime((run) => listAll(client, podCodec, { ...run, namespace, labelSelector }), inTime)
      : undefined,
  ]);
  if (selectable?.ok === false) return unknown(selectable.failure ?? 'no answer');
  const losses = lossesOf(all.map(addressedPod), { nowMs: Date.now(), isTimeEnough: isLimited });
  const ips = new Set(found.flatMap((each) => each.ips));
  const names = selectable && new Set(selectable.value.map(({ metadata }) => metadata.name));
  return {
    kind: 'pods',
    cluster,
    pods: found.map(({ pod, ips: own }) => ({
      pod: flowPodOf(pod, labels),
      ips: own,
      isExcluded: names !== undefined && !names.has(pod.metadata.name),
      loss: losses.get(`${namespace}/${pod.metadata.name}`),
    })),
    late: [...losses.values()].flatMap(({ lost, skipped }) =>
      lost.some((ip) => ips.has(ip)) ? skipped.map(({ detail }) => detail) : [],
    ),
    policies: policies.ok ? policies : { ok: false, failure: policies.failure ?? 'no answer' },
  };
}

const podCodec = new Codec(podKind);

function isMeant({ metadata, status }: PodWithOwners, word: WorkloadWord): boolean {
  const { name, ownerReferences } = metadata;
  if (word.kind === 'pod') return name === word.name;
  if (isFinished(status) || isReleased(metadata)) return false;
  if (word.kind === 'namespace') return true;
  const owner = OWNERS[word.kind];
  const workloadOf = word.kind === 'deployment' ? ofReplicaSet : (replicas: string): string => replicas;
  return ownerReferences.some((each) => each.kind === owner && workloadOf(each.name) === word.name);
}

const OWNERS = { deployment: 'ReplicaSet', statefulset: 'StatefulSet', daemonset: 'DaemonSet' } as const;

/** A ReplicaSet has the name of its Deployment, and a hash. */
const ofReplicaSet = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('-')));
