/** When the deletions that a list suggests are held. */
export type DeletionGuard = {
  /** A list may be missing this share of the known objects, 0 to 100; 100 believes every list. */
  readonly percent: number;
  /** A list may always be missing this many objects, whatever their share. */
  readonly min: number;
};

/**
 * Whether the deletions of a list that is missing `missing` of `known` objects are held. If most objects are missing, the
 * list is more often wrong than the workloads are gone: a restored etcd, a cold cache, or another cluster behind a load
 * balancer.
 */
export function isHeld(
  { missing, known }: { missing: number; known: number },
  { percent, min }: DeletionGuard,
): boolean {
  return percent < 100 && missing > min && missing * 100 > known * percent;
}

/** How the objects of a store are held. */
export type Holding<V> = {
  readonly guard: DeletionGuard;
  /** The object, marked as held. */
  readonly hold: (value: V) => V;
  /** What only one object can have at a time: addresses, CIDRs or keys. */
  readonly claims: (value: V) => readonly string[];
  /** A held object after another object appeared with one of its claims; undefined when no claim is left. */
  readonly withoutClaim: (value: V, claim: string) => V | undefined;
};

/** The held objects, by key and by claim. */
export class HeldObjects<V> {
  readonly #claimsOf: (value: V) => readonly string[];
  readonly #claimed = new Map<string, readonly string[]>();
  /** Nearly all claims have one key, and a set of one takes 200 bytes: the Services of a remote may have half a million. */
  readonly #byClaim = new Map<string, string | Set<string>>();

  constructor(claimsOf: (value: V) => readonly string[]) {
    this.#claimsOf = claimsOf;
  }

  get size(): number {
    return this.#claimed.size;
  }

  has(key: string): boolean {
    return this.#claimed.has(key);
  }

  add(key: string, value: V): void {
    this.release(key);
    const claims = this.#claimsOf(value);
    this.#claimed.set(key, claims);
    for (const claim of claims) {
      const keys = this.#byClaim.get(claim);
      if (keys === undefined) this.#byClaim.set(claim, key);
      else if (typeof keys !== 'string') keys.add(key);
      else if (keys !== key) this.#byClaim.set(claim, new Set([keys, key]));
    }
  }

  release(key: string): void {
    for (const claim of this.#claimed.get(key) ?? []) {
      const keys = this.#byClaim.get(claim);
      const isLast = typeof keys === 'string' ? keys === key : keys?.delete(key) === true && keys.size === 0;
      if (isLast) this.#byClaim.delete(claim);
    }
    this.#claimed.delete(key);
  }

  /** The held objects that share a claim with `value`, one entry for each shared claim. */
  rivals(value: V): readonly { readonly key: string; readonly claim: string }[] {
    return this.#claimsOf(value).flatMap((claim) => {
      const keys = this.#byClaim.get(claim) ?? [];
      return Array.from(typeof keys === 'string' ? [keys] : keys, (key) => ({ key, claim }));
    });
  }
}
