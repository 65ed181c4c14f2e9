import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Connection } from '@kube-semaphore/cluster-auth';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { Clusters } from '../clusters.ts';
import type { NamedReference, RemoteReference } from '../config/cluster-references.ts';
import { RemoteState, type RemoteStateOptions } from './remote-state.ts';

/** What the config of each app says of a remote. */
export type RemoteConfig = { readonly name: string; readonly reference: RemoteReference };

/** A remote, for as long as the config has it with these settings. */
export type Remote<S extends RemoteConfig> = {
  readonly settings: S;
  readonly client: KubeClient;
  readonly state: RemoteState;
};

/** The remotes of the config now, for what needs no more than their settings. */
export type RemoteList<S> = { readonly all: readonly { readonly settings: S }[] };

/** What an app does about a remote, until `signal` is aborted. Afterwards, nothing of the remote may be left in memory. */
export type Follow<S extends RemoteConfig> = (remote: Remote<S>, run: RunOptions) => Promise<void>;

export type RemotesOptions<S extends RemoteConfig> = Pick<RemoteStateOptions, 'metrics' | 'holdMs'> & {
  /** In the order of the config. */
  readonly settings: readonly S[];
  /** Open ones, in the same order. */
  readonly connections: readonly Connection[];
  readonly clusters: Pick<Clusters, 'open' | 'close'>;
  /** The places that name them, for errors. */
  readonly references: (settings: readonly S[]) => readonly NamedReference[];
  readonly clientOf: (connection: Connection) => KubeClient;
  /** Begins and ends the series of a remote. */
  readonly series: { begin(settings: S): void; end(settings: S): Promise<void> };
  readonly log: Logger;
};

/** The names of remotes, by what a changed config did to them. */
export type RemoteChanges = Readonly<Record<'added' | 'removed' | 'changed', readonly string[]>>;

type Member<S extends RemoteConfig> = {
  readonly remote: Remote<S>;
  readonly connection: Connection;
  readonly ended: AbortController;
  /** Undefined before it is followed. */
  loop: Promise<void> | undefined;
};

/** The remotes of the config, which come and go while the app runs. */
export class Remotes<S extends RemoteConfig> {
  readonly #options: RemotesOptions<S>;
  #members: readonly Member<S>[];
  #all: readonly Remote<S>[] = [];
  #byName: ReadonlyMap<string, Remote<S>> = new Map();
  #following: { readonly follow: Follow<S>; readonly signal: AbortSignal } | undefined;
  /** Resolves when the last change is over: one at a time. */
  #changed: Promise<unknown> = Promise.resolve();
  readonly #failed = Promise.withResolvers<never>();

  constructor(options: RemotesOptions<S>) {
    this.#options = options;
    this.#members = options.settings.map((settings, i) => this.#memberOf(settings, options.connections[i]!));
    this.#index();
  }

  /** In the order of the config. Another array after a change. */
  get all(): readonly Remote<S>[] {
    return this.#all;
  }

  /** By name. Another map after a change. */
  get byName(): ReadonlyMap<string, Remote<S>> {
    return this.#byName;
  }

  get(name: string): Remote<S> | undefined {
    return this.#byName.get(name);
  }

  /** Follows each remote while the config has it, until `signal` is aborted; once. @throws what `follow` throws */
  async run(follow: Follow<S>, { signal }: RunOptions): Promise<void> {
    this.#following = { follow, signal };
    for (const member of this.#members) this.#start(member);
    if (!signal.aborted) await Promise.race([once(signal, 'abort'), this.#failed.promise]);
    await Promise.all(this.#members.flatMap(({ loop }) => loop ?? []));
  }

  /**
   * Takes over the remotes of a changed config. One with other settings goes and comes again, over the same connection if the
   * reference is the same; others aren't touched.
   *
   * @throws {ConfigError} if there is no way to connect to one of them; then all stay as they were
   */
  replace(next: readonly S[]): Promise<RemoteChanges> {
    return this.#inTurn(() => {
      const byName = new Map(next.map((settings) => [settings.name, settings]));
      return this.#change(next, ({ name }) => isDeepStrictEqual(this.get(name)?.settings, byName.get(name)));
    });
  }

  /** Each remote goes and comes again, over the same connection. */
  restart(): Promise<RemoteChanges> {
    return this.#inTurn(() =>
      this.#change(
        this.#all.map(({ settings }) => settings),
        () => false,
      ),
    );
  }

