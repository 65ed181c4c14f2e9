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

function unlessGone(error: unknown): void {
  if (!(error instanceof KubeApiError && error.status === 404)) throw error;
}
