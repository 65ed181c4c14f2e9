import { type PodOnNode, podOnNodeKind } from '@kube-semaphore/kube-objects';
import { type IpFamily, isUsedFamily } from '@kube-semaphore/net';
import { printable } from '@kube-semaphore/text';
import type { Terminal } from '../output/terminal.ts';
import { type AppStatus, readAppStatus, type RemoteStatus } from './app-status.ts';
import type { Context } from './contexts.ts';
import { listObjects, type Read, type Run } from './objects.ts';
import { accountOf, onlyOurs, type Sorted } from './ours.ts';
import { get } from './request.ts';

/** The apps, by the label `app` of their Pods. */
export const apps = ['semaphore-policy', 'semaphore-service-mirror', 'semaphore-wireguard'] as const;

export type App = (typeof apps)[number];

/** A Pod of one of the apps: not one that only has their label, see `sortOut`. */
export type AppPod = {
  readonly app: App;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** Where it serves its status; undefined: nowhere. */
  readonly port?: number | undefined;
  /** Its service account. */
  readonly account: string;
  /** Of its first container. */
  readonly image?: string | undefined;
  readonly ready: boolean;
  /** What it says, or why that can't be read. */
  readonly status: AppStatus | { readonly failure: string };
};

/** What is known of the apps in one cluster. */
export type ClusterReport = {
  /** The name of its context. */
  readonly cluster: string;
  /** Why its Pods aren't known, as a sentence. */
  readonly failure?: string;
  /** Why Pods with the label of an app aren't among them, as a sentence. */
  readonly leftOut?: string;
  /** Sorted by app and name. */
  readonly pods: readonly AppPod[];
};

/** How the apps in a cluster call it. */
export const ownNames = ({ pods }: ClusterReport): readonly string[] => [
  ...new Set(pods.flatMap(({ status }) => ('failure' in status ? [] : (status.config.name ?? [])))),
];

/** For the status of a Pod, which the API server asks for us. */
const TIMEOUT_MS = 10_000;

/** A mesh has an agent on each of a thousand nodes. */
const CONCURRENCY = 16;

/** Of all Pods and workloads of the apps, and of others that have the same label. */
export const labelSelector = `app in (${apps.join(',')})`;

/** Reads the status of all Pods of our apps in a cluster. Rejects only when `signal` is aborted. */
export async function readCluster(context: Context, run: Run): Promise<ClusterReport> {
  const { name: cluster } = context;
  const pods = await listOurPods(context, run);
  if (!pods.known) return { cluster, failure: pods.why, pods: [] };
  const { ours, skipped } = pods.value;
  const found: AppPod[] = [];
  const left = ours.values();
  const worker = async (): Promise<void> => {
    for (const pod of left) found.push(await readPod(context, pod, run));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return {
    cluster,
    ...(skipped !== undefined && { leftOut: `${cluster}: ${skipped}` }),
    pods: found.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  };
}

/** A Pod that reports its status, with its cluster. */
export type ReadPod = { readonly cluster: string; readonly pod: AppPod; readonly status: AppStatus };

/** A remote, as a Pod sees it. */
export type SeenRemote = ReadPod & { readonly remote: RemoteStatus };

/** All Pods, with their clusters. */
export const podsOf = (reports: readonly ClusterReport[]) =>
  reports.flatMap(({ cluster, pods }) => pods.map((pod) => ({ cluster, pod })));

/** Those that report their status. */
export const readPods = (reports: readonly ClusterReport[]): readonly ReadPod[] =>
  podsOf(reports).flatMap(({ cluster, pod }) =>
    'failure' in pod.status ? [] : [{ cluster, pod, status: pod.status }],
  );

/** All remotes, as each Pod sees them. */
export const seenRemotes = (reports: readonly ClusterReport[]): readonly SeenRemote[] =>
  readPods(reports).flatMap((read) => read.status.remotes.map((remote) => ({ ...read, remote })));

/** Whether one of two clusters uses addresses of a family of the other one, as its apps say; without apps, both do. */
export function isUsedBetween(family: IpFamily, one: ClusterReport, other: ClusterReport): boolean {
  const remotesIn = (by: ClusterReport, cluster: ClusterReport) =>
    seenRemotes([by]).filter(({ remote }) => [...ownNames(cluster), cluster.cluster].includes(remote.name));
  const seen = [...remotesIn(one, other), ...remotesIn(other, one)];
  const uses = ({ remote: { config } }: SeenRemote): boolean =>
    isUsedFamily(family, { families: config.families ?? undefined });
  return seen.length === 0 || seen.some(uses);
}

/** Why a cluster that was read has nothing to show, as a sentence; undefined: it has Pods of our apps. */
export const withoutApps = ({ cluster, failure, pods }: ClusterReport): string | undefined =>
  failure === undefined && pods.length === 0
    ? `${cluster}: no Pod of an app was found: check the context, or install the apps`
    : undefined;

/** The Pods of our apps in a cluster. */
export async function listOurPods(context: Context, run: Run): Promise<Read<Sorted<PodOnNode>>> {
  const pods = await listObjects(context, podOnNodeKind, { labelSelector }, run);
  return pods.known ? { known: true, value: await onlyOurs(context, pods.value, run) } : pods;
}

/** Says on stderr which Pods are skipped, in a line for each cluster. */
export function warnOfSkipped({ complain }: Pick<Terminal, 'complain'>, reports: readonly ClusterReport[]): void {
  for (const { leftOut } of reports) if (leftOut !== undefined) complain(`${printable(leftOut)}\n`);
}

const keyOf = ({ app, namespace, name }: AppPod): string => `${app} ${namespace}/${name}`;

async function readPod(context: Context, found: PodOnNode, run: Run): Promise<AppPod> {
  const { metadata, spec } = found;
  const { name, namespace, labels } = metadata;
  const port = httpPort(spec);
  const { nodeName: node, containers } = spec;
  const account = accountOf(spec);
  const image = containers[0]?.image || undefined;
  const pod = { app: labels['app'] as App, namespace, name, node, port, account, image, ready: isReady(found) };
  return { ...pod, status: await readStatus(context, pod, run) };
}

/** What a Pod of an app says now. Rejects only when `signal` is aborted. */
export async function readStatus(
  context: Context,
  { namespace, name, port }: Pick<AppPod, 'namespace' | 'name' | 'port'>,
  { signal }: Run,
): Promise<AppPod['status']> {
  if (port === undefined) return { failure: 'it has no port with the name http' };
  try {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}:${port}/proxy/status`;
    return readAppStatus(await get(context, path, { signal, timeoutMs: TIMEOUT_MS }));
  } catch (error) {
    signal.throwIfAborted();
    return { failure: printable((error as Error).message) };
  }
}

export const isReady = ({ status: { conditions } }: PodOnNode): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

/** Where an app serves its status. */
export const httpPort = (spec: PodOnNode['spec']): number | undefined => portOf(spec, 'http');

/** The port with this name. */
export const portOf = ({ containers }: PodOnNode['spec'], port: string): number | undefined =>
  containers.flatMap(({ ports }) => ports).find(({ name }) => name === port)?.containerPort;
