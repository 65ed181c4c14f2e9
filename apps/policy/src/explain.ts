import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Namespace, NetworkPolicy, PodWithOwners } from '@kube-semaphore/kube-objects';
import { localServiceRanges } from '@kube-semaphore/multicluster';
import { addressRefusal, type Cidr } from '@kube-semaphore/net';
import { ConfigError } from '@kube-semaphore/runtime';
import { type FlowWord, parseFlowEnd, parseFlowPort } from './config/flow.ts';
import type { Direction } from './desired/network-policies/cross-cluster-rules.ts';
import type { Labels } from './desired/network-policies/selector.ts';
import { isFinished } from './desired/member.ts';
import { sinkOf } from './desired/network-policies/sinks.ts';
import {
  type FlowPeer,
  type FlowPod,
  flowPodOf,
  type FlowPort,
  remotePeer,
  type SideVerdict,
  sideVerdict,
} from './desired/network-policies/verdict.ts';
import { servedGroups } from './local/api-groups.ts';
import type { PolicyInput } from './policy.ts';
import { listOwnedPods, listPoliciesIn, type Reading, readInTime } from './remote/snapshot.ts';

/** What one cluster says about a flow. */
export type Side = { readonly direction: Direction; readonly cluster: string } & (
  | ({ readonly known: true } & SideVerdict)
  | { readonly known: false; readonly failure: string }
);

export type ExplainedFlow = {
  readonly from: string;
  readonly to: string;
  readonly port: string;
  /** Egress first; an address that is no known Pod has none. */
  readonly sides: readonly Side[];
  readonly verdict: 'allowed' | 'denied' | 'unknown';
};

export type Explanation = {
  readonly flows: readonly ExplainedFlow[];
  /** Per cluster the API groups of other policies, which aren't considered. */
  readonly otherPolicies: readonly { readonly cluster: string; readonly groups: readonly string[] }[];
};

type WorkloadWord = Exclude<FlowWord, { kind: 'address' }>;

type Input = Omit<PolicyInput, 'leadership'>;

/** A cluster of the config, as flows name it. */
type Cluster = {
  readonly name: string;
  readonly client: KubeClient;
  /** Its value of the cluster label; undefined: not configured. */
  readonly id: string | undefined;
  /** `remotes[].labels`; the configs of other clusters, which may label the local one, are not known. */
  readonly labels: Labels;
  readonly refusalOf: (ip: string) => string | undefined;
};

/** Objects of the namespace of an end. */
type ReadCluster = Cluster & {
  readonly pods: Reading<{ readonly namespaces: readonly Namespace[]; readonly pods: readonly PodWithOwners[] }>;
  readonly policies: Reading<readonly NetworkPolicy[]>;
};

/** One Pod of an end, for all that policies see alike; or an address. */
type End =
  | { readonly kind: 'pod'; readonly at: ReadCluster; readonly pod: FlowPod; readonly ips: readonly string[] }
  | { readonly kind: 'address'; readonly ip: string }
  | { readonly kind: 'unknown'; readonly at: ReadCluster; readonly word: string; readonly failure: string };

/**
 * Says whether NetworkPolicies let one end talk to another, on both sides. Where an end is a workload, Pods that policies
 * see alike are one.
 *
 * @param words from, to and port
 * @throws {ConfigError} with what is wrong with the words
 */
export async function explain(input: Input, words: readonly string[], run: RunOptions): Promise<Explanation> {
  const { from, to, port } = parseWords(words);
  const { options, local, log } = input;
  const inTime = { ...run, timeoutMs: options.timeoutMs };
  const services = await readInTime((running) => localServiceRanges(local, { ...running, log }), inTime);
  const clusters = clustersOf(input, services.ok ? services.value : []);
  const [source, destination] = await Promise.all([read(from, clusters, input, run), read(to, clusters, input, run)]);
  const key = options.clusterSetKey;
  const flows = source.flatMap((a) => destination.map((b) => explainFlow(a, b, { port, key })));
  const involved = new Map(
    [...source, ...destination].flatMap((end) => (end.kind === 'address' ? [] : [[end.at.name, end.at]])),
  );
  const otherPolicies = await Promise.all(
    Array.from(involved.values(), async ({ name, client }) => ({
      cluster: name,
      groups: await otherGroups(client, input, run),
    })),
  );
  return { flows, otherPolicies: otherPolicies.filter(({ groups }) => groups.length > 0) };
}

