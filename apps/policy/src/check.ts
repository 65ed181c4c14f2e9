import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { calicoPolicyKind, Codec, globalNetworkSetKind, podWithPortsKind } from '@kube-semaphore/kube-objects';
import { listAll, localServiceRanges, notReached } from '@kube-semaphore/multicluster';
import { pageOf, printable } from '@kube-semaphore/text';
import type { PolicyOptions } from './config/options.ts';
import { clusterIdsOf, type Settings } from './config/settings.ts';
import {
  accidentalRules,
  asSelectingPolicies,
  type Check,
  checkOf,
  companionLabel,
  companionPeerLabel,
  labelDomains,
  MANAGER,
  notExtended,
  openTexts,
  type RuleCheck,
  ruleTitle,
  type SelectingPolicy,
  selectingPolicy,
  sinkOf,
  type StringMap,
} from '@kube-semaphore/network-policies';
import { readOwner } from './desired/labels.ts';
import { observedSet } from './desired/sets/network-set.ts';
import { servedGroups } from './local/api-groups.ts';
import { calicoApiOf } from './local/calico-api.ts';
import { listClusterPolicies } from './local/cluster-policies.ts';
import type { PolicyInput } from './policy.ts';
import { listPods, listPolicies, type Reading, readInTime } from './remote/snapshot.ts';

/** What `check` found, and which remotes it is about. */
export type CheckReport = Check & {
  readonly key: string;
  readonly remotes: readonly {
    readonly cluster: string;
    readonly reached: boolean;
    /** Why it was not reached, in words; undefined: it was, or it gave no answer. */
    readonly failure: string | undefined;
  }[];
};

/**
 * Checks the NetworkPolicies that name other clusters, whether `-network-policies` is on or not.
 *
 * @throws Error if the local cluster can't be read
 */
export async function check(input: Omit<PolicyInput, 'leadership'>, { signal }: RunOptions): Promise<CheckReport> {
  const { options, settings, local, remotes: clients, log } = input;
  const { timeoutMs, remotePodSelector } = options;
  const inTime = { signal, timeoutMs };
  const selection = remotePodSelector === undefined ? {} : { labelSelector: remotePodSelector };
  const [calico, cluster, mesh, here, ...readings] = await Promise.all([
    readInTime((run) => calicoObjects(local, options, run), inTime),
    readInTime((run) => listClusterPolicies(local, run), inTime),
    readInTime((run) => isInClusterMesh(local, run), inTime),
    readInTime(
      async (run) => ({
        ...(await listPolicies(local, run)),
        services: await localServiceRanges(local, { ...run, log }),
      }),
      inTime,
    ),
    ...clients.map((client) => readInTime((run) => listPods(client, { ...run, ...selection }), inTime)),
  ]);
  if (!here.ok) throw new Error(`the local cluster is not reached: ${here.failure ?? 'no answer'}`);
  const { services, ...objects } = here.value;
  const remotes = settings.remotes.map((remote, i) => {
    const reading = readings[i]!;
    return {
      name: remote.name,
      id: remote.clusterSetId,
      labels: remote.labels,
      addresses: { allowed: remote.allowedPodCidrs, local: settings.localCidrs, services },
      objects: reading.ok ? reading.value : undefined,
    };
  });
  const { maxAddressesPerPolicy, maxAddressesPerSource } = options;
  const ids = clusterIdsOf(options, settings.remotes);
  const found = checkOf({
    ...objects,
    ids,
    remotes,
    isLabelledOnly: remotePodSelector !== undefined,
    nowMs: Date.now(),
    sink: sinkOf(options),
    maxAddressesPerPolicy,
    maxAddressesPerSource,
  });
  const ofCluster = cluster.ok ? cluster.value : [];
  const { policies, sets } = calico.ok ? calico.value : { policies: [], sets: [] };
  return {
    ...found,
    diagnostics: [
      ...found.diagnostics,
      ...notExtended(ofCluster, ids.key),
      ...accidental([...policies.map(selectingPolicy), ...asSelectingPolicies(ofCluster)], sets, options, settings),
      ...(calico.ok ? [] : [unread('policies of Calico', calico.failure)]),
      ...(cluster.ok ? [] : [unread('ClusterNetworkPolicies', cluster.failure)]),
      ...clusterMesh(mesh),
    ],
    key: ids.key,
    remotes: settings.remotes.map(({ name }, i) => {
      const reading = readings[i]!;
      return { cluster: name, reached: reading.ok, failure: reading.ok ? undefined : reading.failure };
    }),
  };
}

