import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';

/** The local cluster, and the remotes. */
export const names = ['c1', 'c2', 'c3'] as const;
export type Name = (typeof names)[number];
export type Remote = Exclude<Name, 'c1'>;
export const remotes = ['c2', 'c3'] as const satisfies readonly Remote[];

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

/** What is compared: each object by a name, with all that its users see. */
export type View = Readonly<Record<string, unknown>>;

/** An app, and what its pages promise of it. Nothing here knows the app's code. */
export type Subject = {
  readonly app: 'policy' | 'service-mirror';
  /** What its metrics begin with. */
  readonly prefix: string;
  /** Folders of deploy/ with its rights. */
  readonly rights: { readonly local: readonly string[]; readonly remote: readonly string[] };
  /** The kinds that it needs in the local cluster. */
  readonly crds: readonly KubeObject[];
  readonly namespaces: readonly string[];
  readonly flags: readonly string[];
  /** The config file. */
  config(local: string, remotes: Readonly<Record<string, string>>): object;
  /** What is there before it starts, and is never changed: foreign objects of the local cluster, and sources that stay. */
  readonly staying: readonly Change[];
  /** What it reads, as paths of all namespaces. */
  readonly sources: readonly string[];
  /** Where it writes in the local cluster. */
  readonly targets: readonly string[];
  /** What the audit log calls these. */
  readonly resources: readonly string[];
  change(dice: Dice): Change;
  /** What must be in the local cluster, by its pages, if the config file has these remotes. */
  wanted(state: State, remotes: readonly string[]): View;
  /** What is there of these remotes. */
  observed(objects: Readonly<Record<string, readonly KubeObject[]>>, remotes: readonly string[]): View;
  /** Whether it wrote the object. */
  isOurs(object: KubeObject): boolean;
  /** Whether it is a source beside what the app writes, which changes. */
  isSource(object: KubeObject): boolean;
  /** An edit by a user of an object that it wrote. */
  edited(object: KubeObject): object;
  /** Texts of what the sources that stay must always have in the local cluster, of the objects of one target. */
  always: Readonly<
    Record<string, { readonly expected: readonly string[]; readonly of: (object: KubeObject) => readonly string[] }>
  >;
  /** Series of the metrics of the replica that writes, and their values when it is quiet and both remotes are in the file. */
  readonly metrics: readonly (readonly [name: string, labels: Readonly<Record<string, string>>, value: number])[];
};