/** 0: allowed; 1: some flow is denied; 3: none is, but some is unknown. */
export function explainExitCode({ flows }: Explanation): 0 | 1 | 3 {
  if (flows.some(({ verdict }) => verdict === 'denied')) return 1;
  return flows.every(({ verdict }) => verdict === 'allowed') ? 0 : 3;
}

function parseWords([from = '', to = '', port = '']: readonly string[]) {
  const parsed = { from: parseFlowEnd(from), to: parseFlowEnd(to), port: parseFlowPort(port) };
  const problems = Object.values(parsed).flatMap((each) => (each.ok ? [] : [each.reason]));
  if (!parsed.from.ok || !parsed.to.ok || !parsed.port.ok) throw new ConfigError(problems);
  return { from: parsed.from.value, to: parsed.to.value, port: parsed.port.value };
}

/** By name; the local one first. */
function clustersOf({ settings, options, local, remotes }: Input, services: readonly Cidr[]): readonly Cluster[] {
  const { localClusterName } = options;
  const name = localClusterName ?? 'local';
  const here = { name, client: local, id: localClusterName, labels: {}, refusalOf: () => undefined };
  const others = settings.remotes.map(({ clusterSetId, allowedPodCidrs, ...remote }, i) => ({
    name: remote.name,
    labels: remote.labels,
    client: remotes[i]!,
    id: clusterSetId,
    refusalOf: (ip: string) =>
      addressRefusal(ip, { allowed: allowedPodCidrs, local: settings.localCidrs, services })?.detail,
  }));
  return [here, ...others];
}

async function read(
  word: FlowWord,
  clusters: readonly Cluster[],
  { options }: Input,
  { signal }: RunOptions,
): Promise<readonly End[]> {
  if (word.kind === 'address') return [word];
  const cluster = word.cluster === undefined ? clusters[0] : clusters.find(({ name }) => name === word.cluster);
  if (cluster === undefined)
    throw new ConfigError(`${word.cluster} is not a remote in the config, nor -local-cluster-name`);
  const { client } = cluster;
  const { namespace } = word;
  const inTime = { signal, timeoutMs: options.timeoutMs };
  const [pods, policies] = await Promise.all([
    readInTime((run) => listOwnedPods(client, { ...run, namespace }), inTime),
    readInTime((run) => listPoliciesIn(client, { ...run, namespace, sink: sinkOf(options) }), inTime),
  ]);
  const at = { ...cluster, pods, policies };
  const name = `${cluster.name}/${namespace}/${word.kind}/${word.name}`;
  if (!pods.ok) return [{ kind: 'unknown', at, word: name, failure: pods.failure ?? 'no answer' }];
  const labels = pods.value.namespaces.find(({ metadata }) => metadata.name === namespace)?.metadata.labels;
  const found = pods.value.pods.filter((pod) => isMeant(pod, word));
  if (found.length === 0 || labels === undefined)
    return [{ kind: 'unknown', at, word: name, failure: 'there is no such Pod' }];
  const ends = found.map((pod) => ({
    kind: 'pod' as const,
    at,
    pod: flowPodOf(pod, labels),
    ips: pod.status.podIPs.map(({ ip }) => ip),
  }));
  return [
    ...new Map(ends.toReversed().map((end) => [JSON.stringify({ ...end.pod, name: '' }), end])).values(),
  ].toReversed();
}

function isMeant({ metadata: { name, ownerReferences }, status }: PodWithOwners, word: WorkloadWord): boolean {
  if (word.kind === 'pod') return name === word.name;
  if (isFinished(status)) return false;
  if (word.kind === 'namespace') return true;
  const owner = OWNERS[word.kind];
  const workloadOf = word.kind === 'deployment' ? ofReplicaSet : (replicas: string): string => replicas;
  return ownerReferences.some((each) => each.kind === owner && workloadOf(each.name) === word.name);
}

