/** When a list is too bad to be believed at once. */
export type DeletionGuard = {
  /** A list may take away this share of what there was, 0 to 100; 100 believes every list. */
  readonly percent: number;
  /** However large a share it is, so many objects are never held. */
  readonly min: number;
};

/**
 * Whether a list that lacks `missing` of `known` objects is held. A remote that loses most of what it had in one list
 * has more often lost its memory (an etcd restored, a cache not warm yet, a wrong cluster behind a load balancer) than
 * its workloads.
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
  /** What only one object can have at a time: its addresses, CIDRs or keys. */
  readonly claims: (value: V) => readonly string[];
  /** A held object after another has shown up with one of its claims; undefined when nothing of it is left. */
  readonly withoutClaim: (value: V, claim: string) => V | undefined;
};

/** Which objects are held, by key and by what they claim. */
export class HeldObjects<V> {
  readonly #claimsOf: (value: V) => readonly string[];
  readonly #claimed = new Map<string, readonly string[]>();
  readonly #byClaim = new Map<string, Set<string>>();

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
      const keys = this.#byClaim.get(claim) ?? new Set<string>();
      this.#byClaim.set(claim, keys.add(key));
    }
  }

  release(key: string): void {
    for (const claim of this.#claimed.get(key) ?? []) {
      const keys = this.#byClaim.get(claim);
      keys?.delete(key);
      if (keys?.size === 0) this.#byClaim.delete(claim);
    }
    this.#claimed.delete(key);
  }

  /** Which held objects claim something that `value` has, each with what it is. */
  rivals(value: V): readonly { readonly key: string; readonly claim: string }[] {
    return this.#claimsOf(value).flatMap((claim) =>
      Array.from(this.#byClaim.get(claim) ?? [], (key) => ({ key, claim })),
    );
  }
}
