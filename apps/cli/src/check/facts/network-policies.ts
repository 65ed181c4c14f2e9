import {
  type Namespace,
  namespaceKind,
  type NetworkPolicy,
  networkPolicyKind,
  type PodWithPorts,
  podWithPortsKind,
} from '@kube-semaphore/kube-objects';
import type { AddressRules, Cidr } from '@kube-semaphore/net';
import {
  type Check as Meaning,
  checkOf,
  type ClusterIds,
  clusterSetLabel,
  type Labels,
  notExtended,
  type Sink,
  sinkNames,
  sinkOf,
} from '@kube-semaphore/network-policies';
import { options as policyOptions } from '@kube-semaphore/policy/options';
import type { AppStatus } from '../../clusters/app-status.ts';
import { type NamedClusterPolicy, readClusterPolicies } from '../../clusters/cluster-policies.ts';
import type { Context } from '../../clusters/contexts.ts';
import { allOf, listObjects, type Read, type Run, withGroups } from '../../clusters/objects.ts';
import { type ClusterReport, ownNames, readCluster, readPods } from '../../clusters/report.ts';
import { readServiceRanges } from '../../clusters/services.ts';
import { rangesIn } from '../../masquerade/masquerader.ts';

/** What the NetworkPolicies of a cluster mean that name others, whether semaphore-policy extends them or not. */
export type PolicyMeaning = Meaning & {
  /** Of the label that names clusters. */
  readonly key: string;
  /** Why the Pods of a remote aren't known, by its name. */
  readonly unread: ReadonlyMap<string, string>;
};

/** What is known of a cluster. */
export type MeaningReading = ClusterReport & { readonly meaning: Read<PolicyMeaning> };

/** Reads the NetworkPolicies, Namespaces and Pods of all clusters. Rejects only when the signal is aborted. */
export async function readMeanings(contexts: readonly Context[], run: Run): Promise<readonly MeaningReading[]> {
  const reports = await Promise.all(contexts.map((context) => readCluster(context, run)));
  const configs = reports.map((report) => configOf(report, reports));
  const objects = await Promise.all(
    contexts.map(
      async (context) => [context.name, await readObjects(context, selectorsFor(context, configs), run)] as const,
    ),
  );
  const found = new Map(objects);
  const nowMs = Date.now();
  return reports.map((report, i) => {
    const config = configs[i]!;
    return { ...report, meaning: config.known ? meaningOf(report.cluster, config.value, { found, nowMs }) : config };
  });
}

/** A remote, as the config of semaphore-policy has it. */
type Remote = {
  readonly name: string;
  /** Its value of the cluster label. */
  readonly id: string;
  readonly labels: Labels;
  readonly families: AddressRules['families'];
  readonly allowed: readonly Cidr[] | undefined;
  /** Its context; undefined: it is not one of the given ones. */
  readonly cluster: string | undefined;
};

/** The config of semaphore-policy in a cluster. */
type Config = {
  readonly ids: ClusterIds;
  readonly remotes: readonly Remote[];
  readonly localCidrs: readonly Cidr[];
  /** Undefined: NetworkPolicies can select every Pod of a remote. */
  readonly remotePodSelector: string | undefined;
  readonly sink: Sink;
  readonly maxAddressesPerPolicy: number;
  readonly maxAddressesPerSource: number;
};

/** As its Pods report: there may be a process for each remote. Without any, all given clusters are remotes. */
function configOf(report: ClusterReport, all: readonly ClusterReport[]): Read<Config> {
  if (report.failure !== undefined) return { known: false, why: report.failure };
  const pods = report.pods.filter(({ app }) => app === 'semaphore-policy');
  const statuses = readPods([{ ...report, pods }]).map(({ status }) => status);
  if (pods.length > 0 && statuses.length === 0)
    return { known: false, why: `${report.cluster}: semaphore-policy does not report its config` };
  const others = all.filter((each) => each !== report);
  const remotes = statuses.length === 0 ? others.map(expectedRemote) : remotesIn(statuses, others);
  const config: AppStatus['config'] = statuses[0]?.config ?? {};
  const [expectedName] = statuses.length === 0 ? namesOf(report) : ownNames(report);
  return {
    known: true,
    value: {
      ids: {
        key: config.clusterSetKey ?? clusterSetLabel,
        remotes: new Set(remotes.map(({ id }) => id)),
        local: config.name ?? expectedName,
      },
      remotes,
      localCidrs: rangesIn(config.localCIDRs ?? []),
      remotePodSelector: config.remotePodSelector ?? undefined,
      sink: sinkNamed(config.networkPolicySink),
      maxAddressesPerPolicy: config.maxAddressesPerPolicy ?? policyOptions.maxAddressesPerPolicy.fallback!,
      maxAddressesPerSource: config.maxAddressesPerSource ?? policyOptions.maxAddressesPerSource.fallback!,
    },
  };
}

