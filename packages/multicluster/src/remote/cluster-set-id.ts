import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
/** The ClusterProperty with the id of a cluster in its ClusterSet (About API, KEP-2149). */
const PROPERTY = 'cluster.clusterset.k8s.io';

const PERIOD_MS = 3_600_000;

/** What a remote says about its id in its ClusterSet. `unknown`: it has no About API, or we may not read it. */
export type ClusterSetId =
  | { readonly kind: 'same' }
  | { readonly kind: 'different'; readonly id: string }
  | { readonly kind: 'unknown'; readonly error: unknown };

/** Compares the id of a cluster in our config with its ClusterProperty. */
export async function compareClusterSetId(
  client: Pick<KubeClient, 'getRaw'>,
  configured: string,
  { signal }: RunOptions,
): Promise<ClusterSetId> {
  try {
    const group = (await client.getRaw('/apis/about.k8s.io', { signal })) as {
      preferredVersion?: { groupVersion?: string };
    };
    const version = group.preferredVersion?.groupVersion ?? 'about.k8s.io/v1alpha1';
    const property = (await client.getRaw(`/apis/${version}/clusterproperties/${PROPERTY}`, { signal })) as {
      spec?: { value?: unknown };
    };
    const id = property.spec?.value;
    if (typeof id !== 'string') return { kind: 'unknown', error: new Error('the ClusterProperty has no value') };
    return id === configured ? { kind: 'same' } : { kind: 'different', id: id.slice(0, 253) };
  } catch (error) {
    return { kind: 'unknown', error };
  }
}

export type ClusterSetIdReport = {
  readonly client: KubeClient;
  readonly remote: { readonly cluster: string; readonly firstSync: Promise<void> };
  /** As the config says. */
  readonly id: string;
  readonly log: Logger;
  /** 1: the id differs. */
  readonly metric: { set(labels: { readonly remote: string }, value: 0 | 1): void };
};

/**
 * Reports whether the id of the remote differs from that in our config: what selects or names clusters by the id would mean
 * another cluster. Nothing else depends on it. It asks once the remote is synced, then hourly, and at once if another server
 * takes its place.
 */
export async function reportClusterSetId(
  { client, remote: { cluster, firstSync }, id, log, metric }: ClusterSetIdReport,
  { signal }: RunOptions,
): Promise<void> {
  if (!signal.aborted) await Promise.race([firstSync, once(signal, 'abort')]);
  let warnedOf: string | undefined;
  while (!signal.aborted) {
    const answer = await compareClusterSetId(client, id, { signal });
    if (signal.aborted) return;
    const theirs = answer.kind === 'different' ? answer.id : undefined;
    if (theirs !== undefined && theirs !== warnedOf)
      log.warn({ cluster, id: theirs }, 'the remote has another id in its ClusterSet');
    if (answer.kind === 'unknown') log.debug({ cluster, error: answer.error }, 'ClusterSet id of the remote not read');
    else metric.set({ remote: cluster }, theirs === undefined ? 0 : 1);
    warnedOf = theirs;
    const { sameServer } = client;
    const next = sameServer === undefined ? signal : AbortSignal.any([signal, sameServer]);
    await delay(PERIOD_MS, undefined, { signal: next }).catch(() => undefined);
  }
}