  #inTurn(change: () => Promise<RemoteChanges>): Promise<RemoteChanges> {
    const changes = this.#changed.then(change);
    this.#changed = changes.catch(() => undefined);
    return changes;
  }

  /** @param stays whether settings of a remote are those of now, and of the next config */
  async #change(next: readonly S[], stays: (settings: S) => boolean): Promise<RemoteChanges> {
    const { clusters, series } = this.#options;
    const known = new Map(this.#members.map((member) => [member.remote.settings.name, member]));
    const coming = next.filter((settings) => !stays(settings));
    const going = this.#members.filter(({ remote: { settings } }) => !stays(settings));
    const { connections, closing } = await this.#connect(next, { coming, going });
    await Promise.all(going.map((member) => this.#end(member)));
    for (const connection of closing) clusters.close(connection);
    for (const { remote } of going) await series.end(remote.settings);
    for (const settings of coming) series.begin(settings);
    const members = new Map(
      coming.map((settings) => [settings.name, this.#memberOf(settings, connections.get(settings.name)!)]),
    );
    this.#members = next.map(({ name }) => members.get(name) ?? known.get(name)!);
    this.#index();
    if (this.#following !== undefined) for (const member of members.values()) this.#start(member);
    const names = coming.map(({ name }) => name);
    return {
      added: names.filter((name) => !known.has(name)),
      removed: [...known.keys()].filter((name) => !this.#byName.has(name)),
      changed: names.filter((name) => known.has(name)),
    };
  }

  /** @returns the connections of the coming ones, and which of the going ones have no use any more */
  async #connect(
    next: readonly S[],
    { coming, going }: { readonly coming: readonly S[]; readonly going: readonly Member<S>[] },
  ): Promise<{ readonly connections: ReadonlyMap<string, Connection>; readonly closing: readonly Connection[] }> {
    const { clusters, references } = this.#options;
    const reused = going.filter(({ remote: { settings } }) =>
      coming.some(({ name, reference }) => name === settings.name && isDeepStrictEqual(reference, settings.reference)),
    );
    const closing = going.filter((member) => !reused.includes(member)).map(({ connection }) => connection);
    const connections = new Map(reused.map(({ remote: { settings }, connection }) => [settings.name, connection]));
    const places = references(next);
    const missing = next.flatMap((settings, i) =>
      coming.includes(settings) && !connections.has(settings.name) ? [{ name: settings.name, place: places[i]! }] : [],
    );
    const opened = await clusters.open(
      missing.map(({ place }) => place),
      closing,
    );
    for (const [i, { name }] of missing.entries()) connections.set(name, opened[i]!);
    return { connections, closing };
  }

  #memberOf(settings: S, connection: Connection): Member<S> {
    const { metrics, holdMs, clientOf, log } = this.#options;
    const client = clientOf(connection);
    const state = new RemoteState({ cluster: settings.name, client, metrics, log, holdMs });
    return { remote: { settings, client, state }, connection, ended: new AbortController(), loop: undefined };
  }

  #index(): void {
    this.#all = this.#members.map(({ remote }) => remote);
    this.#byName = new Map(this.#all.map((remote) => [remote.settings.name, remote]));
  }

  #start(member: Member<S>): void {
    const { follow, signal } = this.#following!;
    member.loop = follow(member.remote, { signal: AbortSignal.any([signal, member.ended.signal]) });
    member.loop.catch(this.#failed.reject);
  }

  async #end({ ended, loop }: Member<S>): Promise<void> {
    ended.abort();
    await loop;
  }
}