/** How others may call a cluster. */
const namesOf = (report: ClusterReport): readonly string[] => [...ownNames(report), report.cluster];

function expectedRemote(report: ClusterReport): Remote {
  const [name = report.cluster] = namesOf(report);
  return { name, id: name, labels: {}, families: undefined, allowed: undefined, cluster: report.cluster };
}

function remotesIn(statuses: readonly AppStatus[], others: readonly ClusterReport[]): readonly Remote[] {
  const all = new Map(
    statuses.flatMap(({ remotes }) => remotes.map((remote) => [remote.name, remote.config] as const)),
  );
  return Array.from(all, ([name, { clusterSetID: id = name, labels = {}, families, allowedPodCIDRs }]) => ({
    name,
    id,
    labels,
    families: families ?? undefined,
    allowed: allowedPodCIDRs ? rangesIn(allowedPodCIDRs) : undefined,
    cluster: others.find((other) => namesOf(other).includes(name))?.cluster,
  }));
}

/** Of a sink, only what it accepts counts, which is the same in all APIs of Calico. */
const sinkNamed = (text: string | undefined): Sink =>
  sinkOf({
    networkPolicySink: sinkNames.find((name) => name === text) ?? 'networkpolicy',
    calicoApi: 'crd.projectcalico.org/v1',
  });

/** By which selectors other clusters see the Pods of one; empty is all Pods. */
const selectorsFor = ({ name }: Context, configs: readonly Read<Config>[]): ReadonlySet<string> =>
  new Set(
    configs.flatMap((config) =>
      config.known && config.value.remotes.some(({ cluster }) => cluster === name)
        ? [config.value.remotePodSelector ?? '']
        : [],
    ),
  );

/** What a cluster has of what decides. */
type Objects = {
  readonly namespaces: Read<readonly Namespace[]>;
  readonly policies: Read<readonly NetworkPolicy[]>;
  readonly clusterPolicies: Read<readonly NamedClusterPolicy[]>;
  readonly serviceRanges: readonly Cidr[];
  /** By selector. */
  readonly pods: ReadonlyMap<string, Read<readonly PodWithPorts[]>>;
};

async function readObjects(context: Context, selectors: ReadonlySet<string>, run: Run): Promise<Objects> {
  const ofGroups = withGroups(context, run);
  const [namespaces, policies, clusterPolicies, serviceRanges, ...pods] = await Promise.all([
    listObjects(context, namespaceKind, {}, run),
    listObjects(context, networkPolicyKind, {}, run),
    ofGroups((groups) => readClusterPolicies(context, groups, run)),
    readServiceRanges(context, run),
    // The API server reads the selector, as for the watch of semaphore-policy.
    ...Array.from(selectors, async (labelSelector) => {
      const selection = labelSelector === '' ? {} : { labelSelector };
      return [labelSelector, await listObjects(context, podWithPortsKind, selection, run)] as const;
    }),
  ]);
  return { namespaces, policies, clusterPolicies, serviceRanges, pods: new Map(pods) };
}

type Found = { readonly found: ReadonlyMap<string, Objects>; readonly nowMs: number };

function meaningOf(cluster: string, config: Config, { found, nowMs }: Found): Read<PolicyMeaning> {
  const { policies, namespaces, clusterPolicies, serviceRanges: services } = found.get(cluster)!;
  const read = allOf({ policies, namespaces });
  if (!read.known) return read;
  const { ids, localCidrs: local, remotePodSelector, ...limits } = config;
  const remotes = config.remotes.map(({ families, allowed, cluster: of, ...remote }) => ({
    ...remote,
    addresses: { families, allowed, local, services },
    pods: podsOf(of === undefined ? undefined : found.get(of), remotePodSelector),
  }));
  const meaning = checkOf({
    ...read.value,
    ...limits,
    ids,
    remotes: remotes.map(({ pods, ...remote }) => ({ ...remote, objects: pods.known ? pods.value : undefined })),
    isLabelledOnly: remotePodSelector !== undefined,
    nowMs,
  });
  const unread = remotes.flatMap(({ name, pods }) => (pods.known ? [] : [[name, pods.why] as const]));
  return {
    known: true,
    value: {
      ...meaning,
      diagnostics: [...meaning.diagnostics, ...diagnosticsOf(clusterPolicies, ids.key)],
      key: ids.key,
      unread: new Map(unread),
    },
  };
}

const podsOf = (remote: Objects | undefined, selector = '') =>
  remote === undefined
    ? ({ known: false, why: 'its --context is not given' } as const)
    : allOf({ namespaces: remote.namespaces, pods: remote.pods.get(selector)! });

function diagnosticsOf(policies: Objects['clusterPolicies'], key: string): Meaning['diagnostics'] {
  if (policies.known) return notExtended(policies.value, key);
  const detail = `whether they name ${key} is unknown: ${policies.why}`;
  return [{ kind: 'expected', reason: 'not-read', subject: 'policies for the whole cluster', detail }];
}
