import type { RemoteBudget } from '@kube-semaphore/informers';
import type { Remote } from '@kube-semaphore/multicluster';
import type { AddressRules } from '@kube-semaphore/net';
import type { RemoteSettings } from './config/settings.ts';

/** What every feature needs to follow a remote. */
export type FollowedRemote = Remote<RemoteSettings> & {
  /** Of all its watches. */
  readonly budget: RemoteBudget;
  /** Which addresses it can bring into local sets and companions. */
  readonly addresses: AddressRules;
};
