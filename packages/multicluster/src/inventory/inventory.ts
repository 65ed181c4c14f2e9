import { isDeepStrictEqual } from 'node:util';
import { ClusterAuthError, connect } from '@kube-semaphore/cluster-auth';
import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { clusterProfileKind } from '@kube-semaphore/kube-objects';
import { compareText } from '@kube-semaphore/naming';
import { bad } from '@kube-semaphore/net';
import { type Command, ConfigError, type Logger, wordsOf } from '@kube-semaphore/runtime';
import { printable } from '@kube-semaphore/text';
import { type Diagnostic, type DiagnosticRegister, skippedIn } from '../remote/diagnostic-register.ts';
import { reasonKey, ReasonLog } from '../remote/reason-log.ts';
import type { RemoteStateOptions } from '../remote/remote-state.ts';
import { asWhole, Watched } from '../watched.ts';
import { type HeldRemote, heldRemotes } from './held.ts';
import { type ProfileRemote, readProfile, storedProfile, type StoredProfile } from './profile.ts';
import { type Providers, readProviders } from './providers.ts';
import type { InventorySettings, RemotesFrom } from './settings.ts';

export type InventoryOptions = Pick<Command<unknown>, 'secrets'> & {
  readonly settings: InventorySettings;
  /** Of the local cluster. */
  readonly client: KubeClient;
  /** The name of the local cluster, whose own profile is no remote; undefined: it has none. */
  readonly localName: string | undefined;
  /** How long a remote stays when its profile vanishes: `-deletion-guard-hold`. */
  readonly holdMs: number;
  readonly idleTimeoutMs: number;
  readonly metrics: Pick<RemoteStateOptions['metrics'], 'skippedObjects' | 'heldDeletions'>;
  readonly log: Logger;
  /** Monotonic, in ms. */
  readonly now?: () => number;
};

/** What `/status` says of an inventory. Times are in ISO 8601. */
export type InventoryStatus = {
  readonly namespace: string;
  readonly selector: string | null;
  /** Whether a first list is complete; without one, the remotes of the inventory are unknown. */
  readonly synced: boolean;
  /** Why the last attempt to read it failed; null if it didn't. */
  readonly problem: string | null;
  readonly profiles: readonly {
    /** `namespace/name`. */
    readonly profile: string;
    readonly cluster: string;
    /** The status of the condition ControlPlaneHealthy; it changes nothing. */
    readonly controlPlaneHealthy: string | null;
    /** Why it is no remote; null: it is one. */
    readonly problem: string | null;
    /** Until when it stays a remote although nothing describes it now. */
    readonly heldUntil: string | null;
  }[];
};

/** More clusters than a mesh can have: each costs memory, connections and a plugin that runs. */
const MOST_PROFILES = 1_000;

/** The local cluster, in metrics. */
const LOCAL = 'local';

/**
 * The ClusterProfiles of the local cluster (KEP-4322), as remotes. `LiveConfig` puts them in force. A list that fails changes
 * nothing, and a remote whose profile vanishes stays for a while: a mistake in the inventory must not take a mesh away.
 */
export class Inventory {
  readonly #options: InventoryOptions;
  readonly #watched: Watched<typeof clusterProfileKind, StoredProfile>;
  readonly #skipped: DiagnosticRegister;
  readonly #reasons = new ReasonLog();
  readonly #now: () => number;
  readonly #answered = Promise.withResolvers<void>();
  readonly #applied = Promise.withResolvers<void>();
  #providers: Providers;
  #providersProblem: string | undefined;
  #failure: string | undefined;
  #syncedSinceMs: number | undefined;
  #hasChanged = false;
  #present: readonly ProfileRemote[] = [];
  #held: readonly HeldRemote[] = [];
  /** Why profiles are no remotes. */
  #invalid: ReadonlyMap<string, string> = new Map();
  #refused: ReadonlyMap<string, string> = new Map();

  /** @param providers of `settings.providersFile` */
  constructor(options: InventoryOptions, providers: Providers) {
    const { settings, client, idleTimeoutMs, metrics, log, now = () => performance.now() } = options;
    this.#options = options;
    this.#providers = providers;
    this.#now = now;
    this.#skipped = skippedIn(LOCAL, log, metrics.skippedObjects);
    this.#watched = new Watched<typeof clusterProfileKind, StoredProfile>({
      client,
      kind: clusterProfileKind,
      namespace: settings.namespace,
      ...(settings.selector !== undefined && { labelSelector: settings.selector }),
      project: storedProfile,
      equal: isDeepStrictEqual,
      idleTimeoutMs,
      ...asWhole({ update: () => this.#update(), failed: (error) => this.#failed(error) }),
    });
  }