/** The policies and sets of Calico, if the cluster has its API. */
async function calicoObjects(client: KubeClient, { calicoApi }: PolicyOptions, { signal }: RunOptions) {
  const onFailure = (error: unknown): never => {
    throw error;
  };
  const api = await calicoApiOf(calicoApi, client, { signal, onFailure, isOptional: true });
  if (api === undefined) return { policies: [], sets: [] };
  const [sets, ...policies] = await Promise.all([
    listAll(client, new Codec(globalNetworkSetKind(api)), { signal }),
    listAll(client, new Codec(calicoPolicyKind(api, 'GlobalNetworkPolicy')), { signal }),
    listAll(client, new Codec(calicoPolicyKind(api, 'NetworkPolicy')), { signal }),
  ]);
  return { policies: policies.flat(), sets: sets.map((set) => observedSet(set).labels) };
}

/** By the Pods of Cilium's `clustermesh-apiserver`. */
async function isInClusterMesh(client: KubeClient, run: RunOptions): Promise<boolean> {
  if (!(await servedGroups(client, run)).has('cilium.io')) return false;
  const pods = await listAll(client, podCodec, { ...run, labelSelector: 'k8s-app=clustermesh-apiserver' });
  return pods.length > 0;
}

const podCodec = new Codec(podWithPortsKind);

function clusterMesh(mesh: Reading<boolean>) {
  const subject = 'Cilium ClusterMesh';
  if (!mesh.ok)
    return [
      {
        kind: 'expected',
        reason: 'not-read',
        subject,
        detail: `whether it is here is not known: ${mesh.failure ?? 'no answer'}`,
      } as const,
    ];
  const detail =
    'it is here, too: Cilium does not compare addresses with Pods that it knows, so no companion lets in Pods of its clusters';
  return mesh.value ? [{ kind: 'expected', reason: 'cluster-mesh', subject, detail } as const] : [];
}

/** @param sets labels of each set of the cluster; those of companions are ours, too */
function accidental(
  policies: readonly SelectingPolicy[],
  sets: readonly StringMap[],
  { networkPolicySink }: PolicyOptions,
  { remotes }: Settings,
) {
  const names = new Set(remotes.map(({ name }) => name));
  const isGroup = (labels: StringMap): boolean => labels[companionLabel] === MANAGER;
  const ours = sets.filter((labels) => names.has(readOwner(labels, labelDomains)?.cluster ?? '') || isGroup(labels));
  // The first group comes with a later NetworkPolicy, whose author may not know Calico's policies.
  const examples = networkPolicySink === 'calico' && !ours.some(isGroup) ? [GROUP_LABELS] : [];
  return [...accidentalRules(policies, ours), ...accidentalRules(policies, examples, { areExamples: true })].map(
    (rule) => ({ kind: 'problem', reason: 'selects-sets', ...rule }) as const,
  );
}

const GROUP_LABELS = { [companionLabel]: MANAGER, [companionPeerLabel]: 'example' };

const unread = (subject: string, failure: string | undefined) =>
  ({
    kind: 'expected',
    reason: 'not-read',
    subject,
    detail: `they were not read, so whether they select our sets is unknown: ${failure ?? 'no answer'}`,
  }) as const;

/** 0, or 1 if something is wrong or a remote wasn't reached. */
export const checkExitCode = ({ diagnostics, remotes }: CheckReport): 0 | 1 =>
  remotes.every(({ reached }) => reached) && diagnostics.every(({ kind }) => kind !== 'problem') ? 0 : 1;

/** For people. Ends in a line break. */
export function checkText({ key, rules, diagnostics, unlabelled, remotes }: CheckReport): string {
  return pageOf([
    ...(rules.length === 0 ? ['No NetworkPolicy reaches another cluster.'] : rules.flatMap(ruleLines)),
    ...diagnostics.map(({ kind, subject, detail }) => {
      return `${kind === 'problem' ? 'problem ' : 'note    '} ${printable(subject)}: ${printable(detail)}`;
    }),
    ...(unlabelled.length === 0 ? [] : [`note     ${some(unlabelled, 'local namespace')} without the label ${key}`]),
    ...remotes.flatMap(({ cluster, reached, failure }) => (reached ? [] : [notReached(cluster, failure)])),
  ]);
}

function ruleLines(rule: RuleCheck): readonly string[] {
  const title = printable(ruleTitle(rule));
  return [
    ...rule.remotes.map(({ cluster, pods }) =>
      pods === undefined
        ? `unknown  ${title} ${cluster}: it was not reached`
        : `allow    ${title} ${cluster}: ${some(pods, 'Pod')}`,
    ),
    ...openTexts(rule).map((text) => `open     ${printable(text)}`),
  ];
}

/** A terminal has room for so many. */
const MOST_NAMES = 10;

function some(names: readonly string[], what: string): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => printable(name));
  const more = names.length > shown.length ? [`and ${names.length - shown.length} more`] : [];
  return [
    `${names.length} ${what}${names.length === 1 ? '' : 's'}${names.length === 0 ? '' : ':'}`,
    ...shown,
    ...more,
  ].join(' ');
}
