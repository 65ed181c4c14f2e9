import type {
  EndpointSlice,
  Namespace,
  NetworkPolicy,
  PodOnNode,
  Service,
  ServiceImport,
} from '@kube-semaphore/kube-objects';
import type { Loss } from '@kube-semaphore/network-policies';
import { contains, parseCidr } from '@kube-semaphore/net';
import type { AppStatus, RemoteStatus } from '../clusters/app-status.ts';
import type { CalicoObjects } from '../clusters/calico.ts';
import type { NamedClusterPolicy } from '../clusters/cluster-policies.ts';
import type { Read } from '../clusters/objects.ts';
import type { Masqueraders } from '../masquerade/masqueraders.ts';
import { type App, type ClusterReport, ownNames } from '../clusters/report.ts';
import type { Destination, End } from './words.ts';

/** The namespace of one end, and the apps of its cluster. */
export type SideFacts = {
  /** The context. */
  readonly cluster: string;
  readonly report: ClusterReport;
  readonly namespace: Read<Namespace | undefined>;
  readonly pods: Read<readonly PodOnNode[]>;
  /** What the late ones of them lost to others, by `namespace/name`. */
  readonly late: ReadonlyMap<string, Read<Loss>>;
  readonly policies: Read<readonly NetworkPolicy[]>;
  readonly calico: Read<CalicoObjects>;
  readonly clusterPolicies: Read<readonly NamedClusterPolicy[]>;
  readonly masqueraders: Masqueraders;
};

/** All that was read. */
export type Facts = {
  readonly from: End;
  readonly to: Destination;
  readonly here: SideFacts;
  readonly there: SideFacts;
  /** Of CoreDNS here. */
  readonly corefile: Read<string | undefined>;
  /** Mirrors and global Services here. */
  readonly services: Read<readonly Service[]>;
  /** The ServiceImport here with the namespace and name of the destination. */
  readonly serviceImport: Read<ServiceImport | undefined>;
  /** The slices here of what `viaOf` finds. */
  readonly slices: Read<readonly EndpointSlice[]>;
  /** The Service there, and its slices. */
  readonly source: Read<{ readonly service: Service | undefined; readonly slices: readonly EndpointSlice[] }>;
};

/** One step of a packet, and what was found. `skipped`: packets don't take it. */
export type Hop = {
  readonly name: string;
  readonly result: 'ok' | 'wrong' | 'unknown' | 'skipped';
  readonly detail: string;
  /** If it is wrong: a command that mends it, or finds the cause. */
  readonly fix?: string;
};

export type Verdict = Omit<Hop, 'name'>;

export const ok = (detail: string): Verdict => ({ result: 'ok', detail });
export const wrong = (detail: string, fix: string): Verdict => ({ result: 'wrong', detail, fix });
export const unknown = (detail: string): Verdict => ({ result: 'unknown', detail });
export const skipped = (detail: string): Verdict => ({ result: 'skipped', detail });

/** The Pods of an app that tell their status. */
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

/** A command to copy. Names of another cluster may be anything, so they are quoted. */
const shell = (...words: readonly string[]): string => words.map(shellWord).join(' ');

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

export const kubectl = (cluster: string, ...words: readonly string[]): string =>
  shell('kubectl', '--context', cluster, ...words);

export const semaphoreCheck = (...clusters: readonly string[]): string =>
  shell('semaphore', 'check', ...clusters.flatMap((cluster) => ['--context', cluster]));

/** What service-mirror of a cluster says about skipped objects. */
export const mirrorPlan = (cluster: string): string => {
  const app = 'semaphore-service-mirror';
  return kubectl(cluster, '-n', 'sys-semaphore', 'exec', `deployment/${app}`, '--', `/${app}`, 'plan');
};
