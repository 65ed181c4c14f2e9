import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import type { RealCluster } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';

const LOCAL = 'c1';
const REMOTES = ['c2', 'c3', 'c4', 'c5'] as const;
export type Remote = (typeof REMOTES)[number];
export type Name = typeof LOCAL | Remote;

/** How many clusters there are: the sources that stay, the events and the oracles of a whole process go by it. */
const count = Number(process.env['CHAOS_CLUSTERS'] ?? 3);
if (![3, 4, 5].includes(count)) throw new Error('CHAOS_CLUSTERS must be 3, 4 or 5');
export const remotes: readonly Remote[] = REMOTES.slice(0, count - 1);
/** The local cluster, and the remotes. */
export const names: readonly Name[] = [LOCAL, ...remotes];

/** That an object is so from now on; or that it is gone. Null removes a field, so the same change has the same effect twice. */
export type Change = {
  readonly cluster: Name;
  /** `/api/v1/namespaces/shop/pods` */
  readonly collection: string;
  readonly name: string;
  readonly object: Readonly<Record<string, unknown>> | null;
};

/** The objects of some clusters, by the paths of {@link Subject.sources}. */
export type State = Readonly<Record<string, Readonly<Record<string, readonly KubeObject[]>>>>;

/** What else the config file says: of each remote, which is in force at once, and of sections, which is when a replica starts. */
export type Settings = { readonly remotes: Sections; readonly rest: Sections };
type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Faults overlap, and 30 events take a quarter of a minute. */
export const SHORT_PAUSES_MS = [0, 0, 20, 100, 500, 1_000];

const HOUR_MS = 3_600_000;
/** Where the time of files counts, too, which stays right: for a clock that is ahead they are only older. */
export const CLOCKS_AHEAD_MS = [0, 1_000, 20_000, HOUR_MS, 24 * HOUR_MS];
export const CLOCKS_MS = [-24 * HOUR_MS, -HOUR_MS, -20_000, -1_000, ...CLOCKS_AHEAD_MS];

export const NO_SETTINGS: Settings = { remotes: {}, rest: {} };

/** What is compared: each object by a name, with all that its users see. */
export type View = Readonly<Record<string, unknown>>;

/** An app, and what its pages promise of it. Nothing here knows the app's code. */
export type Subject = {
  readonly app: 'policy' | 'service-mirror' | 'wireguard';
  /** What its metrics begin with. */
  readonly prefix: string;
  /** Folders of deploy/ with its rights. */
  readonly rights: { readonly local: readonly string[]; readonly remote: readonly string[] };
  /** Whether two replicas share a Lease; if not, there is one. */
  readonly elects: boolean;
  /** The kinds that it needs. Each cluster has them. */
  readonly crds: readonly KubeObject[];
  readonly namespaces: readonly string[];
  readonly flags: readonly string[];
  /** The flag that names the config file, and what is in it. */
  readonly configFlag: string;
  config(local: string, remotes: Readonly<Record<string, string>>, settings: Settings): object;
  /** What else can be in the file. The first is at the beginning. */
  readonly settings: readonly [Settings, ...Settings[]];
  /** What is there before it starts, and is never changed: foreign objects of the local cluster, and sources that stay. */
  readonly staying: readonly Change[];
  /** Whether what it writes has owners: then the local cluster has Kubernetes' garbage collector. */
  readonly owns: boolean;
  /** What it reads, as paths of all namespaces. */
  readonly sources: readonly string[];
  /** What the audit log calls the objects that it writes. */
  readonly resources: readonly string[];
  change(dice: Dice): Change;
  /** What a record calls an event `tamper`, if it isn't an edit or a deletion of an object. */
  readonly tampers?: string;
  /** Between two events; each pause as often as it is here. */
  readonly pausesMs: readonly number[];
  /** By how much the clock of a replica can be wrong. */
  readonly clocksMs: readonly number[];
  /** What of its own can break where it runs, by {@link Site.break}. */
  readonly breaks: readonly string[];
  /** With which of them it may end as it starts, and what a line of its log says then. */
  readonly endsBy?: { readonly breaks: readonly string[]; readonly says: RegExp };
  /** What must be there, by its pages, if the config file has these remotes and settings. */
  wanted(state: State, remotes: readonly string[], settings: Settings): View;
  /** Where it runs and writes. What stays is there already. */
  site(clusters: Clusters, input: SiteInput): Promise<Site>;
  /** Texts that must never be in a log, an object or an answer of it. */
  readonly secrets: readonly string[];
  /** Series of the metrics of the replica that writes, and their values when it is quiet and this is wanted. */
  metrics(
    wanted: View,
    remotes: readonly string[],
  ): readonly (readonly [name: string, labels: Readonly<Record<string, string>>, value: number])[];
};

export type Clusters = Readonly<Record<Name, RealCluster>>;

export type SiteInput = {
  /** Of the API servers that the app is told. */
  readonly ports: readonly number[];
  /** A folder for files. */
  readonly dir: string;
  /** Of the app. */
  readonly launcher: string;
  /** Ends with the run. */
  readonly stack: AsyncDisposableStack;
};

/** Where an app runs and writes, and what is there. */
export type Site = {
  /** Of its programs, if not here. */
  readonly place?: Place;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** What is there of these remotes, as {@link Subject.wanted} has it. */
  observed(remotes: readonly string[]): Promise<View>;
  /** A text for each thing that was written, which changes with it. */
  versions(): Promise<readonly string[]>;
  /** The same, of what must never be touched. */
  foreign(): Promise<readonly string[]>;
  /** What happened since the last call, and never should. @param left remotes that weren't in the file meanwhile */
  harm(left: ReadonlySet<string>): Promise<readonly string[]>;
  /** What must never be in a log or an object either, and isn't known before: all of it so far. */
  secrets?(): Promise<readonly string[]>;
  /** A user edits or deletes something that the app wrote. Rejects if there is nothing. */
  tamper(nth: number, how: 'edit' | 'delete'): Promise<void>;
  /** @returns what mends it */
  break(what: string): Promise<() => Promise<void>>;
};
