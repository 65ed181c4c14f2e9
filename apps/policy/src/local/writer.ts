import { KubeApiError, type KubeClient, type WriteOptions } from '@kube-semaphore/kube-client';
import { type CalicoApi, Codec, type GlobalNetworkSet, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import type { Change } from '../desired/change.ts';
import type { DesiredSet, ObservedSet } from '../desired/network-set.ts';

/** What became of a change. `gone`: the set to delete wasn't there any more. */
export type Written = { readonly kind: 'written'; readonly object: GlobalNetworkSet } | { readonly kind: 'gone' };

/** Carries out one change, in one request. */
export type WriteSet = (change: Change, options: WriteOptions) => Promise<Written>;

/** Writes to the local cluster, with the version that was seen as a precondition: 409 on anything newer. */
export function setWriter(client: KubeClient, api: CalicoApi): WriteSet {
  const codec = new Codec(globalNetworkSetKind(api));
  return async (change, options) => {
    switch (change.kind) {
      case 'create':
        return { kind: 'written', object: await client.create(codec, created(change.to), options) };
      case 'update':
        return { kind: 'written', object: await client.update(codec, updated(change.to), options) };
      case 'delete':
        await client.delete(codec, { ...options, ...nameOf(change.from) }).catch(unlessGone);
        return { kind: 'gone' };
    }
  };
}

const nameOf = ({ name, uid, resourceVersion }: ObservedSet) => ({ name, uid, resourceVersion });

const created = ({ name, labels, nets }: DesiredSet) => ({ metadata: { name, labels }, spec: { nets } });

const updated = ({ nets, ...metadata }: ObservedSet) => ({ metadata, spec: { nets } });

function unlessGone(error: unknown): void {
  if (!(error instanceof KubeApiError && error.status === 404)) throw error;
}
