import { compareText } from '@kube-semaphore/naming';

/** When a Pod began, and when it should be gone. */
export type Lifetime = {
  /** In seconds since 1970, as a small integer takes no memory of its own. */
  readonly created: number;
  /** Missing unless it is being deleted: then when that, with its grace period, should be done. */
  readonly deletionMs?: number;
};

/** A Pod that has an address, by its status. */
export type Holder = Lifetime & {
  /** `namespace/name`. */
  readonly pod: string;
};

/** @param metadata of a Pod */
export function lifetimeOf(metadata: {
  readonly creationTimestamp: number;
  readonly deletionTimestamp: number;
}): Lifetime {
  const created = Math.floor(metadata.creationTimestamp / 1000);
  return metadata.deletionTimestamp === 0 ? { created } : { created, deletionMs: metadata.deletionTimestamp };
}

/**
 * The order of Pods that have one address by their status: the first one has it now. A Pod that is being deleted may have
 * given it back, and an older one had it before a newer one.
 */
export function compareHolders(a: Holder, b: Holder): number {
  const isGoing = ({ deletionMs }: Holder): number => Number(deletionMs !== undefined);
  return isGoing(a) - isGoing(b) || b.created - a.created || compareText(a.pod, b.pod);
}

/** The Pods with one address, and the first of them; undefined until somebody asks. */
type Entry = { readonly holders: Map<string, Holder>; owner: Holder | undefined };

/**
 * Which Pods of a cluster have an address: those that were added to it. A remote may say that all of its Pods have one
 * address, so the owner is only looked for when it may be another one.
 */
export class AddressIndex {
  readonly #entries = new Map<string, Entry>();

  /** Another version of a Pod replaces the one before. */
  add(address: string, holder: Holder): void {
    const entry = this.#entries.get(address);
    if (entry === undefined) {
      this.#entries.set(address, { holders: new Map([[holder.pod, holder]]), owner: holder });
      return;
    }
    entry.holders.set(holder.pod, holder);
    if (entry.owner?.pod === holder.pod) entry.owner = undefined;
    else if (entry.owner !== undefined && compareHolders(holder, entry.owner) < 0) entry.owner = holder;
  }

  /** @param pod `namespace/name` */
  remove(address: string, pod: string): void {
    const entry = this.#entries.get(address);
    if (entry === undefined) return;
    entry.holders.delete(pod);
    if (entry.owner?.pod === pod) entry.owner = undefined;
    if (entry.holders.size === 0) this.#entries.delete(address);
  }

  has(address: string): boolean {
    return this.#entries.has(address);
  }

  /** Who has it now: the first in the order of `compareHolders`. */
  ownerOf(address: string): Holder | undefined {
    const entry = this.#entries.get(address);
    if (entry === undefined) return undefined;
    if (entry.owner === undefined)
      for (const each of entry.holders.values())
        if (entry.owner === undefined || compareHolders(each, entry.owner) < 0) entry.owner = each;
    return entry.owner;
  }
}
