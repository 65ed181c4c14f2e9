import type { LocalWrites } from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { KubeApiError, type KubeClient, type WriteOptions } from '@kube-semaphore/kube-client';
import { type CalicoApi, Codec, type GlobalNetworkSet, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { Change } from '../desired/change.ts';
import { changeEvent } from '../desired/change-facts.ts';
import { readOwner } from '../desired/labels.ts';
import type { DesiredSet, ObservedSet } from '../desired/network-set.ts';
import type { LocalSets } from './sets.ts';

export type SetWriterOptions = {
  readonly send: SendChange;
  readonly writes: LocalWrites;
  readonly localSets: LocalSets;
  /** Of labels, those by which a set names its cluster. */
  readonly domains: readonly string[];
  /** No watch tells what others write: only a list does. */
  readonly isWatchForbidden: () => boolean;
};

/** Sends one change; of a deletion there is no answer. */
export type SendChange = (change: Change, options: WriteOptions) => Promise<GlobalNetworkSet | undefined>;

/** Carries out one change, when it is its turn. */
export type WriteSet = (change: Change, context: Pick<ReconcileContext, 'since'>) => Promise<void>;

/** Sends each change in one request, with the version that was seen as a precondition: 409 on anything newer. */
export function changeSender(client: KubeClient, api: CalicoApi): SendChange {
  const codec = new Codec(globalNetworkSetKind(api));
  return async (change, options) => {
    switch (change.kind) {
      case 'create':
        return client.create(codec, created(change.to), options);
      case 'update':
        return client.update(codec, updated(change.to), options);
      case 'delete':
        await client.delete(codec, { ...options, ...nameOf(change.from) }).catch(unlessGone);
        return undefined;
    }
  };
}

/** Writes sets, and tells the store, so that the next look finds what was written. */
export function setWriter({ send, writes, localSets, domains, isWatchForbidden }: SetWriterOptions): WriteSet {
  return async (change, { since }) => {
    const { labels } = change.kind === 'delete' ? change.from : change.to;
    const remote = readOwner(labels, domains)?.cluster;
    const write = {
      payer: remote,
      isDeletion: change.kind === 'delete',
      since,
      remote,
      repairs: remote,
      event: () => changeEvent(change),
    };
    try {
      const written = await writes.write(write, (options) => send(change, options));
      if (written !== undefined) localSets.written(written);
      else if (change.kind === 'delete') localSets.deleted(change.from);
    } catch (error) {
      // Somebody wrote in between. A watch tells us what; where there is none, only a list does. A set that is there and
      // that we don't know of was made just now, or the list that we go by lacked it.
      if (isStale(error) && (isWatchForbidden() || change.kind === 'create')) localSets.reflector.recheck();
      throw error;
    }
  };
}

const nameOf = ({ name, uid, resourceVersion }: ObservedSet) => ({ name, uid, resourceVersion });

const created = ({ name, labels, nets }: DesiredSet) => ({ metadata: { name, labels }, spec: { nets } });

const updated = ({ nets, ...metadata }: ObservedSet) => ({ metadata, spec: { nets } });

const isStale = (error: unknown): boolean => [404, 409].includes((error as { status?: number }).status ?? 0);

function unlessGone(error: unknown): void {
  if (!(error instanceof KubeApiError && error.status === 404)) throw error;
}
