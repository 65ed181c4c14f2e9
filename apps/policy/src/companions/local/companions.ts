import {
  type ClusterWatches,
  type LocalWrites,
  type PlannedWrite,
  POLL_INTERVAL_MS,
  Watched,
} from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { Reflector, type Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions, WriteOptions } from '@kube-semaphore/kube-client';
import {
  Codec,
  type CustomResource,
  type Kind,
  type KubeObject,
  networkPolicyKind,
} from '@kube-semaphore/kube-objects';
import {
  type CompanionChange,
  companionEvent,
  isUrgent,
  nameOf,
  type ObservedCompanion,
  remoteOf,
  type Sink,
} from '@kube-semaphore/network-policies';
import type { LocalNetworkPolicies } from './network-policies.ts';
import { needsRecheck, unlessGone } from '../../sets/local/writer.ts';

export type LocalCompanionsOptions = {
  readonly client: KubeClient;
  readonly policies: LocalNetworkPolicies;
  readonly sink: Sink;
  readonly writes: LocalWrites;
  readonly idleTimeoutMs: number;
  readonly watches: ClusterWatches;
};

/** What the store keeps of an object of the sink: of one that isn't ours, only the name matters. */
type SinkObject = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Of a remote, or an orphan. */
  readonly companion?: ObservedCompanion;
};

/** One kind of objects that companions consist of. */
type WatchedResource = {
  readonly resource: Kind;
  readonly store: { readonly view: { readonly synced: boolean }; delete(key: string, uid?: string): void };
  readonly reflector: Pick<Reflector<Kind, SinkObject>, 'run' | 'relist' | 'recheck' | 'silentMs' | 'wrote'>;
};

/** Of watches that begin when the others are listed: when they end. */
type Late = { readonly until?: AbortSignal };

/** Watches the local NetworkPolicies and the other objects of sinks, and writes companions. */
export class LocalCompanions {
  readonly policies: LocalNetworkPolicies;
  readonly sink: Sink;
  readonly #options: LocalCompanionsOptions;
  readonly #watched: WatchedResource[];
  /** Of the sink's policies, unless these are NetworkPolicies. */
  readonly #names: Store<SinkObject> | undefined;

  constructor(options: LocalCompanionsOptions) {
    const { policies, sink } = options;
    this.#options = options;
    this.policies = policies;
    this.sink = sink;
    const reflector = new Reflector({
      ...this.#shared(),
      kind: networkPolicyKind,
      project: (object) => policies.read(object),
      projectTooLarge: (object) => policies.readTooLarge(object),
      store: policies.store,
    });
    const custom = this.#watchesOf(sink);
    this.#names = custom.at(-1)?.store;
    this.#watched = [{ resource: networkPolicyKind, store: policies.store, reflector } as WatchedResource, ...custom];
  }