  /** The remotes that it has now: those with a profile, the oldest first, then the held ones. */
  get remotes(): readonly ProfileRemote[] {
    return [...this.#present, ...this.#held.map(({ remote }) => remote)];
  }

  /** Resolves when a first list is complete, or is refused. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  /** Resolves when what it first answered is in force, or can't be: before, not all remotes are known. */
  get applied(): Promise<void> {
    return this.#applied.promise;
  }

  /** Whether what is here of a cluster without a profile may be of one whose profile vanished while we were away. */
  get mayHaveLost(): boolean {
    return this.#syncedSinceMs === undefined || this.#now() - this.#syncedSinceMs < this.#options.holdMs;
  }

  /** Watches it until `signal` is aborted; once. */
  run(running: RunOptions): Promise<void> {
    return this.#watched.run(running);
  }

  /** Takes over what changed in profiles and plugins. @returns whether `remotes` are others now */
  async poll(): Promise<boolean> {
    const objects = this.#watched.objects;
    if (objects === undefined) return false;
    const haveOthers = await this.#readProviders();
    if (!this.#hasChanged && !haveOthers && !this.#held.some((held) => this.#isOver(held))) return false;
    this.#hasChanged = false;
    const before = this.remotes;
    await this.#read([...objects.values()]);
    const { holdMs, metrics } = this.#options;
    this.#held = heldRemotes({
      before: before.filter(({ profile }) => !this.#refused.has(profile) && !this.#isHeld(profile)),
      held: this.#held,
      now: this.#present,
      nowMs: this.#now(),
      holdMs,
    });
    metrics.heldDeletions.set({ remote: LOCAL }, this.#held.length);
    this.#report();
    return !isDeepStrictEqual(this.remotes, before);
  }

  /** The remotes are in force, but for those that don't fit the config. @param refused reasons, by profile */
  inForce(refused: ReadonlyMap<string, string>): void {
    this.#refused = refused;
    this.#report();
  }

  /** What it first answered was tried. */
  tried(): void {
    this.#applied.resolve();
  }

  status(): InventoryStatus {
    const { settings } = this.#options;
    const untilMs = new Map(this.#held.map(({ remote, sinceMs }) => [remote.profile, this.#untilMs(sinceMs)]));
    const stored = this.#watched.values();
    const gone = this.#held.filter(({ remote }) => !stored.some(({ profile }) => profile === remote.profile));
    const known = [
      ...stored,
      ...gone.map(({ remote: { profile, name } }) => ({ profile, cluster: name, controlPlaneHealthy: undefined })),
    ];
    return {
      namespace: settings.namespace,
      selector: settings.selector ?? null,
      synced: this.#watched.synced,
      problem: this.#failure ?? this.#providersProblem ?? null,
      profiles: known
        .map(({ profile, cluster, controlPlaneHealthy }) => {
          const until = untilMs.get(profile);
          return {
            profile,
            cluster,
            controlPlaneHealthy: controlPlaneHealthy ?? null,
            problem: this.#invalid.get(profile) ?? this.#refused.get(profile) ?? null,
            heldUntil: until === undefined ? null : new Date(until).toISOString(),
          };
        })
        .toSorted((a, b) => compareText(a.profile, b.profile)),
    };
  }

  #isHeld(profile: string): boolean {
    return this.#held.some(({ remote }) => remote.profile === profile);
  }

  #isOver({ sinceMs }: HeldRemote): boolean {
    return this.#now() - sinceMs >= this.#options.holdMs;
  }

  #untilMs(sinceMs: number): number {
    return Date.now() + sinceMs + this.#options.holdMs - this.#now();
  }

  /** A file that can't be used is no change. @returns whether there are other plugins now */
  async #readProviders(): Promise<boolean> {
    const before = this.#providers;
    try {
      this.#providers = await readProviders(before.path, before);
      this.#providersProblem = undefined;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { message } = error;
      if (message !== this.#providersProblem)
        this.#options.log.warn({ problem: message }, 'providers file is invalid; the last valid one stays in force');
      this.#providersProblem = message;
    }
    return this.#providers !== before;
  }

