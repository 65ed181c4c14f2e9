import type { KeyWrites } from '@kube-semaphore/multicluster';
import { GLOBAL, sourceAnnotation } from '../../names.ts';
import type { DesiredSlice } from '../desired/objects.ts';
import type { SourceSlice } from '../desired/source.ts';

export type AccountsOptions = {
  readonly remotes: Pick<ReadonlyMap<string, unknown>, 'has'>;
  /** The remotes that have a part in a key now. */
  readonly sharersOf: (key: string) => readonly string[];
};

/** What a write is for. */
type Cause = {
  readonly key: string;
  /** The cluster of the object; undefined if it is of several, or isn't known. */
  readonly cluster: string | undefined;
  /** What the slice is made of; undefined for other objects, and if the cluster doesn't have it any more. */
  readonly source: SourceSlice | undefined;
};

/** The remotes of a key: when all of it was written last, and since then; undefined if nothing was to be written since. */
type Sharers = { readonly before: ReadonlySet<string>; readonly since: ReadonlySet<string> | undefined };

/**
 * Whose budgets pay for writes. A remote pays for what it alone has, and for its slices of what it shares: once for each version
 * of them. All else that several remotes share, one of them changes for the others, so the budget of `global` pays: also for
 * what changes in their slices, such as the name of a port, and for what changes back when one leaves.
 */
export class Accounts {
  readonly #options: AccountsOptions;
  readonly #sharers = new Map<string, Sharers>();
  /** Each object is one version. */
  readonly #paid = new WeakSet<SourceSlice>();

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /** Runs a reconcile, which calls `charge` for each write. */
  async during(key: string, writes: Pick<KeyWrites, 'unwritten'>, reconcile: () => Promise<void>): Promise<void> {
    await reconcile();
    const since = this.#sharers.get(key)?.since;
    if (since === undefined || writes.unwritten.length > 0) return;
    if (since.size > 1) this.#sharers.set(key, { before: since, since: undefined });
    else this.#sharers.delete(key);
  }

  /**
   * Writes in the name of a remote, or of `global`; of undefined for none.
   *
   * @param write rejects if nothing was written
   */
  async charge<T>({ key, cluster, source }: Cause, write: (account: string | undefined) => Promise<T>): Promise<T> {
    const isOwn = cluster !== undefined && (source === undefined || !this.#paid.has(source));
    if (source !== undefined) this.#paid.add(source);
    try {
      return await write(isOwn ? this.#remote(cluster) : this.#shared(key));
    } catch (error) {
      if (isOwn && source !== undefined) this.#paid.delete(source);
      throw error;
    }
  }

  #remote(cluster: string): string | undefined {
    return this.#options.remotes.has(cluster) ? cluster : undefined;
  }

  #shared(key: string): string | undefined {
    const { before = [], since = [] } = this.#sharers.get(key) ?? {};
    const now = new Set([...since, ...this.#options.sharersOf(key)]);
    this.#sharers.set(key, { before: new Set(before), since: now });
    const all = new Set([...before, ...now]);
    return all.size > 1 ? GLOBAL : [...all][0];
  }
}

/** What a cluster had when a change was decided. */
export type SourceSlices = { readonly cluster: string; readonly slices: readonly SourceSlice[] };

/** The source of the slice that a change is of; undefined for other objects, and if its cluster doesn't have it any more. */
export function sourceOf(change: object, parts: readonly SourceSlices[]): SourceSlice | undefined {
  const { to, from } = change as { readonly [side in 'to' | 'from']?: Partial<DesiredSlice> };
  const [cluster, , name] = ((to ?? from)?.annotations?.[sourceAnnotation] ?? '').split('/');
  return parts.find((part) => part.cluster === cluster)?.slices.find((slice) => slice.name === name);
}
