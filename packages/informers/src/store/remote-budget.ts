/** How much all stores of one remote may keep together. */
export type BudgetLimits = { readonly objects: number; readonly bytes: number };

const BUDGETS = ['objects', 'bytes'] as const;

/** A remote has more than its budget: its watches stop, and the known objects stay. */
export class OverBudgetError extends Error {
  readonly code = 'KUBE_OVER_BUDGET';
  override readonly name = 'OverBudgetError';
  /** Which limit the remote exceeds. */
  readonly budget: keyof BudgetLimits;

  constructor(budget: keyof BudgetLimits, limit: number) {
    super(`the remote has more than its budget of ${limit} ${budget}`);
    this.budget = budget;
  }
}

/** A store counts what it keeps. */
type Sized = { readonly size: number; readonly bytes: number };

/** One reflector's share of a budget. */
export class BudgetShare {
  readonly #budget: RemoteBudget;
  readonly #store: Sized;
  #listed: { objects: number; bytes: number } | undefined;

  constructor(budget: RemoteBudget, store: Sized) {
    this.#budget = budget;
    this.#store = store;
  }

  /** A list begins. Until it ends, only what it brings counts: it may delete the rest of the store. */
  beginList(): void {
    this.#listed = { objects: 0, bytes: 0 };
  }

  /** The list is complete, or failed: what is in the store counts again. */
  endList(): void {
    this.#listed = undefined;
  }

  /** The reflector stops: what it brought no longer counts. */
  release(): void {
    this.#budget.drop(this);
  }

  /** What counts against the limits now. */
  used(budget: keyof BudgetLimits): number {
    return this.#listed?.[budget] ?? this.kept(budget);
  }

  kept(budget: keyof BudgetLimits): number {
    return budget === 'objects' ? this.#store.size : this.#store.bytes;
  }

  /** Call it before an object of this size is put into the store. @throws OverBudgetError if the budget is used up */
  admit(bytes: number): void {
    this.#budget.check();
    if (this.#listed === undefined) return;
    this.#listed.objects++;
    this.#listed.bytes += bytes;
  }
}

/**
 * Limits what the stores of one remote keep together, so that a remote that grows without limit doesn't end the process
 * of all. At most one object exceeds it.
 *
 * A list counts separately: it may end with less than the store had before. Until then both are in memory, so
 * together they may take twice the budget.
 */
export class RemoteBudget {
  readonly #limits: BudgetLimits;
  readonly #shares: BudgetShare[] = [];

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** A share for one more store of the remote. */
  share(store: Sized): BudgetShare {
    const share = new BudgetShare(this, store);
    this.#shares.push(share);
    return share;
  }

  drop(share: BudgetShare): void {
    this.#shares.splice(this.#shares.indexOf(share), 1);
  }

  /** @throws OverBudgetError if the budget is used up */
  check(): void {
    for (const budget of BUDGETS) {
      const limit = this.#limits[budget];
      let used = 0;
      let kept = 0;
      for (const share of this.#shares) {
        used += share.used(budget);
        kept += share.kept(budget);
      }
      if (used >= limit || kept >= 2 * limit) throw new OverBudgetError(budget, limit);
    }
  }
}