  /** Reads all profiles: each is a remote, or is invalid. */
  async #read(objects: readonly StoredProfile[]): Promise<void> {
    const [present, invalid]: [ProfileRemote[], Map<string, string>] = [[], new Map()];
    const others = objects.filter(({ cluster }) => cluster !== this.#options.localName);
    for (const [i, stored] of others.toSorted(byAge).entries()) {
      const read = i < MOST_PROFILES ? readProfile(stored, this.#providers) : TOO_MANY;
      const problem = read.ok ? await this.#problemOf(read.value) : read.reason;
      if (problem !== undefined) invalid.set(stored.profile, problem);
      else if (read.ok) present.push(read.value);
    }
    this.#present = present;
    this.#invalid = invalid;
  }

  /** Why there is no way to connect to it, such as a CA that is no certificate. Uses no network, and runs no plugin. */
  async #problemOf({ profile, reference }: ProfileRemote): Promise<string | undefined> {
    const known = this.remotes.find((each) => each.profile === profile);
    if (isDeepStrictEqual(known?.reference, reference)) return undefined;
    const { log, secrets } = this.#options;
    try {
      (await connect(reference, { env: process.env, log, secrets })).close();
      return undefined;
    } catch (error) {
      if (error instanceof ClusterAuthError) return printable(error.message);
      throw error;
    }
  }

  #update(): void {
    if (!this.#watched.synced) return;
    this.#hasChanged = true;
    this.#syncedSinceMs ??= this.#now();
    if (this.#failure !== undefined) this.#options.log.info({}, 'inventory is read again');
    this.#failure = undefined;
    this.#reasons.clear();
    this.#answered.resolve();
  }

  #failed(error: unknown): void {
    this.#failure = wordsOf(error);
    if (this.#reasons.isNews(reasonKey('failed', error), this.#now()))
      this.#options.log.warn({ error }, 'inventory can not be read; its remotes stay as they are');
    // Without the right, or without the kind, the remotes of the file are all there is. Anything else may end soon.
    if (isStatus(error, 403) || isStatus(error, 404)) this.#answered.resolve();
  }

  #report(): void {
    const found = new Map(this.#watched.values().map((stored) => [stored.profile, this.#diagnosticsOf(stored)]));
    const gone = this.#skipped.all().filter(({ subject }) => !found.has(subject));
    for (const { subject } of gone) this.#skipped.replace(subject, []);
    for (const [profile, diagnostics] of found) this.#skipped.replace(profile, diagnostics);
  }

  #diagnosticsOf({ profile, cluster }: StoredProfile): readonly Diagnostic[] {
    const [invalid, refused] = [this.#invalid.get(profile), this.#refused.get(profile)];
    if (invalid !== undefined) return [{ kind: 'problem', reason: 'profile-invalid', detail: invalid }];
    if (refused !== undefined) return [{ kind: 'problem', reason: 'profile-refused', detail: refused }];
    return cluster === this.#options.localName ? [{ kind: 'expected', reason: 'profile-of-us', detail: cluster }] : [];
  }
}

type OpenOptions = Omit<InventoryOptions, 'settings' | 'holdMs' | 'idleTimeoutMs'> & {
  readonly options: { readonly deletionGuardHoldMs: number; readonly watchIdleTimeoutMs: number };
};

/** The inventory of a config file, if it names one. @throws {ConfigError} if its file of plugins can't be used */
export async function openInventory(
  remotesFrom: RemotesFrom | undefined,
  { options, ...rest }: OpenOptions,
): Promise<Inventory | undefined> {
  if (remotesFrom === undefined) return undefined;
  const settings = remotesFrom.clusterProfiles;
  const { deletionGuardHoldMs: holdMs, watchIdleTimeoutMs: idleTimeoutMs } = options;
  return new Inventory({ ...rest, settings, holdMs, idleTimeoutMs }, await readProviders(settings.providersFile));
}

const TOO_MANY = bad(`there are ${MOST_PROFILES} older ones, which are as many as may be`);

const byAge = (a: StoredProfile, b: StoredProfile): number =>
  a.createdMs - b.createdMs || compareText(a.profile, b.profile);
