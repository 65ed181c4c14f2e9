import { KubeApiError, type KubeClient, type WriteOptions } from '@kube-semaphore/kube-client';
import { type CalicoApi, Codec, type GlobalNetworkSet, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { Change } from '../desired/change.ts';
import type { DesiredSet, ObservedSet } from '../desired/network-set.ts';

/** Sends one change. @returns the object; undefined after a deletion */
export type SendChange = (change: Change, options: WriteOptions) => Promise<GlobalNetworkSet | undefined>;

/** Sends each change in one request. The observed version is a precondition: 409 if the object is newer. */
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

const nameOf = ({ name, uid, resourceVersion }: ObservedSet) => ({ name, uid, resourceVersion });

const created = ({ name, labels, nets }: DesiredSet) => ({ metadata: { name, labels }, spec: { nets } });

const updated = ({ nets, ...metadata }: ObservedSet) => ({ metadata, spec: { nets } });

/**
 * Whether a failed write shows that another program wrote meanwhile, and that only a list tells what. A watch shows it,
 * too, if we have one. An object that exists although we don't know it was created just now, or our last list lacked it.
 */
export function needsRecheck(error: unknown, { kind }: Pick<Change, 'kind'>, isWatchForbidden: boolean): boolean {
  const { status = 0 } = error as { status?: number };
  return [404, 409].includes(status) && (isWatchForbidden || kind === 'create');
}

/** For a deletion of what may be gone already. */
export function unlessGone(error: unknown): void {
  if (!(error instanceof KubeApiError && error.status === 404)) throw error;
}
