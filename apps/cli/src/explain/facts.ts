import type {
  EndpointSlice,
  Namespace,
  NetworkPolicy,
  PodOnNode,
  Service,
  ServiceImport,
} from '@kube-semaphore/kube-objects';
import type { Loss } from '@kube-semaphore/network-policies';
import { type Cidr, contains, parseCidr } from '@kube-semaphore/net';
import type { AppStatus, RemoteStatus } from '../clusters/app-status.ts';
import type { CalicoObjects } from '../clusters/calico.ts';
import type { NamedClusterPolicy } from '../clusters/cluster-policies.ts';
import type { Read } from '../clusters/objects.ts';
import type { DnsConfig } from '../dns/config.ts';
import type { Masqueraders } from '../masquerade/masqueraders.ts';
import { shell } from '../output/shell.ts';
import { type App, type AppPod, type ClusterReport, ownNames } from '../clusters/report.ts';
import type { Destination, End } from './words.ts';

/** The namespace of one end, and the apps of its cluster. */
export type SideFacts = {
  /** The context. */
  readonly cluster: string;
  readonly report: ClusterReport;
  readonly namespace: Read<Namespace | undefined>;
  readonly pods: Read<readonly PodOnNode[]>;
  /** Of these, what policies of the other cluster can select, by its `-remote-pod-selector`; undefined: all. */
  readonly selectable: Read<Selectable | undefined>;
  /** What the late ones of them lost to others, by `namespace/name`. */
  readonly late: ReadonlyMap<string, Read<Loss>>;
  readonly policies: Read<readonly NetworkPolicy[]>;
  readonly calico: Read<CalicoObjects>;
  readonly clusterPolicies: Read<readonly NamedClusterPolicy[]>;
  /** As `readServiceRanges`. */
  readonly serviceRanges: readonly Cidr[];
  readonly masqueraders: Masqueraders;
};

/** The names of Pods that match a selector. */
export type Selectable = { readonly selector: string; readonly pods: ReadonlySet<string> };

/** All that was read. */
export type Facts = {
  readonly from: End;
  readonly to: Destination;
  readonly here: SideFacts;
  readonly there: SideFacts;
  /** What decides how names resolve here. */
  readonly dnsConfig: Read<DnsConfig>;
  /** Mirrors and global Services here. */
  readonly services: Read<readonly Service[]>;
  /** The ServiceImport here with the namespace and name of the destination. */
  readonly serviceImport: Read<ServiceImport | undefined>;
  /** The slices here of what `viaOf` finds. */
  readonly slices: Read<readonly EndpointSlice[]>;
  /** The Service there, and its slices. */
  readonly source: Read<{ readonly service: Service | undefined; readonly slices: readonly EndpointSlice[] }>;
  /** Undefined: not asked for. */
  readonly probed?: Probed;
};

/** What came of a connection to an address. @see Outcome */
export type Answer = { readonly url: string; readonly failure: string | null };

/** What a Pod of ours in the cluster of the caller found; `service`: undefined if the Service has no address there. */
export type Probed = Read<{ readonly pod: Answer; readonly service: Answer | undefined }>;

/** One step of a packet, and what was found. `warning`: it may be wrong. `skipped`: packets don't take it. */
export type Hop = {
  readonly name: string;
  readonly result: 'ok' | 'warning' | 'wrong' | 'unknown' | 'skipped';
  readonly detail: string;
  /** If it is wrong or a warning: a command that mends it, or finds the cause. */
  readonly fix?: string;
};

export type HopResult = Omit<Hop, 'name'>;

export const ok = (detail: string): HopResult => ({ result: 'ok', detail });
export const warning = (detail: string, fix: string): HopResult => ({ result: 'warning', detail, fix });
export const wrong = (detail: string, fix: string): HopResult => ({ result: 'wrong', detail, fix });
export const unknown = (detail: string): HopResult => ({ result: 'unknown', detail });
export const skipped = (detail: string): HopResult => ({ result: 'skipped', detail });

/** The Pods of an app that report their status. */
export function statusesOf({ report }: Pick<SideFacts, 'report'>, app: App): readonly AppStatus[] {
  return report.pods.flatMap(({ app: of, status }) => (of === app && !('failure' in status) ? [status] : []));
}

/** How others may call a cluster: as its own apps do, else as its context. */
export function namesOf({ cluster, report }: Pick<SideFacts, 'cluster' | 'report'>): readonly string[] {
  const own = ownNames(report);
  return own.length === 0 ? [cluster] : own;
}

/** What a Pod of an app says of another cluster; undefined: that is not in its config. */
export function remoteOf(
  { remotes }: AppStatus,
  other: Pick<SideFacts, 'cluster' | 'report'>,
): RemoteStatus | undefined {
  const names = namesOf(other);
  return remotes.find(({ name }) => names.includes(name)) ?? remotes.find(({ name }) => name === other.cluster);
}

/** @param net a CIDR, or one address */
export function isIn(net: string, ip: string): boolean {
  const cidr = parseCidr(net.includes('/') ? net : `${net}/${ip.includes(':') ? 128 : 32}`);
  return cidr.ok && contains(cidr.value, ip);
}

export const kubectl = (cluster: string, ...words: readonly string[]): string =>
  shell('kubectl', '--context', cluster, ...words);

const semaphoreOn = (command: string, clusters: readonly string[]): readonly string[] => [
  'semaphore',
  command,
  ...clusters.flatMap((cluster) => ['--context', cluster]),
];

export const semaphoreCheck = (...clusters: readonly string[]): string => shell(...semaphoreOn('check', clusters));

export const semaphoreTest = (...clusters: readonly string[]): string => shell(...semaphoreOn('test', clusters));

/** Lets the NetworkPolicies of all clusters name the others. Only the user knows the folder. */
export const linkNetworkPolicies = (...clusters: readonly string[]): string =>
  `${shell(...semaphoreOn('link', clusters), '--network-policies', '--apply')} -o FOLDER  # the folder of your first link`;

/** The same question again, with a probe. */
export const explainAgain = (...words: readonly string[]): string => shell('semaphore', 'explain', ...words, '--probe');

/** What a Pod of semaphore-policy says about skipped objects. */
export const policyPlan = (cluster: string, { namespace, name }: Pick<AppPod, 'namespace' | 'name'>): string =>
  kubectl(cluster, '-n', namespace, 'exec', name, '--', '/semaphore-policy', 'plan');

/** What service-mirror of a cluster says about skipped objects. */
export const mirrorPlan = (cluster: string): string => {
  const app = 'semaphore-service-mirror';
  return kubectl(cluster, '-n', 'sys-semaphore', 'exec', `deployment/${app}`, '--', `/${app}`, 'plan');
};
