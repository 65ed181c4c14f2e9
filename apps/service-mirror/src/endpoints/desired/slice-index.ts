/** One slice, by its own key: added (`previous` undefined), changed, or removed (`current` undefined). */
type Change<S> = { readonly key: string; readonly previous: S | undefined; readonly current: S | undefined };

/** Slices by the Service that they belong to. */
export class SliceIndex<S> {
  readonly #serviceOf: (slice: S) => string;
  readonly #byService = new Map<string, Map<string, S>>();
  /** What `slices` returned, until that changes. */
  readonly #lists = new Map<string, readonly S[]>();

  constructor(serviceOf: (slice: S) => string) {
    this.#serviceOf = serviceOf;
  }

  /** All Services that have a slice. */
  services(): Iterable<string> {
    return this.#byService.keys();
  }

  /** The slices of a Service, in no order: the same list while they are the same. */
  slices(service: string): readonly S[] {
    const slices = this.#byService.get(service);
    if (slices === undefined) return NO_SLICES;
    const list = this.#lists.get(service) ?? [...slices.values()];
    this.#lists.set(service, list);
    return list;
  }

  /** Follows a change. @returns the Services that the slice belonged to and belongs to now */
  move({ key, previous, current }: Change<S>): ReadonlySet<string> {
    const moved = new Set<string>();
    if (previous !== undefined) {
      const service = this.#serviceOf(previous);
      const slices = this.#byService.get(service);
      slices?.delete(key);
      if (slices?.size === 0) this.#byService.delete(service);
      moved.add(service);
    }
    if (current !== undefined) {
      const service = this.#serviceOf(current);
      this.#byService.set(service, (this.#byService.get(service) ?? new Map<string, S>()).set(key, current));
      moved.add(service);
    }
    for (const service of moved) this.#lists.delete(service);
    return moved;
  }
}

const NO_SLICES: readonly never[] = [];