const OWNERS = { deployment: 'ReplicaSet', statefulset: 'StatefulSet', daemonset: 'DaemonSet' } as const;

/** A ReplicaSet has the name of its Deployment, and a hash. */
const ofReplicaSet = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('-')));

type Context = { readonly port: FlowPort; readonly key: string };

function explainFlow(from: End, to: End, context: Context): ExplainedFlow {
  const [source, destination] = addressesOf(from, to);
  const sides = [
    ...sideOf('egress', from, peerOf(to, from, destination, context), context),
    ...sideOf('ingress', to, peerOf(from, to, source, context), context),
  ];
  const isDenied = sides.some((side) => side.known && !side.allowed);
  const isKnown = sides.every(({ known }) => known);
  return {
    from: nameOf(from, source),
    to: nameOf(to, destination),
    port: `${context.port.port}/${context.port.protocol}`,
    sides,
    verdict: isDenied ? 'denied' : isKnown ? 'allowed' : 'unknown',
  };
}

function nameOf(end: End, ip: string | undefined): string {
  if (end.kind === 'address') return end.ip;
  if (end.kind === 'unknown') return end.word;
  return `${end.at.name}/${end.pod.namespace}/${end.pod.name} ${ip ?? 'without an address'}`;
}

/** Of one family, if both have one. */
function addressesOf(from: End, to: End): readonly [string | undefined, string | undefined] {
  const [sources, destinations] = [ipsOf(from), ipsOf(to)];
  for (const source of sources) {
    const destination = destinations.find((ip) => ip.includes(':') === source.includes(':'));
    if (destination !== undefined) return [source, destination];
  }
  return [sources[0], destinations[0]];
}

function ipsOf(end: End): readonly string[] {
  if (end.kind === 'unknown') return [];
  return end.kind === 'address' ? [end.ip] : end.ips;
}

/** An end, as policies of the cluster of the other one see it; undefined: it is not known. */
function peerOf(end: End, subject: End, ip: string | undefined, { key }: Context): FlowPeer | undefined {
  if (end.kind === 'unknown') return undefined;
  if (end.kind === 'address') return { ip, pod: undefined, remote: undefined };
  const { at, pod } = end;
  if (subject.kind !== 'address' && subject.at.name === at.name) return { ip, pod, remote: undefined };
  const { name, id, labels } = at;
  const refusal = ip === undefined ? undefined : at.refusalOf(ip);
  return remotePeer(pod, { ip, remote: { name, id, labels, refusal }, key });
}

/** None of an address that is no known Pod. */
function sideOf(direction: Direction, subject: End, peer: FlowPeer | undefined, context: Context): readonly Side[] {
  if (subject.kind === 'address') return [];
  const side = { direction, cluster: subject.at.name };
  if (subject.kind === 'unknown') return [{ ...side, known: false, failure: subject.failure }];
  const { policies } = subject.at;
  if (!policies.ok) return [{ ...side, known: false, failure: policies.failure ?? 'no answer' }];
  if (peer === undefined) return [{ ...side, known: false, failure: 'the other end is not known' }];
  const verdict = sideVerdict({ direction, subject: subject.pod, peer, policies: policies.value, ...context });
  return [{ ...side, known: true, ...verdict }];
}

/** API groups with policies that `explain` doesn't consider. */
const OTHER_POLICIES = [
  'cilium.io',
  'crd.antrea.io',
  'crd.projectcalico.org',
  'policy.networking.k8s.io',
  'projectcalico.org',
];

async function otherGroups(client: KubeClient, { options: { timeoutMs } }: Input, { signal }: RunOptions) {
  const reading = await readInTime((run) => servedGroups(client, run), { signal, timeoutMs });
  return OTHER_POLICIES.filter((group) => reading.ok && reading.value.has(group));
}
