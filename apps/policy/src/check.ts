import type { RunOptions } from '@kube-semaphore/kube-client';
import { localServiceRanges, notReached } from '@kube-semaphore/multicluster';
import { jsonPage, pageOf, printable } from '@kube-semaphore/text';
import type { ClusterIds } from './desired/network-policies/cross-cluster-rules.ts';
import { type Check, checkOf, type RuleCheck } from './desired/network-policies/check.ts';
import type { PolicyInput } from './policy.ts';
import { listPods, listPolicies, readInTime } from './remote/snapshot.ts';

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

/** The cluster label and its values, from the config. */
const clusterIdsOf = ({ options, settings }: Pick<PolicyInput, 'options' | 'settings'>): ClusterIds => ({
  key: options.clusterSetKey,
  remotes: new Set(settings.remotes.map(({ clusterSetId }) => clusterSetId)),
  local: options.localClusterName,
});

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
  const [here, ...readings] = await Promise.all([
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
      addresses: { allowed: remote.allowedPodCidrs, local: settings.localCidrs, services },
      objects: reading.ok ? reading.value : undefined,
    };
  });
  const { maxAddressesPerPolicy, maxAddressesPerSource } = options;
  const ids = clusterIdsOf(input);
  return {
    ...checkOf({ ...objects, ids, remotes, maxAddressesPerPolicy, maxAddressesPerSource }),
    key: ids.key,
    remotes: settings.remotes.map(({ name }, i) => {
      const reading = readings[i]!;
      return { cluster: name, reached: reading.ok, failure: reading.ok ? undefined : reading.failure };
    }),
  };
}

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

/** For programs: one JSON object, and a line break. */
export const checkJson = (report: CheckReport): string => jsonPage(report);

function ruleLines({ networkPolicy, direction, ports, isOpen, remotes }: RuleCheck): readonly string[] {
  const rule = `${printable(networkPolicy)}: ${direction} ${ports === '' ? 'on all ports' : `on ${printable(ports)}`}`;
  const side = direction === 'ingress' ? 'from' : 'to';
  return [
    ...remotes.map(({ cluster, pods }) =>
      pods === undefined
        ? `unknown  ${rule} ${side} ${cluster}: it was not reached`
        : `allow    ${rule} ${side} ${cluster}: ${some(pods, 'Pod')}`,
    ),
    ...(isOpen ? [`open     ${rule} ${side} every remote that is added later`] : []),
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
