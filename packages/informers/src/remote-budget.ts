/** What may be kept of one remote, over all of its stores. */
export type BudgetLimits = { readonly objects: number; readonly bytes: number };

/** A remote has more than its budget: its watches stop, and what is known of it stays. */
export class OverBudgetError extends Error {
  readonly code = 'KUBE_OVER_BUDGET';
  override readonly name = 'OverBudgetError';
  /** What there is too much of. */
  readonly budget: keyof BudgetLimits;

  constructor(budget: keyof BudgetLimits, limit: number) {
    super(`the remote has more than ${limit} ${budget} for us to keep`);
    this.budget = budget;
  }
}

/** Anything that counts what it keeps: a store. */
type Keeper = { readonly size: number; readonly bytes: number };

/** One reflector's part of a budget. */
export class BudgetShare {
  readonly #budget: RemoteBudget;
  readonly #store: Keeper;
  #listed: { objects: number; bytes: number } | undefined;

  constructor(budget: RemoteBudget, store: Keeper) {
    this.#budget = budget;
    this.#store = store;
  }

  /** A list begins: until it ends, what it brings counts, and not what the store has besides, which it may take away. */
  beginList(): void {
    this.#listed = { objects: 0, bytes: 0 };
  }

  /** The list is complete, or broke off: what is in the store counts again. */
  endList(): void {
    this.#listed = undefined;
  }

  /** The watch has ended: what it brought counts no more. */
  release(): void {
    this.#budget.drop(this);
  }

  /** What counts against the limits now. */
  get used(): BudgetLimits {
    return this.#listed ?? this.kept;
  }

  get kept(): BudgetLimits {
    return { objects: this.#store.size, bytes: this.#store.bytes };
  }

  /** Before an object of so many bytes is put into the store. @throws OverBudgetError when there is no room left */
  admit(bytes: number): void {
    this.#budget.check();
    if (this.#listed === undefined) return;
    this.#listed.objects++;
    this.#listed.bytes += bytes;
  }
}

/**
 * What the stores of one remote may keep together, so that a remote that grows without bound costs no other remote its
 * process. It is exceeded by one object at most.
 *
 * A list counts by itself, for it may end with less than the store had before; but then both are in memory, so
 * together they may be no more than twice the budget.
 */
export class RemoteBudget {
  readonly #limits: BudgetLimits;
  readonly #shares: BudgetShare[] = [];

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** For one more store of the remote. */
  share(store: Keeper): BudgetShare {
    const share = new BudgetShare(this, store);
    this.#shares.push(share);
    return share;
  }

  drop(share: BudgetShare): void {
    this.#shares.splice(this.#shares.indexOf(share), 1);
  }

  /** @throws OverBudgetError when there is no room left */
  check(): void {
    for (const budget of ['objects', 'bytes'] as const) {
      const limit = this.#limits[budget];
      let [used, kept] = [0, 0];
      for (const share of this.#shares) {
        used += share.used[budget];
        kept += share.kept[budget];
      }
      if (used >= limit || kept >= 2 * limit) throw new OverBudgetError(budget, limit);
    }
  }
}
