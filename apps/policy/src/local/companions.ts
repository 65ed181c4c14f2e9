import { type LocalWrites, POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { Reflector, type ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions, WriteOptions } from '@kube-semaphore/kube-client';
import { Codec, type NetworkPolicy, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { type CompanionChange, companionEvent, isUrgent, remoteOf } from '../desired/network-policies/diff.ts';
import type { LocalNetworkPolicies } from './network-policies.ts';
import { needsRecheck, unlessGone } from './writer.ts';

export type LocalCompanionsOptions = {
  readonly client: KubeClient;
  readonly policies: LocalNetworkPolicies;
  readonly writes: LocalWrites;
  readonly idleTimeoutMs: number;
  readonly hooks: ReflectorHooks;
  /** Whether a list alone shows what others wrote. */
  readonly isWatchForbidden: () => boolean;
};

const codec = new Codec(networkPolicyKind);

/** Watches the local NetworkPolicies, and writes companions. */
export class LocalCompanions {
  readonly policies: LocalNetworkPolicies;
  readonly #options: LocalCompanionsOptions;
  readonly #reflector: Reflector<typeof networkPolicyKind, ReturnType<LocalNetworkPolicies['read']>>;

  constructor(options: LocalCompanionsOptions) {
    const { client, policies, idleTimeoutMs, hooks } = options;
    this.#options = options;
    this.policies = policies;
    this.#reflector = new Reflector({
      client,
      kind: networkPolicyKind,
      watchList: 'auto',
      project: (object) => policies.read(object),
      projectTooLarge: (object) => policies.readTooLarge(object),
      store: policies.store,
      idleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks,
    });
  }

  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** Lists the NetworkPolicies again, to compare. */
  relist(): void {
    this.#reflector.relist();
  }

  /** Watches until `signal` is aborted. */
  run(running: RunOptions): Promise<void> {
    return this.#reflector.run(running);
  }

  /**
   * Writes one change when it is its turn, and updates the store, so that the next reconcile finds what was written.
   *
   * @throws as `LocalWrites.write`
   */
  async write(change: CompanionChange, { since }: Pick<ReconcileContext, 'since'>): Promise<void> {
    const { client, writes, policies, isWatchForbidden } = this.#options;
    const remote = remoteOf(change);
    const write = {
      payer: remote,
      isDeletion: isUrgent(change),
      since,
      remote,
      repairs: remote,
      event: () => companionEvent(change),
    };
    try {
      const written = await writes.write(write, (options) => sendCompanion(client, change, options));
      if (written !== undefined) this.#reflector.wrote(written);
      else if (change.kind === 'delete')
        policies.store.delete(keyOf(change.from.object), change.from.object.metadata.uid);
    } catch (error) {
      if (needsRecheck(error, change, isWatchForbidden())) this.#reflector.recheck();
      throw error;
    }
  }
}

/** Sends one change. The observed version is a precondition: 409 if the object is newer. */
export async function sendCompanion(
  client: KubeClient,
  change: CompanionChange,
  options: WriteOptions,
): Promise<NetworkPolicy | undefined> {
  switch (change.kind) {
    case 'create':
      return client.create(codec, change.to, options);
    case 'update':
      return client.update(codec, change.to, options);
    case 'delete': {
      const { namespace, name, uid, resourceVersion } = change.from.object.metadata;
      await client.delete(codec, { ...options, namespace, name, uid, resourceVersion }).catch(unlessGone);
      return undefined;
    }
  }
}

const keyOf = ({ metadata: { namespace, name } }: NetworkPolicy): string => `${namespace}/${name}`;