  #shared(late: Late = {}) {
    const { client, idleTimeoutMs, watches } = this.#options;
    return {
      client,
      watchList: 'auto',
      idleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      hooks: watches.hooks(late),
    } as const;
  }

  #watchesOf(sink: Sink, late?: Late) {
    const { policies } = this;
    return sink.resources.map((resource) => {
      const project = (object: CustomResource): SinkObject => {
        const { uid, resourceVersion } = object.metadata;
        const companion = sink.read(resource, object);
        return { uid, resourceVersion, ...(companion && { companion }) };
      };
      const watched = new Watched<Sink['resources'][number], SinkObject>({
        ...this.#shared(late),
        // The group projectcalico.org is served by Calico's aggregated API server.
        ...(resource.group === 'projectcalico.org' && { watchList: 'never' as const }),
        kind: resource,
        project,
        projectTooLarge: ({ metadata: { uid, resourceVersion } }) => ({ uid, resourceVersion }),
        equal: (a, b) => a.resourceVersion === b.resourceVersion,
        onChange: ({ previous, current }) => policies.companionChanged(previous?.companion, current?.companion),
      });
      return { resource, store: watched.store, reflector: watched };
    });
  }

  get synced(): boolean {
    return this.#watched.every(({ store }) => store.view.synced);
  }

  /** Milliseconds since the most silent watch last did anything. */
  get silentMs(): number {
    return Math.max(...this.#watched.map(({ reflector }) => reflector.silentMs));
  }

  /** Whether an object that is no companion of this source has the name of a companion in its namespace. */
  isTaken(source: string, name: string): boolean {
    if (this.policies.isTaken(source, name)) return true;
    const key = `${source.slice(0, source.indexOf('/'))}/${this.sink.policyName(name)}`;
    const found = this.#names?.view.synced === true ? this.#names.view.objects.get(key) : undefined;
    return found !== undefined && (found.companion === undefined || !this.policies.isOf(source, found.companion));
  }

  /** Lists everything again, to compare. */
  relist(): void {
    for (const { reflector } of this.#watched) reflector.relist();
  }

  /** Watches until `signal` is aborted. */
  async run(running: RunOptions): Promise<void> {
    await Promise.all(this.#watched.map(({ reflector }) => reflector.run(running)));
  }

  /**
   * Watches what another sink wrote, too, so that it goes when the companions of this one are there.
   *
   * @param isLate the companions are listed already, and don't wait for this
   */
  async replace(sink: Sink, running: RunOptions, { isLate = false } = {}): Promise<void> {
    const watches = this.#watchesOf(sink, isLate ? { until: running.signal } : undefined);
    this.#watched.push(...watches);
    await Promise.all(watches.map(({ reflector }) => reflector.run(running)));
  }

  /**
   * Writes one change when it is its turn, and updates the store, so that the next reconcile finds what was written.
   *
   * @throws as `LocalWrites.write`
   */
  async write(change: CompanionChange, { since }: Pick<ReconcileContext, 'since'>): Promise<void> {
    const { client, writes, watches } = this.#options;
    const remote = remoteOf(change);
    const write = {
      key: nameOf(change),
      account: remote,
      isDeletion: isUrgent(change),
      since,
      remote,
      repairs: remote,
      event: () => companionEvent(change),
    };
    const { store, reflector } = this.#watched.find(({ resource }) => resource === resourceOf(change))!;
    try {
      await this.policies.ownWrites.send(change, async () => {
        const written = await writes.write(write, (options) => sendCompanion(client, change, options));
        if (written !== undefined) reflector.wrote(written);
        else if (change.kind === 'delete') store.delete(keyOf(change.from), change.from.object.metadata.uid);
      });
    } catch (error) {
      if (needsRecheck(error, change, watches.isWatchForbidden)) reflector.recheck();
      throw error;
    }
  }

  /** A companion wasn't written, or the reconcile of its source failed. */
  failed(failure: Parameters<LocalWrites['failed']>[0]): void {
    this.#options.writes.failed(failure, 'companion');
  }

  /** What a plan asks the API server: nothing about deletions. */
  plannedWrites(changes: readonly CompanionChange[]): readonly PlannedWrite[] {
    const { client } = this.#options;
    return changes
      .filter(({ kind }) => kind !== 'delete')
      .map((change) => ({ object: nameOf(change), send: (options) => sendCompanion(client, change, options) }));
  }
}

/** Sends one change. The observed version is a precondition: 409 if the object is newer. */
export async function sendCompanion(
  client: KubeClient,
  change: CompanionChange,
  options: WriteOptions,
): Promise<KubeObject<Kind> | undefined> {
  const codec = codecOf(resourceOf(change));
  switch (change.kind) {
    case 'create':
      return client.create(codec, change.to, options);
    case 'update':
      return client.update(codec, change.to, options);
    case 'delete': {
      const { namespace, name, uid, resourceVersion } = change.from.object.metadata;
      const scope = namespace === '' ? {} : { namespace };
      await client.delete(codec, { ...options, ...scope, name, uid, resourceVersion }).catch(unlessGone);
      return undefined;
    }
  }
}

const resourceOf = (change: CompanionChange): Kind =>
  change.kind === 'delete' ? change.from.resource : change.resource;

const codecs = new Map<Kind, Codec<Kind>>();

function codecOf(resource: Kind): Codec<Kind> {
  const known = codecs.get(resource);
  if (known !== undefined) return known;
  const codec = new Codec(resource);
  codecs.set(resource, codec);
  return codec;
}

/** The key of an object in its store. */
const keyOf = ({ object: { metadata } }: ObservedCompanion): string =>
  metadata.namespace === '' ? metadata.name : `${metadata.namespace}/${metadata.name}`;
